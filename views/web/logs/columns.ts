import type { EntryKind } from '../../../shared/contract/records.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { clockText } from '../../flow-layout/times.ts'
import type { Entry } from '../../schemas/answers.ts'
import { projectOf, sourceOf } from './facts.ts'

/** A column of a list, beside that of the time. */
export interface Column {
  /** The field as the search names it: `level`, `scope.tenant`. */
  readonly name: string
  readonly label: string
  /** The class of its cells, which says how wide it is; `value` of those that are there only where somebody chose them. */
  readonly look: 'lv' | 'env' | 'project' | 'from' | 'text' | 'key' | 'value'
  readonly read: (entry: Entry, utc: boolean) => string
}

/** Most columns: a list of 1,000 pixels has room for as many of any kind. */
export const COLUMNS_MAX = 10
/** Most values inside payloads or scopes, as the API gives them. */
const VALUES_MAX = 8

const column = (name: string, label: string, look: Column['look'], read: Column['read']): Column => ({
  ...{ name, label, look, read },
})

const level = column('level', 'Level', 'lv', (entry) => entry.level)
const environment = column('environment', 'Environment', 'env', (entry) => entry.environment)
const source = (name: string, label: string): Column => column(name, label, 'from', (entry) => sourceOf(entry).name)
const flow = column('correlationKey', 'Flow', 'key', (entry) => entry.correlationKey ?? '')
const others = [
  column('receivedAt', 'Received', 'value', (entry, utc) => clockText(entry.receivedAt, utc)),
  column('id', 'Id', 'value', (entry) => entry.id),
]

/** Of an application log; empty of others, which never have the column. */
const ofApplication =
  (read: (entry: Extract<Entry, { kind: 'application' }>) => string) =>
  (entry: Entry): string =>
    entry.kind === 'application' ? read(entry) : ''

/** The fields that every log of a kind has; those that are columns unless somebody chose others come first. */
const KNOWN: Readonly<Record<EntryKind, readonly Column[]>> = {
  event: [
    level,
    environment,
    source('step', 'Step'),
    column('payload', 'Payload', 'text', () => ''),
    flow,
    column('event', 'Event', 'value', (entry) =>
      entry.kind === 'event' && entry.event !== null ? nameOf(entry.event) : '',
    ),
    ...others,
  ],
  application: [
    level,
    environment,
    column('project', 'Project', 'project', projectOf),
    source('category', 'Category'),
    column('message', 'Message', 'text', () => ''),
    flow,
    column(
      'eventId',
      'Event id',
      'value',
      ofApplication(({ eventId }) => (eventId === 0 ? '' : String(eventId))),
    ),
    column(
      'eventName',
      'Event name',
      'value',
      ofApplication(({ eventName }) => eventName),
    ),
    column(
      'exception',
      'Exception',
      'value',
      ofApplication(({ exception }) => exception?.slice(0, 400).split('\n', 1)[0] ?? ''),
    ),
    ...others,
  ],
}
const USUAL: Readonly<Record<EntryKind, number>> = { event: 5, application: 6 }

export const knownColumns = (kind: EntryKind): readonly Column[] => KNOWN[kind]

/** The columns of a list that nobody has chosen; those of what is the same in every row are left out. */
export const usualColumns = (kind: EntryKind, same: readonly string[] = []): readonly Column[] =>
  KNOWN[kind].slice(0, USUAL[kind]).filter(({ name }) => !same.includes(name))

/** The beginning of the names of values that the logs of a kind hold. */
export const familyOf = (kind: EntryKind): string => (kind === 'event' ? 'payload.' : 'scope.')

const isValue = ({ name }: Column): boolean => name.includes('.')

/** The names of values that the API is to give with each row, in one order whatever that of the columns is. */
export const valueNames = (columns: readonly Column[]): string =>
  columns
    .filter(isValue)
    .map(({ name }) => name)
    .sort()
    .join(',')

/** The column of a field; undefined where the logs of the kind have none of that name, or none that an address could hold. */
export function columnOf(kind: EntryKind, name: string): Column | undefined {
  const family = familyOf(kind)
  if (!name.startsWith(family) || name === family || name.includes(','))
    return KNOWN[kind].find((one) => one.name === name)
  return column(name, name.slice(family.length), 'value', ({ fields }) => fields?.[name] ?? '')
}

/** The columns that a text of the address names, each once; undefined where it names none. */
export function parseColumns(kind: EntryKind, text: string | undefined): readonly Column[] | undefined {
  const columns = [...new Set(text?.split(','))].flatMap((name) => columnOf(kind, name) ?? [])
  return columns.length === 0 ? undefined : within(columns)
}

/** As many as there is room for. */
function within(columns: readonly Column[]): readonly Column[] {
  const over = columns.filter(isValue).slice(VALUES_MAX)
  return columns.filter((one) => !over.includes(one)).slice(0, COLUMNS_MAX)
}

export const hasRoom = (columns: readonly Column[], name: string): boolean =>
  columns.length < COLUMNS_MAX && (!name.includes('.') || columns.filter(isValue).length < VALUES_MAX)

/** The columns of the API's CSV file that say what these do, after the time. */
export const csvColumns = (columns: readonly Column[]): string =>
  ['timestamp', ...new Set(columns.flatMap(({ name }) => CSV_NAMES[name] ?? [name]))].join(',')

const CSV_NAMES: Readonly<Record<string, readonly string[]>> = {
  step: ['event.name', 'step.name'],
  event: ['event.name'],
  project: ['project.name'],
  category: ['categoryName'],
}

/** With one more, before the text, which takes all the room that is left; or without it, where it is there. */
export function toggled(columns: readonly Column[], added: Column): readonly Column[] {
  const without = columns.filter(({ name }) => name !== added.name)
  if (without.length < columns.length) return without
  const at = columns.findIndex(({ look }) => look === 'text')
  return columns.toSpliced(at === -1 ? columns.length : at, 0, added)
}

/** With one at the place of its neighbour, to the left (-1) or to the right (1), and the other way round. */
export function moved(columns: readonly Column[], name: string, step: 1 | -1): readonly Column[] {
  const at = columns.findIndex((one) => one.name === name)
  const one = columns[at]
  const place = at + step
  return one === undefined || place < 0 || place >= columns.length
    ? columns
    : columns.toSpliced(at, 1).toSpliced(place, 0, one)
}
