import type { EntityRef, Entry } from '../api/types.ts'
import { LEVELS } from '../lib/levels.ts'
import { clockText, durationText } from '../lib/times.ts'
import type { DrawnMark } from './drawing.ts'
import type { FlowLog, TimeOrder } from './flow-log.ts'
import { shortCategory } from './lanes.ts'
import type { Relative } from './relative.ts'

/** The names of what an entry belongs to, from the outside in: Event and Step, or Project and category, whole or `short`. */
export function placeOf(entry: Entry, short = false): readonly string[] {
  if (entry.kind === 'application') {
    const { project, categoryName } = entry
    return [project.name ?? project.id, short ? shortCategory(categoryName) : categoryName]
  }
  return [entry.event, entry.step].filter((one) => one !== null).map(nameOf)
}

export const nameOf = ({ name, identifier }: EntityRef): string => name ?? identifier

/** A distance with its sign: `+2 m 3 s`. */
export const plusText = (ms: number): string => (ms < 0 ? '' : '+') + durationText(ms)

/** A log in words: `14:03:22.114, Order placed > Charge, error, +2 m 3 s: card refused`. */
export function logWords(log: FlowLog, relative: Relative | undefined, order: TimeOrder, utc: boolean): string {
  const { entry, text } = log
  const since = plusText(relative?.sinceStart ?? 0)
  return `${clockText(log[order], utc)}, ${placeOf(entry).join(' > ')}, ${entry.level.toLowerCase()}, ${since}: ${text}`
}

/** Several logs that are drawn as one, in words. */
export function clusterWords({ logs, rank, row }: DrawnMark, order: TimeOrder, utc: boolean): string {
  const [from, to] = [logs[0], logs.at(-1)].map((log) => clockText(log?.[order] ?? 0, utc))
  return `${logs.length} logs, ${row.label}, ${from} to ${to}, at worst ${LEVELS[rank]?.toLowerCase()}`
}
