import { FILES_EXHAUSTED, NO_FILES } from '../../runtime/file-limit.ts'
import type { UnconfirmedOutcome } from '../journal.ts'

/** The meaning of one failed attempt to append. */
interface AppendVerdict {
  readonly outcome: UnconfirmedOutcome
  readonly retry: boolean
}

/** Kafka's error codes by what they tell about the batch (kafka.apache.org/protocol, "Error Codes"). */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']
const REFUSED_WITH_TOPIC = new Set([
  ...TOO_LARGE,
  'INVALID_RECORD',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_TIMESTAMP',
  'INVALID_REQUIRED_ACKS',
  'TOPIC_AUTHORIZATION_FAILED',
  'UNSUPPORTED_COMPRESSION_TYPE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
  'POLICY_VIOLATION',
])
const REFUSED_FOR_GOOD = new Set([...REFUSED_WITH_TOPIC, 'CLUSTER_AUTHORIZATION_FAILED', 'SASL_AUTHENTICATION_FAILED'])
/** The broker refused before it wrote; a retry may find enough replicas. */
const REFUSED_FOR_NOW = new Set(['NOT_ENOUGH_REPLICAS', 'CORRUPT_MESSAGE', 'THROTTLING_QUOTA_EXCEEDED'])

/**
 * Classifies a failed send whose request may have left. Anything that is not known to be a refusal may have been written: a timeout, a lost
 * connection, too few replicas after the leader wrote. NOT_LEADER_OR_FOLLOWER is not a refusal either: a leader that wrote, and was deposed
 * while it waited for the replicas, answers with it, and the next leader may have the batch.
 */
export function judgeAppend(error: unknown): AppendVerdict {
  if (isAllOf(error, REFUSED_FOR_GOOD)) return { outcome: 'not_written', retry: false }
  if (isAllOf(error, REFUSED_FOR_NOW)) return { outcome: 'not_written', retry: true }
  return { outcome: 'unknown', retry: true }
}

/** Whether brokers refused a batch as it has more bytes than its topic takes at once. */
export const isTooLarge = (error: unknown): boolean => hasCode(error, ...TOO_LARGE)

/** Whether brokers refused a batch for what it or its topic is, such as a topic that does not exist, and may take any other. */
export const isOfTopic = (error: unknown): boolean => isUnknownTopic(error) || isAllOf(error, REFUSED_WITH_TOPIC)

/**
 * Whether an error has codes, all of them of a kind. UNKNOWN_SERVER_ERROR says nothing: the library also gives it to each record that a broker
 * complains about, beside the code of the partition. A request has one partition, so the other codes are its own.
 */
function isAllOf(error: unknown, kind: ReadonlySet<string>): boolean {
  const codes = errorCodes(error).filter((code) => code !== 'UNKNOWN_SERVER_ERROR')
  return codes.length > 0 && codes.every((code) => kind.has(code))
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

/** A failure of the library in the words of `describeFault`; the library's own error is its cause. */
export class KafkaError extends Error {
  override readonly name = 'KafkaError'

  constructor(cause: unknown) {
    super(describeFault(cause), { cause })
  }
}

/** Advice to the operator about a refusal, by the wording of Node, of the brokers and of the library. The first match counts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [FILES_EXHAUSTED, NO_FILES],
  [
    /altnames/i,
    "the broker's certificate has to name the host in KAFKA_BROKERS, and the one that the broker advertises",
  ],
  [
    /certificate (has expired|is not yet valid)/i,
    "the brokers' certificate or that of its authority has to be renewed, or the clock of this machine is wrong",
  ],
  [/certificate/i, "KAFKA_SSL_CA_FILE has to name the authority that signed the brokers' certificates"],
  [/authentication failed/i, 'check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'],
  [/requires TLS/i, 'set KAFKA_SSL=true'],
  [/suitable SASL mechanism/i, 'check KAFKA_SSL and KAFKA_SASL_MECHANISM'],
  [
    // Brokers silently close connections of clients that lack a certificate, and plaintext connections to a TLS port. One that answers
    // nothing at all is frozen.
    /(listApis|metadata) failed(?!.*timed out).*connection closed/i,
    'brokers that close a connection at once may want TLS or a certificate: check KAFKA_SSL, KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE; ' +
      'or they take no more connections from this address (max.connections.per.ip)',
  ],
  [/TLS handshake failed|wrong version number/i, 'the broker may take no TLS: check KAFKA_SSL'],
  [/(topic|group|cluster) authorization failed/i, 'docs/kafka.md lists the rights that the user needs'],
  [
    // The text of each record, or that of all, for which those of many records leave no room.
    /timestamp.* out of (acceptable )?range/i,
    'the topic needs message.timestamp.type=LogAppendTime, or the clock of this machine is wrong',
  ],
  [/larger than the max message size/i, 'max.message.bytes of the topic has to be raised'],
  [/cannot connect to any broker/i, 'check KAFKA_BROKERS, and that the brokers run'],
  // Only brokers that others have named are connected to one by one.
  [
    /connection to \S+ (failed|timed out)/i,
    'the brokers advertise this address: it has to be reachable from here, or their advertised.listeners are wrong',
  ],
]
const REASON_CHARACTERS_MAX = 500

/** A one-sentence description of an error: the library's message, the reasons of the brokers or the network in it, and advice. */
export function describeFault(error: unknown): string {
  if (error instanceof KafkaError) return error.message
  const reason = [...new Set(messagesOf(error))].join(' ').slice(0, REASON_CHARACTERS_MAX)
  const advice = ADVICE.find(([words]) => words.test(reason))?.[1]
  return advice === undefined ? reason : `${reason} (${advice})`
}

/** Whether a retry within a request cannot help: a missing right, a refused login, or an untrusted certificate. */
export const isRefusedForGood = (error: unknown): boolean => {
  if (errorCodes(error).some((code) => REFUSED_FOR_GOOD.has(code))) return true
  const reason = describeFault(error)
  // A broker that shuts down during the handshake closes the connection, at any point of it.
  return /authentication|SASL|certificate|requires TLS/i.test(reason) && !/connection closed/i.test(reason)
}

function messagesOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [String(error)]
  const { message, serverErrorMessage, errors, cause } = error as Readonly<Record<string, unknown>>
  return [
    ...[message, serverErrorMessage].flatMap((text) => (typeof text === 'string' ? [text.trim()] : [])),
    ...(Array.isArray(errors) ? errors.flatMap(messagesOf) : []),
    ...(cause === undefined ? [] : messagesOf(cause)),
  ]
}

/** The forms in which the library reports that the cluster does not know a topic. */
export const isUnknownTopic = (error: unknown): boolean =>
  hasCode(error, 'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID') ||
  messagesOf(error).some((message) => /^Unknown topic \S+\.$/.test(message))
