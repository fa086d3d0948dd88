import type { DrawnMark } from '../../flow-layout/drawing.ts'
import type { FlowLog } from '../../flow-layout/flow-log.ts'
import { plural } from '../lib/format.ts'
import { LEVELS } from '../lib/levels.ts'
import { clockText, durationText } from '../lib/times.ts'

/** A distance with its sign, `+2 m 3 s`; to the second within a day, so that logs hours after the start can be told apart. */
export const plusText = (ms: number): string => (ms < 0 ? '' : '+') + durationText(ms, 3)

/** A log in words: `14:03:22.114, Order placed > Charge, error, +2 m 3 s: card refused`. */
export const logWords = ({ at, where, rank, sinceStart, text }: FlowLog, utc: boolean): string =>
  `${clockText(at, utc)}, ${where.join(' > ')}, ${LEVELS[rank]?.toLowerCase()}, ${plusText(sinceStart)}: ${text}`

/** A mark in words: its log, or how many and which ones it stands for. */
export function markWords({ logs, rank, row }: DrawnMark, utc: boolean): string {
  const [first, last] = [logs[0] as FlowLog, logs.at(-1) as FlowLog]
  if (first === last) return logWords(first, utc)
  const times = `${clockText(first.at, utc)} to ${clockText(last.at, utc)}`
  return `${plural(logs.length, 'log')}, ${row.label}, ${times}, at worst ${LEVELS[rank]?.toLowerCase()}`
}
