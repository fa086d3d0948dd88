import { isRelative, parseTime } from '../../../shared/query/time.ts'
import { timeText } from '../../flow-layout/times.ts'
import { SELECTING } from '../../schemas/list-parameters.ts'
import { pick } from '../lib/address.ts'
import { PRESETS } from '../lib/times.ts'

export type AddressParams = Readonly<Record<string, string | undefined>>

const DEFAULT_FROM = 'now-24h'
/** A range that includes everything: it begins with the earliest possible timestamp. */
export const ALL_TIME = '1970-01-01'
const EPOCH = parseTime(ALL_TIME, 0)

/** The chart in an address. */
export interface ChosenChart {
  readonly fn: string
  /** The name of a numeric value in the logs; undefined if logs are counted. */
  readonly value: string | undefined
  readonly by: string | undefined
  /** Set if the chart is compared with the time before. */
  readonly before: string | undefined
}

/** The chart in an address; undefined if there is none. */
export const chartOf = ({ chart, value, by, before }: AddressParams): ChosenChart | undefined =>
  chart === undefined ? undefined : { fn: chart, value, by, before }

/** The address's parameters of a chart. */
export const chartParams = (params: AddressParams): AddressParams => pick(params, ['chart', 'value', 'by', 'before'])

/** Removes the chart from an address. */
export const NO_CHART = chartParams({})

/** The preference for an environment. */
export const ENVIRONMENT = 'environment'

interface RangeText {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** The range in the address; undefined for an open end. */
export function rangeOf({ from, to }: AddressParams): RangeText {
  // Without a start, the API's histogram begins with the first log instead of half a century ago.
  if (from !== undefined && !isRelative(from) && parseTime(from, 0) === EPOCH) return { from: undefined, to }
  return { from: from ?? (to === undefined ? DEFAULT_FROM : undefined), to }
}

/** The parameters for the API: the filter, and the range in absolute times, so that all requests use the same range. */
export function filterOf(params: AddressParams, now: number): Readonly<Record<string, string | undefined>> {
  const { from, to } = rangeOf(params)
  return { ...selectionOf(params), from: from && absolute(from, now), to: to && absolute(to, now) }
}

/** The parameters that select logs, which are passed to the API unchanged. */
export const selectionOf = (params: AddressParams): AddressParams => pick(params, SELECTING)

/** An invalid time is passed on unchanged: the API reports what is wrong with it. */
const absolute = (text: string, now: number): string => parseTime(text, now) ?? text

/** The parameters of a permanent link: absolute times, and not live. */
export function frozenParams(params: AddressParams, now: number): AddressParams {
  const { from = ALL_TIME, to = 'now' } = rangeOf(params)
  return { ...params, live: undefined, from: from === ALL_TIME ? from : absolute(from, now), to: absolute(to, now) }
}

/** The label of the range's button; zero seconds are omitted, as is the end's day if the range begins on it. */
export function rangeLabel(params: AddressParams, utc: boolean): string {
  const { from, to } = rangeOf(params)
  if (from === undefined && to === undefined) return 'All time'
  const preset = to === undefined ? PRESETS.find((one) => one.from === from) : undefined
  if (preset !== undefined) return preset.label
  const text = (time: string): string => (/^now/i.test(time) ? time : timeText(time, utc).replace(/(:00)?\.000/, ''))
  if (to === undefined) return `Since ${text(from ?? '')}`.replace('Since now-', 'Last ')
  if (from === undefined) return `Until ${text(to)}`
  return spanText(text(from), text(to))
}

/** Two times as a span; the end's day is omitted if it is that of the begin. */
export const spanText = (from: string, to: string): string =>
  `${from} – ${to}`.replace(/^(\d{4}-\d\d-\d\d )(.* – )\1/, '$1$2')
