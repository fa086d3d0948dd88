import { type Offender, ProblemError } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { isJsonObject, type JsonObject, pointerOf } from '../../shared/contract/json-object.ts'
import { described, flag, type JsonSchema, optionalText, type Static, text } from '../../shared/contract/json-schema.ts'
import { ORDER_MAX, textProblem } from '../../shared/registry/rules.ts'
import { readParameters } from '../api/parameters.ts'
import { invalidFields, mustBeOneOf, mustBeWhole } from '../api/problems.ts'
import { SELECTING } from '../schemas/list-parameters.ts'
import { SavedSearch, SearchParams } from '../schemas/team.ts'
import { NewWatch } from '../schemas/watches.ts'
import { SECRET_PREFIX } from '../watches/poster.ts'

/** The schema of every field in the bodies of what the registry holds of a Team. */
const FIELDS = {
  identifier: text,
  id: described(text, 'A GUID in any form.'),
  name: text,
  archived: described(flag, 'An archived item takes no logs; stored logs keep their names.'),
  defaultProject: described(optionalText, 'A Project of the Team that takes logs; null for none.'),
  revokeOld: described(flag, 'Revoke all other keys at once.'),
  event: described(optionalText, 'An Event of the Team; null for a Step that stands alone.'),
  page: SavedSearch.properties.page,
  params: SearchParams,
  order: { type: 'integer', minimum: 1, maximum: ORDER_MAX, description: 'Left out: after the last one.' },
} as const satisfies Readonly<Record<string, JsonSchema>>

export type FieldName = keyof typeof FIELDS

/** The schema of a body with these fields. */
export const bodyOf = (taken: readonly FieldName[], required: readonly FieldName[] = []): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(taken.map((name) => [name, FIELDS[name]])),
  required,
  additionalProperties: false,
})

type Value<Name extends FieldName> = Static<(typeof FIELDS)[Name]>

/** The fields of a body; an omitted field is undefined. */
export type Fields<Taken extends FieldName = FieldName, Required extends Taken = never> = {
  readonly [Name in Required]: Value<Name>
} & { readonly [Name in Taken]?: Value<Name> | undefined }

/**
 * Reads the fields that a path takes. Throws an `invalid_request` that names each unknown, missing or invalid one by JSON pointer: ignoring
 * a misspelt field would look like a successful change.
 */
export const readFields = <const Taken extends FieldName, const Required extends Taken = never>(
  json: unknown,
  taken: readonly Taken[],
  required: readonly Required[] = [],
): Fields<Taken, Required> => read(bodyOf(taken, required), json, 'this path takes')

/** Reads the body of a new watch. Throws like `readFields`. */
export const readNewWatch = (json: unknown): NewWatch => read(NewWatch, json)

/** Reads the changes of a watch, at least one. Throws like `readFields`. */
export function readWatchChanges(json: unknown): Partial<NewWatch> {
  const changes = read<Partial<NewWatch>>({ ...NewWatch, required: [] }, json)
  if (Object.keys(changes).length > 0) return changes
  const message = `has nothing to change; give one of ${Object.keys(NewWatch.properties).join(', ')}`
  throw invalidFields([{ path: '', message }])
}

/** A body that its schema accepts. `known` introduces the fields there are, where it has another one. */
function read<T>(schema: JsonSchema, json: unknown, known?: string): T {
  const problems: Offender[] = []
  check(schema, json, { path: '', problems, known })
  if (problems.length > 0) throw invalidFields(problems)
  return json as T
}

/** The keywords by which schemas of bodies tell what they accept. */
interface Keywords {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly propertyNames?: { readonly enum: readonly string[] }
  readonly oneOf?: readonly { readonly properties: { readonly type: { readonly const: string } } }[]
}

/** A place in a body, and everything that is wrong with the body so far: it is refused with all of it at once. */
interface Place {
  readonly path: string
  readonly problems: Offender[]
  /** The name of the member here. */
  readonly name?: string
  readonly known?: string | undefined
}

/** Notes what is wrong with a value by its schema. */
function check(schema: JsonSchema, value: unknown, place: Place): void {
  const { type, propertyNames, oneOf } = schema as Keywords
  const note = (message: string, path = place.path): void => void place.problems.push({ path, message })
  if (value === undefined) note('is missing')
  else if (type !== 'object' && oneOf === undefined) {
    const problem = value === null && type?.includes('null') ? undefined : problemOf(schema, value, place.name)
    if (problem !== undefined) note(problem)
  } else if (!isJsonObject(value))
    note(schema === SearchParams ? 'must be an object of parameters, each with a text' : 'must be a JSON object')
  else if (propertyNames !== undefined) checkParameters(schema, propertyNames.enum, value, place)
  else if (oneOf === undefined) checkMembers(schema, value, place)
  else {
    const types = oneOf.map(({ properties }) => properties.type.const)
    const chosen = oneOf.find(({ properties }) => properties.type.const === value['type'])
    if (chosen !== undefined) checkMembers(chosen, value, place)
    else note(value['type'] === undefined ? 'is missing' : mustBeOneOf(types), `${place.path}/type`)
  }
}

function checkMembers({ properties = {}, required = [] }: Keywords, members: JsonObject, place: Place): void {
  const { path, problems, known = 'there are' } = place
  const names = Object.keys(properties)
  for (const name of new Set([...Object.keys(members), ...required])) {
    const at = `${path}${pointerOf(name)}`
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (member !== undefined) check(member, members[name], { path: at, problems, name })
    else problems.push({ path: at, message: `is not a field; ${known} ${names.join(', ') || 'none'}` })
  }
}

/** Parameters that select logs are checked as the list itself checks them, once nothing else is wrong. */
function checkParameters(schema: JsonSchema, names: readonly string[], params: JsonObject, place: Place): void {
  const { path, problems } = place
  const isSearch = schema === SearchParams
  for (const [name, value] of Object.entries(params)) {
    const at = `${path}${pointerOf(name)}`
    const message = `is not a parameter; ${isSearch ? 'a saved search has' : 'logs are selected by'} ${names.join(', ')}`
    if (names.includes(name)) check(text, value, { path: at, problems })
    else problems.push({ path: at, message })
  }
  if (isSearch || problems.length > 0) return
  try {
    readParameters(new URLSearchParams(params as Readonly<Record<string, string>>), SELECTING, 0)
  } catch (error) {
    const details = error instanceof ProblemError ? error.problem.details : []
    for (const one of details as readonly Offender[])
      problems.push({ path: `${path}${pointerOf(one.path)}`, message: one.message })
  }
}

/** The problem with a value that is no object. */
function problemOf(schema: Keywords, value: unknown, name = ''): string | undefined {
  const { type, enum: choices, minimum = 0, maximum = 0 } = schema
  if (choices !== undefined) return choices.some((one) => one === value) ? undefined : mustBeOneOf(choices)
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false'
  if (type === 'integer')
    return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      ? undefined
      : mustBeWhole(minimum, maximum)
  return (MEMBERS[name] ?? textualProblem)(value)
}

const textualProblem = (value: unknown): string | undefined =>
  typeof value === 'string' ? textProblem(value) : 'must be a string'

const guidProblem = (value: unknown): string | undefined =>
  typeof value === 'string' && parseGuid(value) !== undefined
    ? undefined
    : 'must be a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301'

/** The members whose texts have a form of their own, with the problem of a value. */
const MEMBERS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  id: guidProblem,
  defaultProject: guidProblem,
  secret: (value) => (isSecret(value) ? undefined : SECRET_EXPECTED),
  url: (value) => (typeof value === 'string' ? urlProblem(value) : 'must be a string'),
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
