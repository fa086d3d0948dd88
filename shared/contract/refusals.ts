import { parseJsonObject } from './json-object.ts'

/**
 * A refusal of a Team's entry, or of a whole request, as a gateway notes it on the refusals topic. The topic is internal: gateways
 * write it, views show it, and its records may change with any version.
 */
export interface NotedRefusal {
  readonly kind: 'refusal'
  readonly team: string
  /** Canonical timestamp. */
  readonly at: string
  /** The path that was posted to, such as `/api/ExternalLogs`. */
  readonly endpoint: string
  readonly code: string
  readonly message: string
  readonly details: unknown
  /** The index of the entry in its batch; null if the whole request or its only entry was refused. */
  readonly index: number | null
  /** The identifier that the sender addressed, cut; null if it named none. */
  readonly identifier: string | null
  /** The first characters of the key that was presented, at most 6. */
  readonly keyPrefix: string | null
  readonly userAgent: string | null
  /** The beginning of the body, or of the entry of a batch; null if it was not read. */
  readonly body: string | null
  readonly bodyCut: boolean
}

/** The number of a Team's refusals, by code, that a gateway did not note since its last such record. */
interface UnnotedRefusals {
  readonly kind: 'unnoted'
  readonly team: string
  readonly at: string
  readonly counts: Readonly<Record<string, number>>
}

export type RefusalRecord = NotedRefusal | UnnotedRefusals

/** Maximum bytes of a body or an entry that are kept. */
export const REFUSED_BODY_BYTES_MAX = 8_192

/** The topic's record, to be appended to any partition. */
export const encodeRefusal = (record: RefusalRecord) => ({
  key: null,
  value: JSON.stringify(record),
  headers: { 'content-type': 'application/json' },
})

/** Reads a record of the topic; undefined for anything that a gateway of this version did not write. */
export function decodeRefusal(value: Buffer | null): RefusalRecord | undefined {
  const json = parseJsonObject(String(value))
  if (json === undefined) return undefined
  const shape = json['kind'] === 'refusal' ? REFUSAL : json['kind'] === 'unnoted' ? UNNOTED : undefined
  const isWhole = shape !== undefined && Object.entries(shape).every(([name, fits]) => fits(json[name]))
  return isWhole ? (json as unknown as RefusalRecord) : undefined
}

type Shape = Readonly<Record<string, (value: unknown) => boolean>>

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const REFUSAL: Shape = {
  team: isText,
  at: isText,
  endpoint: isText,
  code: isText,
  message: isText,
  index: (value) => value === null || isCount(value),
  identifier: isTextOrNull,
  keyPrefix: isTextOrNull,
  userAgent: isTextOrNull,
  body: isTextOrNull,
  bodyCut: (value) => typeof value === 'boolean',
}

const UNNOTED: Shape = {
  team: isText,
  at: isText,
  counts: (value) => typeof value === 'object' && value !== null && Object.values(value).every(isCount),
}
