import type { Params } from '../api/client.ts'
import { decode } from '../lib/address.ts'

/** Several values in one parameter of the page's address. */
export const listOf = (text = ''): ReadonlySet<string> =>
  new Set(
    text
      .split(',')
      .filter((part) => part !== '')
      .map(decode),
  )

/** The parameter with a value added, or without it where it was there. */
export function toggled(text: string | undefined, value: string): string {
  const values = new Set(listOf(text))
  if (!values.delete(value)) values.add(value)
  return [...values].map((one) => encodeURIComponent(one.toWellFormed())).join()
}

/** The path of a flow in the API, and the parameters that go with it for keys that no path can hold. */
export function apiOf(correlationKey: string, below = ''): { readonly path: string; readonly params: Params } {
  const key = correlationKey.toWellFormed()
  return /^\.{0,2}$/.test(key)
    ? { path: `/api/flows/-${below}`, params: { key } }
    : { path: `/api/flows/${encodeURIComponent(key)}${below}`, params: {} }
}
