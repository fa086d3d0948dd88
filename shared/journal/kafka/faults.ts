import type { UnconfirmedOutcome } from '../journal.ts'

/** What one failed attempt to append means. */
export interface AppendVerdict {
  readonly outcome: UnconfirmedOutcome
  readonly retry: boolean
}

/** Kafka's error codes by what they say about the batch (kafka.apache.org/protocol, "Error Codes"). */
const REFUSED_FOR_GOOD = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_TIMESTAMP',
  'INVALID_REQUIRED_ACKS',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_COMPRESSION_TYPE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'POLICY_VIOLATION',
])
/** The broker refused before it wrote; another attempt may find enough replicas. */
const REFUSED_FOR_NOW = new Set(['NOT_ENOUGH_REPLICAS', 'CORRUPT_MESSAGE', 'THROTTLING_QUOTA_EXCEEDED'])

/**
 * Judges a send that failed after its request may have left. Whatever is not known to be a refusal may have been written: a time-out,
 * a lost connection, too few replicas after the leader wrote. NOT_LEADER_OR_FOLLOWER is no refusal either: a leader that wrote and was
 * deposed while it waited for the replicas answers with it, and the next leader may have the batch.
 */
export function judgeAppend(error: unknown): AppendVerdict {
  const codes = errorCodes(error)
  if (codes.length > 0 && codes.every((code) => REFUSED_FOR_GOOD.has(code))) {
    return { outcome: 'not_written', retry: false }
  }
  if (codes.length > 0 && codes.every((code) => REFUSED_FOR_NOW.has(code)))
    return { outcome: 'not_written', retry: true }
  return { outcome: 'unknown', retry: true }
}

/** The brokers' error codes within an error of the library, which wraps them in lists. */
export function errorCodes(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return []
  const { apiId, errors, cause } = error as { apiId?: unknown; errors?: unknown; cause?: unknown }
  const own = typeof apiId === 'string' ? [apiId] : []
  const inner = Array.isArray(errors) ? errors.flatMap(errorCodes) : []
  return [...own, ...inner, ...errorCodes(cause)]
}

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  errorCodes(error).some((code) => codes.includes(code))

/** One sentence of what the library knows: its own message, and the brokers' or the network's reasons within. */
export function describeFault(error: unknown): string {
  const messages = new Set(messagesOf(error))
  return [...messages].join(' ').slice(0, 500)
}

function messagesOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [String(error)]
  const { message, errors, cause } = error as { message?: unknown; errors?: unknown; cause?: unknown }
  return [
    ...(typeof message === 'string' ? [message] : []),
    ...(Array.isArray(errors) ? errors.flatMap(messagesOf) : []),
    ...(cause === undefined ? [] : messagesOf(cause)),
  ]
}

/** The library's way to say that the cluster does not know a topic. */
export const isUnknownTopic = (error: unknown): boolean =>
  hasCode(error, 'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID') ||
  messagesOf(error).some((message) => message.startsWith('Unknown topic '))
