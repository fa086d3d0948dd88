import { parseGuid } from '../../shared/contract/guid.ts'
import { SEARCH_PAGES, type SearchPage } from '../../shared/registry/registry.ts'
import { isOrder, ORDER_EXPECTED, textProblem } from '../../shared/registry/rules.ts'
import { invalidFields, mustBeOneOf, type ParameterProblem, pointerOf } from '../api/problems.ts'
import { SEARCH_PARAMETERS } from '../schemas/list-parameters.ts'

/** A field of a body: its value, a description of what is expected, or the problems of its members by JSON pointers within it. */
type Read<T> = (
  value: unknown,
) => { readonly value: T } | { readonly expected: string } | { readonly members: readonly ParameterProblem[] }

const problemOfText = (value: unknown): string | undefined =>
  typeof value === 'string' ? textProblem(value) : 'must be a string'

const text: Read<string> = (value) => {
  const expected = problemOfText(value)
  return expected === undefined ? { value: value as string } : { expected }
}

const flag: Read<boolean> = (value) => (typeof value === 'boolean' ? { value } : { expected: 'must be true or false' })

const guid: Read<string> = (value) => {
  const id = typeof value === 'string' ? parseGuid(value) : undefined
  return id === undefined ? { expected: 'must be a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301' } : { value: id }
}

const searchPage: Read<SearchPage> = (value) => {
  const page = SEARCH_PAGES.find((one) => one === value)
  return page === undefined ? { expected: mustBeOneOf(SEARCH_PAGES) } : { value: page }
}

const searchParams: Read<Readonly<Record<string, string>>> = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { expected: 'must be an object of parameters, each with a text' }
  const members = Object.entries(value).flatMap(([name, one]) => {
    const message = SEARCH_PARAMETERS.some((known) => known === name)
      ? problemOfText(one)
      : `is not a parameter; a saved search has ${SEARCH_PARAMETERS.join(', ')}`
    return message === undefined ? [] : [{ path: `/${pointerOf(name)}`, message }]
  })
  return members.length > 0 ? { members } : { value: value as Readonly<Record<string, string>> }
}

/** Every field in the bodies of the Team's settings. */
const FIELDS = {
  identifier: text,
  id: guid,
  name: text,
  archived: flag,
  defaultProject: ((value) => (value === null ? { value } : guid(value))) as Read<string | null>,
  revokeOld: flag,
  event: ((value) => (value === null ? { value } : text(value))) as Read<string | null>,
  page: searchPage,
  params: searchParams,
  order: ((value) => (isOrder(value) ? { value } : { expected: ORDER_EXPECTED })) as Read<number>,
} as const satisfies Record<string, Read<unknown>>

export type FieldName = keyof typeof FIELDS

/** The fields of a body; an omitted field is undefined. */
export type Fields = {
  readonly [Name in FieldName]?: (typeof FIELDS)[Name] extends Read<infer T> ? T | undefined : never
}

/**
 * Reads the fields that a path takes. Throws an `invalid_request` that names each unknown, missing or invalid one by JSON pointer: ignoring
 * a misspelt field would look like a successful change.
 */
export function readFields(json: unknown, taken: readonly FieldName[], required: readonly FieldName[] = []): Fields {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalidFields([{ path: '', message: 'must be a JSON object' }])
  const problems: ParameterProblem[] = []
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    const path = `/${pointerOf(name)}`
    if (!taken.includes(name as FieldName)) {
      const known = taken.length === 0 ? 'none' : taken.join(', ')
      problems.push({ path, message: `is not a field; this path takes ${known}` })
      continue
    }
    const read = FIELDS[name as FieldName](value)
    if ('value' in read) fields[name] = read.value
    else if ('expected' in read) problems.push({ path, message: read.expected })
    else for (const one of read.members) problems.push({ ...one, path: `${path}${one.path}` })
  }
  for (const name of required)
    if (!Object.hasOwn(json, name)) problems.push({ path: `/${name}`, message: 'is missing' })
  if (problems.length > 0) throw invalidFields(problems)
  return fields
}
