import { type Tick, ticksOf as ticksAt } from '../../flow-layout/ticks.ts'
import { iso } from '../lib/times.ts'
import type { AddressParams } from './filters.ts'

/** Consecutive spans of equal width, as drawn from left to right by a histogram or chart. */
export interface Spans {
  readonly starts: readonly string[]
  /** Their width in milliseconds. */
  readonly interval: number
  /** The range that was counted, `to` up to the present without an end: the spans at its ends may reach beyond it. */
  readonly counted?: AddressParams
}

/** The span at a fraction of the drawing's width, from 0 to 1. */
export const spanAt = ({ starts }: Spans, part: number): number =>
  Math.max(0, Math.min(starts.length - 1, Math.floor(part * starts.length)))

/** The range of two spans and all between them, in either order, as `from` (inclusive) and `to` (exclusive). */
export function rangeOf(
  { starts, interval }: Spans,
  one: number,
  other: number,
): { readonly from: string; readonly to: string } | undefined {
  const first = starts[Math.min(one, other)]
  const last = starts[Math.max(one, other)]
  if (first === undefined || last === undefined) return undefined
  return { from: first, to: iso(Date.parse(last) + interval) }
}

/**
 * The reason why the numbers of two spans and all between them are not those of their whole time; undefined if they are. `now` is in
 * milliseconds since 1970.
 */
export function partText(
  { starts, interval, counted: { from = '', to = '' } = {} }: Spans,
  one: number,
  other: number,
  now: number,
): string | undefined {
  const end = Date.parse(starts[Math.max(one, other)] ?? '') + interval
  if (end > now) return 'not over yet'
  const isCut = end > Date.parse(to) || Date.parse(starts[Math.min(one, other)] ?? '') < Date.parse(from)
  return isCut ? 'in part' : undefined
}

/** The length of a range in milliseconds; undefined if an end is open or cannot be read. */
export function lengthOf({ from = '', to = '' }: AddressParams): number | undefined {
  const length = Date.parse(to) - Date.parse(from)
  return length > 0 ? length : undefined
}

/** The times below a drawing of this width in pixels. */
export function ticksOf({ starts, interval }: Spans, width: number, utc: boolean): readonly Tick[] {
  const [from, last] = [starts[0], starts.at(-1)].map((start = '') => Date.parse(start)) as [number, number]
  const to = last + interval
  const segments = [{ from, to, folded: false, x0: 0, x1: width, left: 0, right: width }]
  return ticksAt({ width, segments, project: (at) => (width * (at - from)) / (to - from) }, utc)
}
