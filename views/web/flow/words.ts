import { LEVELS, levelRank } from '../../../shared/contract/levels.ts'
import type { DrawnMark } from '../../flow-layout/drawing.ts'
import { epochMs, type FlowLog, lineOf } from '../../flow-layout/flow-log.ts'
import { cut, plural } from '../../flow-layout/format.ts'
import { clockText, durationText } from '../../flow-layout/times.ts'
import type { ParsedException } from '../../schemas/answers.ts'

/** A signed duration, `+2 m 3 s`, with three units, so that logs hours after the start differ by the second. */
export const plusText = (ms: number): string => (ms < 0 ? '' : '+') + durationText(ms, 3)

/** A log in words: `14:03:22.114, Order placed > Charge, error, +2 m 3 s: card refused`. */
export const logWords = ({ entry, at, where, rank, sinceStart }: FlowLog, utc: boolean): string =>
  `${clockText(at, utc)}, ${where.join(' > ')}, ${LEVELS[rank]?.toLowerCase()}, ${plusText(sinceStart)}: ${lineOf(entry)}`

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

/**
 * A failure in short: `PaymentFailedException: insufficient_funds` and `CaptureHandler.cs:87`, or the log's own text, and its Step or category
 * where no frame is known.
 */
export function failureText(
  { entry, where }: Pick<FlowLog, 'entry' | 'where'>,
  parts: readonly ParsedException[],
): { readonly what: string; readonly where: string } {
  const { type = '', message = '' } = parts[0] ?? {}
  const said = [type.slice(type.lastIndexOf('.') + 1), message.split('\n', 1)[0]].filter(Boolean).join(': ')
  const { text, more } = cut(said || lineOf(entry), FAILURE_MAX)
  // The frame may belong to an inner exception.
  const own = parts.flatMap(({ frames }) => frames).find(({ firstOwn }) => firstOwn)
  const frame = own && (own.place || own.call)
  return {
    what: more > 0 ? `${text}…` : text,
    where: frame?.slice(Math.max(frame.lastIndexOf('/'), frame.lastIndexOf('\\')) + 1) ?? where.at(-1) ?? '',
  }
}
