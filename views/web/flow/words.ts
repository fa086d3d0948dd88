import { LEVELS } from '../../../shared/contract/levels.ts'
import type { DrawnMark } from '../../flow-layout/drawing.ts'
import type { FlowLog } from '../../flow-layout/flow-log.ts'
import { plural } from '../../flow-layout/format.ts'
import { clockText, durationText } from '../../flow-layout/times.ts'

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

/** Whether a log has every word and every "quoted phrase" of a text anywhere in what it shows, in any case. */
export function createMatcher(text: string): (log: FlowLog) => boolean {
  const parts = [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)].map(([word, phrase]) => phrase ?? word)
  return ({ entry }) => {
    // Line ends keep a phrase from matching across two fields.
    const shown = Object.values(entry)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join('\n')
      .toLowerCase()
    return parts.every((part) => shown.includes(part))
  }
}
