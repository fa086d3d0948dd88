import { parseGuid } from '../contract/guid.ts'
import { isSendableKey } from './keys.ts'
import { LIMIT_RANGES } from './limits.ts'
import type { TeamLimits } from './registry.ts'
import { ORDER_MAX, textProblem } from './rules.ts'
import { byLine, type FileProblem, NOT_UTF8, readYaml, type YamlValue } from './yaml-reader.ts'

/**
 * The content of a registry file. An undefined field was omitted and stays as it is in the registry; an undefined `team` is an error, which
 * is among the problems.
 */
export interface RegistryFile {
  readonly teams: readonly FileTeam[]
  readonly events: readonly FileEvent[]
  readonly steps: readonly FileStep[]
  readonly projects: readonly FileEvent[]
}

interface Placed {
  /** Its line in the file, from 1. */
  readonly line: number
}
export interface FileTeam extends Placed {
  readonly id: string
  readonly name: string | undefined
  readonly apiKeys: readonly FileKey[] | undefined
  /** The GUID of its Project for logs of unknown services; null for none. */
  readonly defaultProject: string | null | undefined
  /** Its quota; null for that of the settings. */
  readonly limits: TeamLimits | null | undefined
}
interface FileKey extends Placed {
  readonly key: string
}
/** An Event, or a Project. */
export interface FileEvent extends Placed {
  readonly id: string
  readonly team: string | undefined
  readonly name: string | undefined
  readonly archived: boolean | undefined
}
interface FileStep extends FileEvent {
  /** Null for a Step without an Event. */
  readonly event: string | null | undefined
  readonly order: number | undefined
}

const FILE_BYTES_MAX = 16 * 1024 * 1024

/** Team ids are used in record keys, paths and commands, so they are plain. */
const TEAM_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Reads a registry file and lists everything that is wrong with the file itself; planApply checks it against the registry. */
export function parseRegistryFile(text: string): {
  readonly file: RegistryFile
  readonly problems: readonly FileProblem[]
} {
  const unfit = problemOfText(text)
  const { root, problems: invalid } =
    unfit === undefined ? readYaml(text) : { root: undefined, problems: [{ line: null, message: unfit }] }
  const problems = [...invalid]
  const fail: Fail = (line, message) => {
    problems.push({ line, message })
    return undefined
  }
  const sections = root && readFields(root, 'the file', ['teams', 'events', 'steps', 'projects'], fail)
  const listOf = <Item>(name: string, read: (item: YamlValue, fail: Fail) => Item | undefined): Item[] =>
    ((sections && optional(sections, name, readList)) ?? []).flatMap((item) => read(item, fail) ?? [])
  const file = {
    teams: listOf('teams', readTeam),
    events: listOf('events', namedReader('an Event', 'identifier', readText)),
    steps: listOf('steps', readStep),
    projects: listOf('projects', namedReader('a Project', 'id', readGuid)),
  }
  failRepeats(file.teams, 'Team', fail)
  failRepeats([...file.events, ...file.steps], 'Event or Step', fail)
  failRepeats(file.projects, 'Project', fail)
  failRepeats(
    file.teams.flatMap(({ apiKeys = [] }) => apiKeys.map(({ key, line }) => ({ id: key, line }))),
    null,
    fail,
  )
  return { file, problems: problems.toSorted(byLine) }
}

/** The problem of a text that is not worth parsing; undefined for any other. */
function problemOfText(text: string): string | undefined {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) return 'the file has more than 16 MiB; files are merged, so split it'
  return text.includes('\0') ? NOT_UTF8 : undefined
}

/** Records a problem; returns undefined, so that an unreadable value is left out. */
type Fail = (line: number, message: string) => undefined

function readTeam(item: YamlValue, fail: Fail): FileTeam | undefined {
  const fields = readFields(item, 'a Team', ['id', 'name', 'apiKeys', 'defaultProject', 'limits'], fail)
  if (fields === undefined) return undefined
  const name = optional(fields, 'name', readText)
  const apiKeys = optional(fields, 'apiKeys', readKeys)
  const defaultProject = optional(fields, 'defaultProject', orNull(readGuid))
  const limits = optional(fields, 'limits', orNull(readLimits))
  const id = required(fields, 'id', readTeamId)
  return id === undefined ? undefined : { line: item.line, id, name, apiKeys, defaultProject, limits }
}

/** Null, as if no limits were given, if there is no field. */
function readLimits(item: YamlValue, name: string, fail: Fail): TeamLimits | null | undefined {
  const fields = readFields(item, name, [...Object.keys(LIMIT_RANGES), 'shadow'], fail)
  if (fields === undefined) return undefined
  const amount = (limit: keyof typeof LIMIT_RANGES): number | undefined =>
    optional(fields, limit, wholeFrom(LIMIT_RANGES[limit]))
  const limits = {
    entriesPerSecond: amount('entriesPerSecond'),
    bytesPerSecond: amount('bytesPerSecond'),
    burstSeconds: amount('burstSeconds'),
    shadow: optional(fields, 'shadow', readFlag),
  }
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}

/** Creates the reader of Events or Projects; `idField` holds the id. */
const namedReader =
  (what: string, idField: string, readId: Read<string>) =>
  (item: YamlValue, fail: Fail): FileEvent | undefined => {
    const fields = readFields(item, what, [idField, 'team', 'name', 'archived'], fail)
    return fields && readOwned(fields, idField, readId)
  }

