import type { Entry, EntryKind } from '../api/types.ts'
import { shortCategory } from './categories.ts'
import type { Term } from './terms.ts'

/** The page of a kind of entries, and its folder in the API. */
export const folderOf = (kind: EntryKind): 'event-logs' | 'application-logs' => `${kind}-logs`

/** The text that an entry is read by. */
export const messageOf = (entry: Entry): string => (entry.kind === 'event' ? entry.payload : entry.message)

export interface Source {
  /** Short, for a row. */
  readonly name: string
  readonly full: string
  /** What finds its entries. */
  readonly term: Term
}

/** Where an entry comes from: its Step or Event, or its category. */
export function sourceOf(entry: Entry): Source {
  if (entry.kind === 'application') {
    const { categoryName } = entry
    return { name: shortCategory(categoryName), full: categoryName, term: { field: 'category', value: categoryName } }
  }
  const { step, event } = entry
  const identifier = step?.identifier ?? event?.identifier ?? ''
  const names = [event?.name ?? event?.identifier, step?.name ?? step?.identifier].filter((name) => name !== undefined)
  return {
    name: names.at(-1) ?? '',
    full: `${names.join(' › ')} (${identifier})`,
    term: { field: step === null ? 'event' : 'step', value: identifier },
  }
}

/** A named value of an entry. */
export interface Fact {
  readonly name: string
  readonly text: string
  /** What finds the entries that share it; absent where that says nothing. */
  readonly term?: Term
}

/** The fields of an entry that it has whatever its payload and scopes hold. */
export function factsOf(entry: Entry): readonly Fact[] {
  const { level, environment, correlationKey } = entry
  const facts: (Fact | undefined)[] = [
    fact('level', level),
    fact('environment', environment),
    correlationKey === null ? undefined : fact('correlationKey', correlationKey),
    ...(entry.kind === 'event'
      ? [ref('event', entry.event), ref('step', entry.step)]
      : [
          ref('project', { identifier: entry.project.id, name: entry.project.name }),
          fact('category', entry.categoryName),
          entry.eventId === 0 ? undefined : fact('eventId', String(entry.eventId)),
          entry.eventName === '' ? undefined : fact('eventName', entry.eventName),
          entry.originalLevel === undefined ? undefined : { name: 'originalLevel', text: entry.originalLevel },
        ]),
    { name: 'timestamp', text: entry.timestamp },
    { name: 'receivedAt', text: entry.receivedAt },
    fact('id', entry.id),
  ]
  return facts.filter((one) => one !== undefined)
}

const fact = (name: string, text: string): Fact =>
  text === '' ? { name, text } : { name, text, term: { field: name, value: text } }

const ref = (
  name: string,
  of: { readonly identifier: string; readonly name: string | null } | null,
): Fact | undefined =>
  of === null
    ? undefined
    : {
        name,
        text: of.name === null || of.name === of.identifier ? of.identifier : `${of.name} (${of.identifier})`,
        term: { field: name, value: of.identifier },
      }

/** `[1001 OrderPlaced]` before the message of an application log; 0 stands for no number. */
export function eventTag(entry: Entry): string {
  if (entry.kind === 'event') return ''
  return [entry.eventId === 0 ? '' : String(entry.eventId), entry.eventName].filter((part) => part !== '').join(' ')
}

/** A hue from 0 to 359 that equal keys share. */
export function hueOf(key: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  // Keys that differ in their last digit only are spread by another round; the low bits hardly are.
  return (Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> 8) % 360
}
