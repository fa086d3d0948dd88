import { ajv } from './ajv.ts'
import { jsonRecord } from './headers.ts'
import { parseJsonObject } from './json-object.ts'
import { objectOf, type Static, text } from './json-schema.ts'
import { REFUSAL_FACTS } from './refusal-facts.ts'

/**
 * A refusal as a gateway notes it on the refusals topic. The topic is internal: gateways write it, views show it, and its records may
 * change with any version.
 */
export type NotedRefusal = Static<typeof NOTED>
const NOTED = objectOf({ kind: { const: 'refusal' }, team: text, ...REFUSAL_FACTS })

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
export const encodeRefusal = (record: RefusalRecord) => jsonRecord(null, record)

/** Reads a record of the topic; undefined for anything that a gateway of this version did not write. */
export function decodeRefusal(value: Buffer | null): RefusalRecord | undefined {
  const json = parseJsonObject(String(value))
  return ajv.validate<RefusalRecord>(RECORD, json) ? json : undefined
}
