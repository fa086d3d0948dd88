import { ProblemError } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { isJsonObject, pointerOf } from '../../shared/contract/json-object.ts'
import { SEARCH_PAGES } from '../../shared/registry/registry.ts'
import { isOrder, ORDER_EXPECTED, textProblem } from '../../shared/registry/rules.ts'
import { readParameters } from '../api/parameters.ts'
import { invalidFields, mustBeOneOf, mustBeWhole, type ParameterProblem } from '../api/problems.ts'
import { SEARCH_PARAMETERS, SELECTING } from '../schemas/list-parameters.ts'
import {
  COUNTED_LISTS,
  type Condition,
  FORMATS,
  GROUPINGS,
  MINUTES_MAX,
  MORE_MAX,
  type NewWatch,
  WATCHED_STATES,
} from '../schemas/watches.ts'
import { SECRET_PREFIX } from '../watches/poster.ts'

/**
 * Reads a value of a body. For one that does not fit, it notes a problem at the value's JSON pointer, and what it returns is not used: a
 * body is refused once all of it is read, with every problem at once.
 */
type Reader<T> = (value: unknown, path: string, problems: ParameterProblem[]) => T

/** Reads a value of which `problemOf` says what is wrong, if anything. */
const reader =
  <T>(problemOf: (value: unknown) => string | undefined): Reader<T> =>
  (value, path, problems) => {
    const problem = problemOf(value)
    if (problem !== undefined) problems.push({ path, message: value === undefined ? 'is missing' : problem })
    return value as T
  }

const textWith = (problemOf: (text: string) => string | undefined): Reader<string> =>
  reader((value) => (typeof value === 'string' ? problemOf(value) : 'must be a string'))

const text = textWith(textProblem)

const flag: Reader<boolean> = reader((value) => (typeof value === 'boolean' ? undefined : 'must be true or false'))

const whole = (min: number, max: number): Reader<number> =>
  reader((value) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max ? undefined : mustBeWhole(min, max),
  )

const oneOf = <const T extends string>(choices: readonly T[]): Reader<T> =>
  reader((value) => (choices.some((one) => one === value) ? undefined : mustBeOneOf(choices)))

const guid: Reader<string> = (value, path, problems) => {
  const id = typeof value === 'string' ? parseGuid(value) : undefined
  if (id === undefined) problems.push({ path, message: 'must be a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301' })
  return id ?? ''
}

const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value, path, problems) =>
    value === null ? null : read(value, path, problems)

/** The members of an object; undefined for anything else. */
function membersOf(value: unknown, path: string, problems: ParameterProblem[], expected = 'must be a JSON object') {
  if (isJsonObject(value)) return value
  problems.push({ path, message: value === undefined ? 'is missing' : expected })
  return undefined
}

type Readers = Readonly<Record<string, Reader<unknown>>>

/** Reads an object of these members, all of them required but the optional ones. */
const object =
  <T>(readers: Readers, optional: readonly string[] = []): Reader<T> =>
  (value, path, problems) => {
    const members = membersOf(value, path, problems)
    if (members === undefined) return value as T
    const names = Object.keys(readers)
    for (const name of Object.keys(members).filter((one) => !names.includes(one)))
      problems.push({
        path: `${path}${pointerOf(name)}`,
        message: `is not a field; there are ${names.join(', ')}`,
      })
    const read = Object.entries(readers)
      .filter(([name]) => Object.hasOwn(members, name) || !optional.includes(name))
      .map(([name, readMember]) => [name, readMember(members[name], `${path}/${name}`, problems)])
    return Object.fromEntries(read) as T
  }

/** Reads texts by the names of a list's parameters; `taker` says in a problem whose they are. */
const parameters =
  (names: readonly string[], taker: string, expected?: string): Reader<Readonly<Record<string, string>>> =>
  (value, path, problems) => {
    for (const [name, one] of Object.entries(membersOf(value, path, problems, expected) ?? {})) {
      const at = `${path}${pointerOf(name)}`
      if (names.includes(name)) text(one, at, problems)
      else problems.push({ path: at, message: `is not a parameter; ${taker} ${names.join(', ')}` })
    }
    return value as Readonly<Record<string, string>>
  }

/** Every field in the bodies of what the registry holds of a Team. */
const FIELDS = {
  identifier: text,
  id: guid,
  name: text,
  archived: flag,
  defaultProject: orNull(guid),
  revokeOld: flag,
  event: orNull(text),
  page: oneOf(SEARCH_PAGES),
  params: parameters(SEARCH_PARAMETERS, 'a saved search has', 'must be an object of parameters, each with a text'),
  order: reader<number>((value) => (isOrder(value) ? undefined : ORDER_EXPECTED)),
} as const satisfies Readers

export type FieldName = keyof typeof FIELDS

type Value<Name extends FieldName> = ReturnType<(typeof FIELDS)[Name]>

/** The fields of a body; an omitted field is undefined. */
export type Fields<Taken extends FieldName = FieldName, Required extends Taken = never> = {
  readonly [Name in Required]: Value<Name>
} & { readonly [Name in Taken]?: Value<Name> | undefined }

