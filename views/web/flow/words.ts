import { LEVELS, levelRank } from '../../../shared/contract/levels.ts'
import type { DrawnMark } from '../../flow-layout/drawing.ts'
import { epochMs, type FlowLog } from '../../flow-layout/flow-log.ts'
import { plural } from '../../flow-layout/format.ts'
import { clockText, durationText } from '../../flow-layout/times.ts'
import type { ParsedException } from '../../schemas/answers.ts'

/** A signed duration, `+2 m 3 s`, with three units, so that logs hours after the start differ by the second. */
export const plusText = (ms: number): string => (ms < 0 ? '' : '+') + durationText(ms, 3)

/** A log in words: `14:03:22.114, Order placed > Charge, error, +2 m 3 s: card refused`. */
export const logWords = ({ at, where, rank, sinceStart, text }: FlowLog, utc: boolean): string =>
  `${clockText(at, utc)}, ${where.join(' > ')}, ${LEVELS[rank]?.toLowerCase()}, ${plusText(sinceStart)}: ${text}`

/** A mark in words: its log, or the number, row, times and worst level of its logs. */
export function markWords({ logs, rank, row }: DrawnMark, utc: boolean): string {
  const [first, last] = [logs[0] as FlowLog, logs.at(-1) as FlowLog]
  if (first === last) return logWords(first, utc)
  const times = `${clockText(first.at, utc)} to ${clockText(last.at, utc)}`
  return `${plural(logs.length, 'log')}, ${row.label}, ${times}, at worst ${LEVELS[rank]?.toLowerCase()}`
}

/** Returns whether a log contains every word and every "quoted phrase" of a text anywhere, ignoring case. */
export function createMatcher(text: string): (log: FlowLog) => boolean {
  const parts = [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)].map(([word, phrase]) => phrase ?? word)
  return ({ entry }) => {
    // Line breaks keep a phrase from matching across two fields.
    const shown = Object.values(entry)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join('\n')
      .toLowerCase()
    return parts.every((part) => shown.includes(part))
  }
}

/** The log that best explains why a flow failed: its last error written since `since` with an exception, or else its last error. */
export function failingLog(logs: readonly FlowLog[], since: number): FlowLog | undefined {
  const errors = logs.filter(({ entry, rank }) => rank >= levelRank('Error') && epochMs(entry.timestamp) >= since)
  return errors.findLast(({ entry }) => entry.kind === 'application' && entry.exception !== null) ?? errors.at(-1)
}

/** Maximum length of a failure's line. */
const FAILURE_MAX = 200

/** A failure in short: `PaymentFailedException: insufficient_funds` and `CaptureHandler.cs:87`, or the log's own text. */
export function failureText(
  { text }: Pick<FlowLog, 'text'>,
  parts: readonly ParsedException[],
): { readonly what: string; readonly where: string } {
  const [thrown] = parts
  if (thrown === undefined) return { what: text.slice(0, FAILURE_MAX), where: '' }
  const type = thrown.type.slice(thrown.type.lastIndexOf('.') + 1)
  const [message = ''] = thrown.message.split('\n', 1)
  // The frame may belong to an inner exception.
  const own = parts.flatMap(({ frames }) => frames).find(({ firstOwn }) => firstOwn)
  const where = own === undefined ? '' : own.place || own.call
  return {
    what:
      [type, message]
        .filter((part) => part !== '')
        .join(': ')
        .slice(0, FAILURE_MAX) || text.slice(0, FAILURE_MAX),
    where: where.slice(Math.max(where.lastIndexOf('/'), where.lastIndexOf('\\')) + 1),
  }
}
