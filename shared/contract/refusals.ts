import { ajv } from './ajv.ts'
import { parseJsonObject } from './json-object.ts'
import { described, flag, objectOf, optionalText, type Static, text } from './json-schema.ts'

/** What a Team is told about a refusal of its entry, or of a whole request. */
export const TOLD = {
  at: text,
  endpoint: described(text, 'The path that was posted to.'),
  code: text,
  message: text,
  details: { description: 'As in the answer to the sender.' },
  index: {
    type: ['integer', 'null'],
    description: 'The place in the batch, from 0; null if the whole request or its only entry was refused.',
  },
  identifier: described(optionalText, 'The identifier that was addressed, from its beginning.'),
  keyPrefix: described(optionalText, 'The first characters of the key that was presented, 6 at most.'),
  userAgent: optionalText,
  body: described(optionalText, 'The body, or the entry of a batch: its first 8 KiB. Null where it was not read.'),
  bodyCut: flag,
} as const

/**
 * A refusal as a gateway notes it on the refusals topic. The topic is internal: gateways write it, views show it, and its records may
 * change with any version.
 */
export type NotedRefusal = Static<typeof NOTED>
const NOTED = objectOf({ kind: { const: 'refusal' }, team: text, ...TOLD })

/** The number of a Team's refusals, by code, that a gateway did not note since its last such record. */
const UNNOTED = objectOf({
  kind: { const: 'unnoted' },
  team: text,
  at: text,
  counts: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
})

const RECORD = { oneOf: [NOTED, UNNOTED] } as const

export type RefusalRecord = Static<typeof RECORD>

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
  return ajv.validate<RefusalRecord>(RECORD, json) ? json : undefined
}
