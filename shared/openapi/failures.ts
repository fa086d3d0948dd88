import { ERRORS, type ErrorCode, problem } from '../errors.ts'
import { failureBody, RETRY_AFTER_SECONDS } from '../http/answer.ts'
import { type JsonSchema, jsonContent, objectOf, schemaRef } from './document.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]

const TABLE_HEAD = '| code | retry | meaning | what to do |\n| --- | --- | --- | --- |\n'

/** Every code with its meaning, as a table for people. */
const codeTable = (): string =>
  TABLE_HEAD +
  CODES.map((code) => {
    const { retryable, message, remedy } = ERRORS[code]
    return `| \`${code}\` | ${retryable ? 'yes' : 'no'} | ${message} | ${remedy} |`
  }).join('\n')

export const failureSchemas: Readonly<Record<string, JsonSchema>> = {
  ErrorCode: { type: 'string', enum: CODES, description: codeTable() },
  Failure: objectOf({
    success: { const: false },
    error: objectOf({
      code: schemaRef('ErrorCode'),
      message: { type: 'string', description: 'What is wrong and what to change, for people.' },
      details: {
        description:
          'More about it, by code; null where there is nothing to add. For `invalid_request` a list of `{ path, message }`: ' +
          'each field (a JSON pointer) or parameter (its name) at fault, and what is expected there.',
      },
      retryable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
    }),
  }),
}

/** Examples of `details`, by code. */
export type DetailsExamples = Readonly<Partial<Record<ErrorCode, unknown>>>

/** The failure body of each code, as named examples. */
export const failureExamples = (
  codes: readonly ErrorCode[],
  details: DetailsExamples,
): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    codes.map((code) => {
      const body = failureBody(problem(code, details[code] ?? null))
      return [code, { summary: ERRORS[code].message, value: JSON.parse(body) }]
    }),
  )

/** Responses for these codes, one a status. */
export function failureResponses(
  codes: readonly ErrorCode[],
  statusOf: Readonly<Record<ErrorCode, number>>,
  details: DetailsExamples,
): Readonly<Record<string, JsonSchema>> {
  const byStatus = Object.groupBy(codes, (code) => statusOf[code])
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, own = []]) => [status, failureResponse(own, Number(status), details)]),
  )
}

function failureResponse(codes: readonly ErrorCode[], status: number, details: DetailsExamples): JsonSchema {
  const headers = {
    ...(codes.some((code) => ERRORS[code].retryable) && { 'Retry-After': RETRY_AFTER }),
    ...(status === 401 && { 'WWW-Authenticate': { schema: { type: 'string' } } }),
  }
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: jsonContent(schemaRef('Failure'), failureExamples(codes, details)),
  }
}

/** The header of every answer that may be retried. */
export const RETRY_AFTER: JsonSchema = {
  description: 'Seconds after which to send the same request again.',
  schema: { type: 'integer', examples: [RETRY_AFTER_SECONDS] },
}