/**
 * Reads the fields that a path takes. Throws an `invalid_request` that names each unknown, missing or invalid one by JSON pointer: ignoring
 * a misspelt field would look like a successful change.
 */
export function readFields<const Taken extends FieldName, const Required extends Taken = never>(
  json: unknown,
  taken: readonly Taken[],
  required: readonly Required[] = [],
): Fields<Taken, Required> {
  const problems: ParameterProblem[] = []
  const members = membersOf(json, '', problems)
  if (members === undefined) throw invalidFields(problems)
  const fields = Object.entries(members).map(([name, value]) => {
    const path = pointerOf(name)
    const known = taken.find((one) => one === name)
    if (known !== undefined) return [name, FIELDS[known](value, path, problems)]
    problems.push({ path, message: `is not a field; this path takes ${taken.join(', ') || 'none'}` })
    return [name, value]
  })
  for (const name of required)
    if (!Object.hasOwn(members, name)) problems.push({ path: `/${name}`, message: 'is missing' })
  if (problems.length > 0) throw invalidFields(problems)
  return Object.fromEntries(fields) as Fields<Taken, Required>
}

const URL_LENGTH_MAX = 2_048

function urlProblem(address: string): string | undefined {
  if (address.length > URL_LENGTH_MAX) return `has ${address.length} characters; the most is ${URL_LENGTH_MAX}`
  const parsed = URL.canParse(address) ? new URL(address) : undefined
  if (parsed === undefined && /^https?:/i.test(address))
    return 'has a host or a port that cannot be; write it like https://hooks.example.com:8443/sluice'
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    return 'must be an address that begins with https://, such as https://hooks.example.com/sluice'
  if (parsed.username !== '' || parsed.password !== '') return 'must hold no user name and no password'
  return undefined
}

const SECRET_BYTES = { min: 24, max: 64 }
const SECRET_EXPECTED = `must be ${SECRET_PREFIX} and ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes in Base64, or null for a new one`

function isSecret(value: unknown): boolean {
  if (typeof value !== 'string' || !value.startsWith(SECRET_PREFIX)) return false
  const base64 = value.slice(SECRET_PREFIX.length)
  const { length } = Buffer.from(base64, 'base64')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length <= 2 * SECRET_BYTES.max
  return isBase64 && length >= SECRET_BYTES.min && length <= SECRET_BYTES.max
}

/** Reads the parameters that select logs. Each is checked as the list itself checks it, once nothing else is wrong. */
const selection: Reader<Readonly<Record<string, string>>> = (value, path, problems) => {
  const params = parameters(SELECTING, 'logs are selected by')(value, path, problems)
  if (problems.length > 0) return params
  try {
    readParameters(new URLSearchParams(params), SELECTING, 0)
  } catch (error) {
    const details = error instanceof ProblemError ? error.problem.details : []
    for (const one of details as readonly ParameterProblem[])
      problems.push({ path: `${path}${pointerOf(one.path)}`, message: one.message })
  }
  return params
}

const TYPES = ['count', 'flows', 'newGroup'] as const
const type = oneOf(TYPES)

const CONDITIONS: Readonly<Record<Condition['type'], Readers>> = {
  count: {
    type,
    list: oneOf(COUNTED_LISTS),
    params: selection,
    more: whole(0, MORE_MAX),
    minutes: whole(1, MINUTES_MAX),
  },
  flows: { type, state: oneOf(WATCHED_STATES), event: orNull(text) },
  newGroup: { type, by: oneOf(GROUPINGS), params: selection },
}

/** Its type says what else a condition has. */
const condition: Reader<Condition> = (value, path, problems) => {
  const members = membersOf(value, path, problems)
  if (members === undefined) return value as Condition
  const known = TYPES.find((one) => one === members['type'])
  if (known !== undefined) return object<Condition>(CONDITIONS[known])(value, path, problems)
  type(members['type'], `${path}/type`, problems)
  return value as Condition
}

const WATCH: Readers = {
  name: text,
  condition,
  webhook: object(
    {
      url: textWith(urlProblem),
      format: oneOf(FORMATS),
      secret: orNull(reader((value) => (isSecret(value) ? undefined : SECRET_EXPECTED))),
    },
    ['secret'],
  ),
  paused: flag,
}

/** Reads the body of a new watch. Throws like `readFields`. */
export const readNewWatch = (json: unknown): NewWatch => readWatch<NewWatch>(json, ['paused'])

/** Reads the changes of a watch, at least one. Throws like `readFields`. */
export function readWatchChanges(json: unknown): Partial<NewWatch> {
  const changes = readWatch<Partial<NewWatch>>(json, Object.keys(WATCH))
  if (Object.keys(changes).length > 0) return changes
  const message = `has nothing to change; give one of ${Object.keys(WATCH).join(', ')}`
  throw invalidFields([{ path: '', message }])
}

function readWatch<T>(json: unknown, optional: readonly string[]): T {
  const problems: ParameterProblem[] = []
  const watch = object<T>(WATCH, optional)(json, '', problems)
  if (problems.length > 0) throw invalidFields(problems)
  return watch
}
