import { ERRORS, type ErrorCode, problem } from '../contract/errors.ts'
import {
  component,
  described,
  flag,
  type JsonSchema,
  named,
  objectOf,
  type Static,
  text,
} from '../contract/json-schema.ts'
import { failureBody, RETRY_AFTER_SECONDS } from '../http/answer.ts'

/** The operations that a part of the service adds to the OpenAPI document. */
export interface OpenApiPart {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** Operations by path template and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: Readonly<Record<string, JsonSchema>>
}

type Examples = Readonly<Record<string, JsonSchema>>

/** Examples of `details`, by code. */
export type DetailsExamples = Readonly<Partial<Record<ErrorCode, unknown>>>

export const jsonContent = (schema: JsonSchema, examples: Examples): JsonSchema => ({
  'application/json': { schema, examples },
})

export const jsonBody = <const Schema extends JsonSchema>(schema: Schema, value: Static<Schema>): JsonSchema => ({
  required: true,
  content: jsonContent(schema, { example: { value } }),
})

/** The success envelope (specification 4.1) around `data`. */
export const successOf = (data: JsonSchema): JsonSchema => objectOf({ success: { const: true }, data })

/** A response in the success envelope; the examples are of its data, by name. */
export const successResponse = <const Data extends JsonSchema>(
  description: string,
  data: Data,
  examples: Readonly<Record<string, Static<Data>>>,
): JsonSchema => {
  const named = Object.entries(examples).map(([name, example]) => [name, { value: { success: true, data: example } }])
  return { description, content: jsonContent(successOf(data), Object.fromEntries(named)) }
}

const CODES = Object.keys(ERRORS) as ErrorCode[]

/** Every code with its meaning, as a table for people. */
const CODE_TABLE = [
  '| code | retry | meaning | what to do |\n| --- | --- | --- | --- |',
  ...CODES.map((code) => {
    const { retryable, message, remedy } = ERRORS[code]
    return `| \`${code}\` | ${retryable ? 'yes' : 'no'} | ${message} | ${remedy} |`
  }),
].join('\n')

export const ERROR_CODE = named('ErrorCode', { type: 'string', enum: CODES }, CODE_TABLE)

export const FAILURE = component('Failure', {
  success: { const: false },
  error: objectOf({
    code: ERROR_CODE,
    message: described(text, 'The problem and its remedy, for people.'),
    details: {
      description:
        'Further information, by code; null if there is none. For `invalid_request` a list of `{ path, message }`: ' +
        'each wrong field (a JSON pointer) or parameter (its name), and the expected value.',
    },
    retryable: described(flag, 'Whether the same request may succeed later.'),
  }),
})

/** The header of every answer after which a retry may help. */
export const RETRY_AFTER: JsonSchema = {
  description: 'Seconds after which to send the same request again.',
  schema: { type: 'integer', examples: [RETRY_AFTER_SECONDS] },
}

/** The failure body of each code, as named examples. */
export const failureExamples = (codes: readonly ErrorCode[], details: DetailsExamples): Examples =>
  Object.fromEntries(
    codes.map((code) => {
      const body = failureBody(problem(code, details[code] ?? null))
      return [code, { summary: ERRORS[code].message, value: JSON.parse(body) }]
    }),
  )

/** Responses for these codes, one per status. */
export function failureResponses(
  codes: readonly ErrorCode[],
  statusOf: Readonly<Record<ErrorCode, number>>,
  details: DetailsExamples,
): Readonly<Record<string, JsonSchema>> {
  const byStatus = Object.groupBy(codes, (code) => statusOf[code])
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, own = []]) => {
      const headers = {
        ...(own.some((code) => ERRORS[code].retryable) && { 'Retry-After': RETRY_AFTER }),
        ...(status === '401' && { 'WWW-Authenticate': { schema: text } }),
      }
      const response = {
        description: own.map((code) => `\`${code}\``).join(', '),
        ...(Object.keys(headers).length > 0 && { headers }),
        content: jsonContent(FAILURE, failureExamples(own, details)),
      }
      return [status, response]
    }),
  )
}

/**
 * The paths with each schema that has an `$id` replaced by a reference, and these schemas by name. Throws if two schemas have the same
 * name.
 */
export function withComponents(paths: OpenApiPart['paths']): {
  readonly paths: OpenApiPart['paths']
  readonly schemas: Readonly<Record<string, JsonSchema>>
} {
  const sources = new Map<string, object>()
  const schemas: Record<string, JsonSchema> = {}
  const referring = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node)) return node.map(referring)
    const { $id: name, ...rest } = node as JsonSchema
    const copy = (): JsonSchema =>
      Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, referring(value)]))
    if (typeof name !== 'string') return copy()
    const source = sources.get(name)
    if (source === undefined) {
      sources.set(name, node)
      schemas[name] = copy()
    } else if (source !== node) throw new Error(`two schemas are called ${name}`)
    return { $ref: `#/components/schemas/${name}` }
  }
  return { paths: referring(paths) as OpenApiPart['paths'], schemas }
}
