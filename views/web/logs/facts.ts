import type { EntryKind } from '../../../shared/contract/records.ts'
import { printTerm } from '../../../shared/query/term.ts'
import { shortCategory } from '../../flow-layout/format.ts'
import type { Entry, Frame } from '../../schemas/answers.ts'

/** The page of a kind of entries, and its path segment in the API. */
export const folderOf = (kind: EntryKind): 'event-logs' | 'application-logs' => `${kind}-logs`

/** The main text of an entry. */
export const messageOf = (entry: Entry): string => (entry.kind === 'event' ? entry.payload : entry.message)

interface Source {
  /** Short form for rows. */
  readonly name: string
  readonly full: string
  /** The search that finds its entries. */
  readonly term: string
}

/** The source of an entry: its Step or Event, or its category. */
export function sourceOf(entry: Entry): Source {
  if (entry.kind === 'application') {
    const { categoryName } = entry
    return {
      name: shortCategory(categoryName),
      full: categoryName,
      term: printTerm({ field: 'category', value: categoryName }),
    }
  }
  const { step, event } = entry
  const identifier = step?.identifier ?? event?.identifier ?? ''
  const names = [event?.name ?? event?.identifier, step?.name ?? step?.identifier].filter((name) => name !== undefined)
  return {
    name: names.at(-1) ?? '',
    full: `${names.join(' › ')} (${identifier})`,
    term: printTerm({ field: step === null ? 'event' : 'step', value: identifier }),
  }
}

/** The name of an application log's Project; empty for an event log. */
export const projectOf = (entry: Entry): string =>
  entry.kind === 'event' ? '' : (entry.project.name ?? entry.project.id)

/** The tag before an application log's message, such as `1001 OrderPlaced`; an eventId of 0 means none. */
export function eventTag(entry: Entry): string {
  if (entry.kind === 'event') return ''
  return [entry.eventId === 0 ? '' : String(entry.eventId), entry.eventName].filter((part) => part !== '').join(' ')
}

/**
 * The line of an exception that says what was thrown, its type without the namespace: `PSQLException: deadlock detected`; empty if there is
 * none. That is the first line, but the last of a traceback of Python.
 */
export function thrownText(exception: string | null): string {
  const lines = (exception ?? '').split('\n')
  const [first = ''] = lines
  const last = first.startsWith('Traceback (') ? lines.findLast((line) => /^[\w.]+(: |$)/.test(line)) : undefined
  return (last ?? first).slice(0, THROWN_MAX).replace(/^[\w$.]*\.(?=[A-Z][\w$+]*(?::|$))/, '')
}

const THROWN_MAX = 400

/** A hue from 0 to 359, the same for equal keys. */
export function hueOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  // Mixed once more, because keys that differ only in their last digit hardly differ in the low bits.
  return (Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> 8) % 360
}

/** Consecutive frames of one kind. */
export interface FrameRun {
  readonly framework: boolean
  readonly frames: readonly Frame[]
}

/** Groups the frames into runs, so that those of frameworks can be folded. */
export function frameRuns(frames: readonly Frame[]): readonly FrameRun[] {
  const runs: { framework: boolean; frames: Frame[] }[] = []
  for (const one of frames) {
    const last = runs.at(-1)
    if (last?.framework === one.framework) last.frames.push(one)
    else runs.push({ framework: one.framework, frames: [one] })
  }
  return runs
}
