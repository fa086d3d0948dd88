import { Ajv2020 } from 'ajv/dist/2020.js'
import { ERRORS, type ErrorCode, STATUS } from '../../../shared/contract/errors.ts'
import { VIEW_STATUS } from '../../../views/api/problems.ts'
import type { Answer } from '../answer-parser.ts'

const ajv = new Ajv2020({ formats: { uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ } })
const count = { type: 'integer', minimum: 0 }

/** A JSON object with these properties and no others. */
const objectOf = (properties: Readonly<Record<string, object>>, optional: readonly string[] = []) => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

const problem = {
  code: { type: 'string', enum: Object.keys(ERRORS) },
  message: { type: 'string' },
  details: {},
  retryable: { type: 'boolean' },
}
const processed = {
  ...objectOf(
    {
      message: { type: 'string' },
      count,
      rejected: count,
      errors: { type: 'array', maxItems: 100, items: objectOf({ index: count, ...problem }) },
    },
    ['rejected', 'errors'],
  ),
  dependentRequired: { rejected: ['errors'], errors: ['rejected'] },
}
const envelopeOf = (success: boolean, content: Readonly<Record<string, object>>) =>
  ajv.compile(objectOf({ success: { const: success }, ...content }))

const isFailureEnvelope = envelopeOf(false, { error: objectOf(problem) })
const isCreatedEnvelope = envelopeOf(true, { data: objectOf({ id: { type: 'string', format: 'uuid' } }) })
const isProcessedEnvelope = envelopeOf(true, { data: processed })

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly details: unknown
  readonly retryable: boolean
}

/** The id of a stored entry, or the number of stored entries. */
export type Accepted = { readonly id: string } | { readonly count: number }

/** The refusal in a body; undefined for other bodies. */
export const failureIn = (json: unknown): Failure | undefined =>
  isFailureEnvelope(json) ? (json as { error: Failure }).error : undefined

/** The accepted entries according to a body; undefined for other bodies. */
export function acceptedIn(json: unknown): Accepted | undefined {
  if (isCreatedEnvelope(json)) return { id: (json as { data: { id: string } }).data.id }
  if (isProcessedEnvelope(json)) return { count: (json as { data: { count: number } }).data.count }
  return undefined
}

/** Whether it is a successful read: `{ success: true, data }` and nothing else. */
export function isSuccess(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false
  const keys = Object.keys(json)
  return keys.length === 2 && (json as { success?: unknown }).success === true && keys.includes('data')
}

const isJsonType = (type: string): boolean => /^application\/json(; charset=utf-8)?$/.test(type)

/** Reports a content type that is not JSON. */
export function typeProblem({ headers }: Answer): string | undefined {
  const type = headers.get('content-type')?.join() ?? 'none'
  return isJsonType(type) ? undefined : `JSON is said to be ${type}`
}

/** Differences between a refusal and its head; a status in `statuses` is allowed as well as that of its code. */
export function* failureProblems(
  answer: Answer,
  { code, retryable }: Failure,
  statuses: readonly number[],
): Generator<string> {
  const { status, headers } = answer
  if (!Object.hasOwn(ERRORS, code)) yield `the code ${code} is none of the catalogue`
  const fitting = [STATUS[code], VIEW_STATUS[code], ...statuses]
  if (!fitting.includes(status)) yield `${code} came with status ${status}`
  if (retryable && !headers.has('retry-after')) yield `${code} may be retried, and no Retry-After says when`
  if (status === 405 && !headers.has('allow')) yield '405 came without Allow'
}