function readStep(item: YamlValue, fail: Fail): FileStep | undefined {
  const fields = readFields(item, 'a Step', ['identifier', 'team', 'event', 'name', 'order', 'archived'], fail)
  if (fields === undefined) return undefined
  const event = optional(fields, 'event', orNull(readText))
  const order = optional(fields, 'order', wholeFrom({ minimum: 1, maximum: ORDER_MAX }))
  const owned = readOwned(fields, 'identifier', readText)
  return owned && { ...owned, event, order }
}

/** The fields that Events, Steps and Projects share. */
function readOwned(fields: Fields, idField: string, readId: Read<string>): FileEvent | undefined {
  const team = required(fields, 'team', readTeamId)
  const name = optional(fields, 'name', readText)
  const archived = optional(fields, 'archived', readFlag)
  const id = required(fields, idField, readId)
  return id === undefined ? undefined : { line: fields.line, id, team, name, archived }
}

/** The fields of a map, and where to report what is wrong with them. */
interface Fields {
  readonly line: number
  readonly byName: ReadonlyMap<string, YamlValue>
  readonly fail: Fail
}

/** Reads the value of the field `name`; undefined, with a problem, if it is invalid. */
type Read<Value> = (value: YamlValue, name: string, fail: Fail) => Value | undefined

/** The fields of a map; an unknown field is a problem, so that a typo is not ignored silently. */
function readFields(item: YamlValue, what: string, known: readonly string[], fail: Fail): Fields | undefined {
  if (item.value.type !== 'map') return fail(item.line, `${what} must be a map with the fields ${known.join(', ')}`)
  for (const { name, line } of item.value.fields) {
    if (!known.includes(name)) fail(line, `${what} has no field ${JSON.stringify(name)}; it has ${known.join(', ')}`)
  }
  const byName = new Map(item.value.fields.map(({ name, content }) => [name, content]))
  return { line: item.line, byName, fail }
}

function optional<Value>({ byName, fail }: Fields, name: string, read: Read<Value>): Value | undefined {
  const value = byName.get(name)
  return value && read(value, name, fail)
}

const required = <Value>(fields: Fields, name: string, read: Read<Value>): Value | undefined =>
  fields.byName.has(name) ? optional(fields, name, read) : fields.fail(fields.line, `${name} is missing`)

const orNull =
  <Value>(read: Read<Value>): Read<Value | null> =>
  (value, name, fail) =>
    isNull(value) ? null : read(value, name, fail)

/** The items of a section; null stands for none. */
function readList(section: YamlValue, name: string, fail: Fail): readonly YamlValue[] | undefined {
  if (isNull(section)) return []
  return section.value.type === 'list' ? section.value.items : fail(section.line, `${name} must be a list`)
}

function readText({ line, value }: YamlValue, name: string, fail: Fail): string | undefined {
  if (value.type !== 'scalar' || typeof value.scalar !== 'string') {
    return fail(line, `${name} must be text; put a number, true, false or null in quotes`)
  }
  const text = value.scalar
  if (text.includes('\ufffd')) return fail(line, `${name} was not decoded; save the file as UTF-8`)
  const problem = textProblem(text)
  return problem === undefined ? text : fail(line, `${name} ${problem}`)
}

function readGuid(value: YamlValue, name: string, fail: Fail): string | undefined {
  const text = readText(value, name, fail)
  const expected = `${name} must be a GUID, such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301`
  return text && (parseGuid(text) ?? fail(value.line, expected))
}

function readFlag({ line, value }: YamlValue, name: string, fail: Fail): boolean | undefined {
  if (value.type === 'scalar' && typeof value.scalar === 'boolean') return value.scalar
  return fail(line, `${name} must be true or false`)
}

function readTeamId(value: YamlValue, name: string, fail: Fail): string | undefined {
  const text = readText(value, name, fail)
  if (text === undefined || TEAM_ID.test(text)) return text
  return fail(
    value.line,
    `${name} must be a Team's id: 1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit`,
  )
}

const wholeFrom =
  ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): Read<number> =>
  ({ line, value }, name, fail) => {
    const number = value.type === 'scalar' ? value.scalar : undefined
    const fits = typeof number === 'number' && Number.isSafeInteger(number) && number >= minimum && number <= maximum
    return fits ? number : fail(line, `${name} must be a whole number from ${minimum} to ${maximum}`)
  }

function readKeys({ line, value }: YamlValue, name: string, fail: Fail): FileKey[] | undefined {
  if (value.type !== 'list') return fail(line, `${name} must be a list; [] stands for a Team with no key`)
  return value.items.flatMap((item) => {
    const key = item.value.type === 'scalar' ? item.value.scalar : undefined
    if (typeof key === 'string' && isSendableKey(key)) return { key, line: item.line }
    const expected = 'a key must be text of 1 to 256 visible ASCII characters without blanks; put a number in quotes'
    return fail(item.line, expected) ?? []
  })
}

const isNull = ({ value }: YamlValue): boolean => value.type === 'scalar' && value.scalar === null

/** Refuses duplicates in the file; a key (`what` is null) is not quoted. */
function failRepeats(items: readonly { id: string; line: number }[], what: string | null, fail: Fail): void {
  const first = new Map<string, number>()
  for (const { id, line } of items) {
    const before = first.get(id)
    const thing = what === null ? 'this key' : `the ${what} ${JSON.stringify(id)}`
    if (before === undefined) first.set(id, line)
    else fail(line, `${thing} is given twice, first on line ${before}`)
  }
}
