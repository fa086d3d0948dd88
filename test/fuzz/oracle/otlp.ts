import { ERRORS, type ErrorCode } from '../../../shared/contract/errors.ts'
import type { Answer } from '../answer-parser.ts'
import type { Failure } from './envelope.ts'

/** In both encodings, as JSON has it: `google.rpc.Status`, with our code as the reason of its ErrorInfo. */
interface RpcStatus {
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly '@type': string; readonly reason: string; readonly domain: string }[]
}

/** The refusal that a body is; undefined for any other body. */
export function otlpFailure(json: unknown): Failure | undefined {
  const { code, message, details } = (json ?? {}) as Partial<RpcStatus>
  const info = Array.isArray(details) ? details[0] : undefined
  const fits =
    Number.isInteger(code) &&
    typeof message === 'string' &&
    info?.['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo'
  if (!fits || info === undefined) return undefined
  const reason = info.reason as ErrorCode
  return { code: reason, message: message ?? '', details, retryable: ERRORS[reason]?.retryable ?? false }
}

/** Clients look at them to the letter. */
const TYPES = ['application/json', 'application/x-protobuf']

/** The differences between a refusal and its head. Clients try again after 429, 502, 503 and 504 only. */
export function* otlpProblems({ status, headers }: Answer, { code }: Failure): Generator<string> {
  if (!Object.hasOwn(ERRORS, code)) yield `the reason ${code} is none of the catalogue`
  if (status < 400) yield `a google.rpc.Status came with status ${status}`
  if (status >= 500 && status !== 503) yield `status ${status}`
  if (status === 503 && !headers.has('retry-after')) yield '503 came without Retry-After'
  const type = headers.get('content-type')?.join() ?? ''
  if (!TYPES.includes(type)) yield 'the type is neither exactly application/json nor application/x-protobuf'
}

/** Whether it is an ExportLogsServiceResponse. */
export function isOtlpSuccess(json: unknown): boolean {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false
  const keys = Object.keys(json)
  if (keys.length === 0) return true
  const { partialSuccess } = json as { partialSuccess?: { rejectedLogRecords?: unknown; errorMessage?: unknown } }
  return (
    keys.join() === 'partialSuccess' &&
    /^\d+$/.test(String(partialSuccess?.rejectedLogRecords)) &&
    typeof partialSuccess?.errorMessage === 'string'
  )
}

/** How many records were refused. */
export const rejectedOf = (json: unknown): number =>
  Number((json as { partialSuccess?: { rejectedLogRecords?: string } }).partialSuccess?.rejectedLogRecords ?? 0)
