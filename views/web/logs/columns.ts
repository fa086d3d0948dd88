import type { EntryKind } from '../../../shared/contract/records.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { clockText } from '../../flow-layout/times.ts'
import type { Entry } from '../../schemas/answers.ts'
import { projectOf, sourceOf, thrownText } from './facts.ts'

/** A column of a list, in addition to the time. */
export interface Column {
  /** The field's name in searches: `level`, `scope.tenant`. */
  readonly name: string
  readonly label: string
  /** The CSS class of its cells, which sets their width; `value` for columns that are only shown when chosen. */
  readonly look: 'lv' | 'env' | 'project' | 'from' | 'text' | 'key' | 'value'
  readonly read: (entry: Entry, utc: boolean) => string
}

/** Maximum number of columns: as many of any kind as fit into a list of 1,000 pixels. */
export const COLUMNS_MAX = 10
/** Maximum number of values inside payloads or scopes, as limited by the API. */
const VALUES_MAX = 8

const column = (name: string, label: string, look: Column['look'], read: Column['read']): Column => {
  return { name, label, look, read }
}

const level = column('level', 'Level', 'lv', (entry) => entry.level)
const environment = column('environment', 'Environment', 'env', (entry) => entry.environment)
const source = (name: string, label: string): Column => column(name, label, 'from', (entry) => sourceOf(entry).name)
const flow = column('correlationKey', 'Flow', 'key', (entry) => entry.correlationKey ?? '')
const others = [
  column('receivedAt', 'Received', 'value', (entry, utc) => clockText(entry.receivedAt, utc)),
  column('id', 'Id', 'value', (entry) => entry.id),
]

/** Reads a field of application logs; empty for event logs, which never have such a column. */
const ofApplication =
  (read: (entry: Extract<Entry, { kind: 'application' }>) => string) =>
  (entry: Entry): string =>
    entry.kind === 'application' ? read(entry) : ''

/** The fields that every log of a kind has, beginning with the default columns. */
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
      ofApplication(({ exception }) => thrownText(exception)),
    ),
    ...others,
  ],
}
const USUAL: Readonly<Record<EntryKind, number>> = { event: 5, application: 6 }

export const knownColumns = (kind: EntryKind): readonly Column[] => KNOWN[kind]

/** The default columns of a list; columns with the same value in every row are omitted. */
export const usualColumns = (kind: EntryKind, same: readonly string[] = []): readonly Column[] =>
  KNOWN[kind].slice(0, USUAL[kind]).filter(({ name }) => !same.includes(name))

/** The prefix of the names of values inside the logs of a kind. */
export const familyOf = (kind: EntryKind): string => (kind === 'event' ? 'payload.' : 'scope.')

const isValue = ({ name }: Column): boolean => name.includes('.')

/** The names of values that the API should return with each row, sorted, so that reordering columns does not change them. */
export const valueNames = (columns: readonly Column[]): string =>
  columns
    .filter(isValue)
    .map(({ name }) => name)
    .sort()
    .join(',')

/** The column of a field; undefined if logs of the kind have no such field, or an address cannot hold its name. */
export function columnOf(kind: EntryKind, name: string): Column | undefined {
  const family = familyOf(kind)
  if (!name.startsWith(family) || name === family || name.includes(','))
    return KNOWN[kind].find((one) => one.name === name)
  return column(name, name.slice(family.length), 'value', ({ fields }) => fields?.[name] ?? '')
}

/** Parses the columns of an address, without duplicates; undefined if there are none. */
export function parseColumns(kind: EntryKind, text: string | undefined): readonly Column[] | undefined {
  const columns = [...new Set(text?.split(','))].flatMap((name) => columnOf(kind, name) ?? [])
  return columns.length === 0 ? undefined : within(columns)
}

/** Keeps as many as are allowed. */
function within(columns: readonly Column[]): readonly Column[] {
  const over = columns.filter(isValue).slice(VALUES_MAX)
  return columns.filter((one) => !over.includes(one)).slice(0, COLUMNS_MAX)
}

export const hasRoom = (columns: readonly Column[], name: string): boolean =>
  columns.length < COLUMNS_MAX && (!name.includes('.') || columns.filter(isValue).length < VALUES_MAX)

/** The columns of the API's CSV export that correspond to these, after the time. */
export const csvColumns = (columns: readonly Column[]): string =>
  ['timestamp', ...new Set(columns.flatMap(({ name }) => CSV_NAMES[name] ?? [name]))].join(',')

const CSV_NAMES: Readonly<Record<string, readonly string[]>> = {
  step: ['event.name', 'step.name'],
  event: ['event.name'],
  project: ['project.name'],
  category: ['categoryName'],
}

/** Adds a column before the text, which takes the remaining width; or removes it if present. */
export function toggled(columns: readonly Column[], added: Column): readonly Column[] {
  const without = columns.filter(({ name }) => name !== added.name)
  if (without.length < columns.length) return without
  const at = columns.findIndex(({ look }) => look === 'text')
  return columns.toSpliced(at === -1 ? columns.length : at, 0, added)
}

/** Swaps a column with its left (-1) or right (1) neighbour. */
export function moved(columns: readonly Column[], name: string, step: 1 | -1): readonly Column[] {
  const at = columns.findIndex((one) => one.name === name)
  const one = columns[at]
  const place = at + step
  return one === undefined || place < 0 || place >= columns.length
    ? columns
    : columns.toSpliced(at, 1).toSpliced(place, 0, one)
}
