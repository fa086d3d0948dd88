import type { Params } from '../api/client.ts'

/** Several values in one parameter of the page's address. */
export const listOf = (text: string | undefined): ReadonlySet<string> =>
  new Set(
    (text ?? '')
      .split(',')
      .filter((part) => part !== '')
      .map(decode),
  )

/** The parameter of these values; undefined for none. */
export const listText = (values: Iterable<string>): string | undefined =>
  [...values].map((value) => encodeURIComponent(value.toWellFormed())).join(',') || undefined

/** The values with one added, or without it where it was there. */
export function toggled(values: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const next = new Set(values)
  if (!next.delete(value)) next.add(value)
  return next
}

/** Keys that no path can hold: clients take dots alone out of it, and an empty segment is none. */
const UNFIT = /^\.{0,2}$/

/** Where the API has a flow: its path, and the parameters that go with it. */
export function apiOf(correlationKey: string, below = ''): { readonly path: string; readonly params: Params } {
  const key = correlationKey.toWellFormed()
  const unfit = UNFIT.test(key)
  return {
    path: `/api/flows/${unfit ? '-' : encodeURIComponent(key)}${below}`,
    params: unfit ? { key } : {},
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
