import { ERRORS, type ErrorCode } from '../../../shared/contract/errors.ts'
import type { Answer } from '../answer-parser.ts'
import type { Failure } from './envelope.ts'

/** `google.rpc.Status` in the JSON form, for both encodings; Sluice's code is the reason in its ErrorInfo. */
interface RpcStatus {
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly '@type': string; readonly reason: string; readonly domain: string }[]
}

/** The refusal in a body; undefined for other bodies. */
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

/** Clients compare content types literally. */
const TYPES = ['application/json', 'application/x-protobuf']

/** Differences between a refusal and its head. Clients only retry after 429, 502, 503 and 504. */
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

/** The number of refused records. */
export const rejectedOf = (json: unknown): number =>
  Number((json as { partialSuccess?: { rejectedLogRecords?: string } }).partialSuccess?.rejectedLogRecords ?? 0)
