import type { Params } from '../api/client.ts'
import { decode, UNFIT } from '../lib/address.ts'

/** Several values in one parameter of the page's address. */
export const listOf = (text = ''): ReadonlySet<string> =>
  new Set(
    text
      .split(',')
      .filter((part) => part !== '')
      .map(decode),
  )

/** The parameter with a value toggled. */
export function toggled(text: string | undefined, value: string): string {
  const values = new Set(listOf(text))
  if (!values.delete(value)) values.add(value)
  return [...values].map((one) => encodeURIComponent(one.toWellFormed())).join()
}

/** The API path of a flow, and the parameters for keys that no path can hold. */
export function apiOf(correlationKey: string, below = ''): { readonly path: string; readonly params: Params } {
  const { segment, params } = segmentOf(correlationKey, 'key')
  return { path: `/api/flows/${segment}${below}`, params }
}

/** The same for the comparison of a flow with another. */
export function comparisonOf(correlationKey: string, otherKey: string): ReturnType<typeof apiOf> {
  const other = segmentOf(otherKey, 'other')
  const { path, params } = apiOf(correlationKey, `/compare/${other.segment}`)
  return { path, params: { ...params, ...other.params } }
}

function segmentOf(correlationKey: string, name: string): { readonly segment: string; readonly params: Params } {
  const key = correlationKey.toWellFormed()
  return UNFIT.test(key) || /^(?:statistics)?$/i.test(key)
    ? { segment: '-', params: { [name]: key } }
    : { segment: encodeURIComponent(key), params: {} }
}
