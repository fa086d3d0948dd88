import { ProblemError } from '../../shared/contract/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/contract/json-object.ts'
import { textProblem } from '../../shared/registry/rules.ts'
import { readParameters } from '../api/parameters.ts'
import { invalidFields, mustBeOneOf, type ParameterProblem, pointerOf } from '../api/problems.ts'
import { SELECTING } from '../schemas/list-parameters.ts'
import {
  COUNTED_LISTS,
  type Condition,
  FORMATS,
  type Format,
  GROUPINGS,
  MINUTES_MAX,
  MORE_MAX,
  WATCHED_STATES,
} from '../schemas/watches.ts'
import { SECRET_PREFIX } from '../watches/poster.ts'

/** The fields of a watch in a body; an omitted field is undefined. */
export interface WatchFields {
  readonly name?: string
  readonly condition?: Condition
  readonly webhook?: {
    readonly url: string
    readonly format: Format
    /** Null requests a new one. */
    readonly secret?: string | null
  }
  readonly paused?: boolean
}

/** Reads a value at a JSON pointer; for an invalid value it adds a problem and returns a placeholder. */
type Read<T> = (value: unknown, path: string, problems: ParameterProblem[]) => T

const URL_LENGTH_MAX = 2_048
const SECRET_BYTES = { min: 24, max: 64 }

/** Reads a value of which `problemOf` says what is wrong, if anything. */
const reader =
  <T>(problemOf: (value: unknown) => string | undefined): Read<T> =>
  (value, path, problems) => {
    const problem = problemOf(value)
    if (problem !== undefined) problems.push({ path, message: value === undefined ? 'is missing' : problem })
    return value as T
  }

const oneOf = <const T extends string>(choices: readonly T[]): Read<T> =>
  reader((value) => (choices.some((one) => one === value) ? undefined : mustBeOneOf(choices)))

const whole = (min: number, max: number): Read<number> =>
  reader((value) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`,
  )

const flag: Read<boolean> = reader((value) => (typeof value === 'boolean' ? undefined : 'must be true or false'))

const textWith = (problemOf: (text: string) => string | undefined): Read<string> =>
  reader((value) => (typeof value === 'string' ? problemOf(value) : 'must be a string'))

const name = textWith(textProblem)
const url = textWith(urlProblem)

function urlProblem(text: string): string | undefined {
  if (text.length > URL_LENGTH_MAX) return `has ${text.length} characters; the most is ${URL_LENGTH_MAX}`
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed === undefined && /^https?:/i.test(text))
    return 'has a host or a port that cannot be; write it like https://hooks.example.com:8443/sluice'
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    return 'must be an address that begins with https://, such as https://hooks.example.com/sluice'
  if (parsed.username !== '' || parsed.password !== '') return 'must hold no user name and no password'
  return undefined
}

const secret: Read<string | null> = reader((value) =>
  value === null || (typeof value === 'string' && isSecret(value))
    ? undefined
    : `must be ${SECRET_PREFIX} and ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes in Base64, or null for a new one`,
)

function isSecret(text: string): boolean {
  const base64 = text.slice(SECRET_PREFIX.length)
  const { length } = Buffer.from(base64, 'base64')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length <= 2 * SECRET_BYTES.max
  return text.startsWith(SECRET_PREFIX) && isBase64 && length >= SECRET_BYTES.min && length <= SECRET_BYTES.max
}

/** Parameters of a list, validated like those of the list itself. */
const params: Read<Readonly<Record<string, string>>> = (value, path, problems) => {
  const members = membersOf(value, path, problems)
  for (const [member, text] of Object.entries(members)) {
    const at = `${path}/${pointerOf(member)}`
    if (!SELECTING.some((known) => known === member))
      problems.push({ path: at, message: `is not a parameter; logs are selected by ${SELECTING.join(', ')}` })
    else name(text, at, problems)
  }
  if (problems.length > 0) return {}
  try {
    readParameters(new URLSearchParams(members as Record<string, string>), SELECTING, 0)
  } catch (error) {
    const details = error instanceof ProblemError ? error.problem.details : []
    for (const one of details as readonly ParameterProblem[])
      problems.push({ path: `${path}/${pointerOf(one.path)}`, message: one.message })
  }
  return members as Record<string, string>
}

type Fields = Readonly<Record<string, Read<unknown>>>

/** Reads an object with exactly these fields. */
const object =
  <T>(fields: Fields, optional: readonly string[] = []): Read<T> =>
  (value, path, problems) => {
    const members = membersOf(value, path, problems)
    if (typeof value !== 'object' || value === null) return {} as T
    for (const member of Object.keys(members))
      if (!Object.hasOwn(fields, member))
        problems.push({
          path: `${path}/${pointerOf(member)}`,
          message: `is not a field; there ${Object.keys(fields).length === 1 ? 'is' : 'are'} ${Object.keys(fields).join(', ')}`,
        })
    const read = Object.entries(fields)
      .filter(([field]) => Object.hasOwn(members, field) || !optional.includes(field))
      .map(([field, readField]) => [field, readField(members[field], `${path}/${field}`, problems)])
    return Object.fromEntries(read) as T
  }

function membersOf(value: unknown, path: string, problems: ParameterProblem[]): JsonObject {
  if (isJsonObject(value)) return value
  problems.push({ path, message: value === undefined ? 'is missing' : 'must be a JSON object' })
  return {}
}

const TYPES = ['count', 'flows', 'newGroup'] as const

const CONDITIONS: Readonly<Record<Condition['type'], Fields>> = {
  count: { list: oneOf(COUNTED_LISTS), params, more: whole(0, MORE_MAX), minutes: whole(1, MINUTES_MAX) },
  flows: {
    state: oneOf(WATCHED_STATES),
    event: (value, path, problems) => (value === null ? value : name(value, path, problems)),
  },
  newGroup: { by: oneOf(GROUPINGS), params },
}

const condition: Read<Condition> = (value, path, problems) => {
  const { type } = membersOf(value, path, problems)
  if (typeof value !== 'object' || value === null) return value as unknown as Condition
  const known = TYPES.find((one) => one === type)
  if (known !== undefined) return object<Condition>({ type: oneOf(TYPES), ...CONDITIONS[known] })(value, path, problems)
  oneOf(TYPES)(type, `${path}/type`, problems)
  return value as Condition
}

const FIELDS = {
  name,
  condition,
  webhook: object({ url, format: oneOf(FORMATS), secret }, ['secret']),
  paused: flag,
} as const satisfies Fields

/**
 * Reads the body of a watch, new or changed. Throws an `invalid_request` that names each unknown, missing or invalid field by JSON pointer.
 */
export function readWatchBody(json: unknown, isNew: boolean): WatchFields {
  const problems: ParameterProblem[] = []
  const optional = isNew ? ['paused'] : Object.keys(FIELDS)
  const fields = object<WatchFields>(FIELDS, optional)(json, '', problems)
  if (problems.length === 0 && Object.keys(fields).length === 0)
    problems.push({ path: '', message: `has nothing to change; give one of ${Object.keys(FIELDS).join(', ')}` })
  if (problems.length > 0) throw invalidFields(problems)
  return fields
}
