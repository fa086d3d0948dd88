import { describe, expect, test } from 'vitest'
import { createApplicationLogCheck } from '../../gateway/ingest/application-log.ts'
import type { Check, CheckDeps } from '../../gateway/ingest/checks.ts'
import { createAdmit } from '../../gateway/ingest/checks.ts'
import { createEventLogCheck } from '../../gateway/ingest/event-log.ts'
import { createRequestContexts } from '../../gateway/ingest/request.ts'
import { compileValidators } from '../../gateway/schemas/validate.ts'
import { CLOUD_EVENTS } from '../../shared/contract/headers.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import { problemsOf, publishedSchemas, schemaCompiler } from '../support/contract-docs.ts'
import * as fc from '../support/fast-check.ts'
import { runsOf } from '../support/fast-check.ts'
import { registryOf } from '../support/registry-topic.ts'

const RUNS = 500
/** A twentieth, so that the property is not kept by refusals alone. */
const ADMITTED_MIN = runsOf(RUNS) / 20
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const KEY = 'a-key-of-the-team-payments'
const registry = registryOf(`
teams: [{ id: payments, apiKeys: [${KEY}] }]
events: [{ identifier: order-placed, team: payments }]
steps:
  - { identifier: order-placed.validate, team: payments, event: order-placed }
  - { identifier: nightly-import, team: payments }
projects: [{ id: ${PROJECT}, team: payments }]
`)
let calls = 0
const deps: CheckDeps = {
  registry,
  registryReady: () => true,
  validators: compileValidators(),
  contextOf: createRequestContexts({ now: () => 1_772_359_200_000 }),
  admit: createAdmit({ valueBytesMax: 1_000_000, isHot: () => calls++ % 2 === 0 }),
  entryBytesMax: 1_000_000,
  batchEntriesMax: 1_000,
  replaceInvalidLevel: true,
  resourceAttributes: [],
}
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('2026-03-01', '2026-03-01T10:00:00.123456789+02:00', 'Größe 😀', '\0'),
)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const level = fc.constantFrom('trace', 'DEBUG', 'Information', 'Warning', 'Error', 'Critical', 'Notice')
const shared = { level, correlationKey: optional(text), environment: optional(text), timestamp: optional(text) }
const eventLogs = fc.record(
  {
    ...shared,
    uniqueIdentifier: fc.constantFrom('order-placed', 'order-placed.validate', 'nightly-import'),
    payload: text,
  },
  { requiredKeys: ['uniqueIdentifier', 'payload', 'level'] },
)
const applicationLogs = fc.record(
  {
    ...shared,
    uniqueIdentifier: fc.constantFrom(PROJECT, `{${PROJECT.toUpperCase()}}`),
    categoryName: text,
    message: text,
    eventId: optional(fc.maxSafeInteger()),
    eventName: optional(text),
    exception: optional(text),
    scopeData: optional(fc.dictionary(text, fc.jsonValue())),
  },
  { requiredKeys: ['uniqueIdentifier', 'categoryName', 'message', 'level'] },
)
const requestHeaders = fc.record({
  'x-api-key': fc.constant(KEY),
  traceparent: fc.constantFrom('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'nonsense'),
  'idempotency-key': fc.constantFrom('', 'retry-1'),
})

const compiled = schemaCompiler(publishedSchemas)

/** How many of the requests the check let through; each of their records has to keep the contract. */
function countAdmitted(kind: EntryKind, check: Check, requests: fc.Arbitrary<object>): number {
  const { dataSchema } = CLOUD_EVENTS[kind]
  const value = compiled(dataSchema)
  const headers = compiled(dataSchema.replace('-record:', '-headers:'))
  let admitted = 0
  fc.assert(
    fc.property(requests, requestHeaders, (json, sent) => {
      const text = JSON.stringify(json)
      const { value: entry } = check({ headers: sent, json, content: text, contentBytes: Buffer.byteLength(text) })
      if (entry === undefined) return
      admitted += 1
      const { record } = entry.publication
      const read = JSON.parse(String(record.value)) as Record<string, unknown>
      expect(problemsOf(value, read)).toEqual([])
      const sentHeaders = { ...record.commonHeaders, ...record.headers }
      expect(problemsOf(headers, sentHeaders)).toEqual([])
      expect(sentHeaders).toMatchObject({ ce_id: read['id'], ce_time: read['timestamp'], ce_dataschema: dataSchema })
      expect(record.headers['ce_partitionkey'] ?? null).toBe(record.key)
      expect(record.key ?? record.headers['x-original-key'] ?? null).toBe(read['correlationKey'])
    }),
    { numRuns: RUNS },
  )
  return admitted
}

describe('what the gateway publishes keeps the published contract', () => {
  test('event logs', () => {
    expect(countAdmitted('event', createEventLogCheck(deps), eventLogs)).toBeGreaterThan(ADMITTED_MIN)
  })

  test('application logs, levels that are replaced included', () => {
    const check = createApplicationLogCheck(deps)
    expect(countAdmitted('application', check, applicationLogs)).toBeGreaterThan(ADMITTED_MIN)
  })
})
