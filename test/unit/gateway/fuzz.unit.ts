import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEYWORDS } from '../../../gateway/schemas/keywords.ts'
import * as fc from '../../support/fast-check.ts'
import { type RunningGateway, startGateway } from '../../support/gateway.ts'
import { PROJECT } from '../../support/gateway-registry.ts'
import {
  CREATED_SCHEMA,
  FAILURE_SCHEMA,
  PROCESSED_SCHEMA,
  REFUSED_ENTRY_SCHEMA,
} from '../../support/gateway-responses.ts'

const PATHS = ['/api/ExternalLogs', '/api/ApplicationLogs', '/api/ApplicationLogs/batch']
const FIELDS = [
  'uniqueIdentifier',
  'payload',
  'level',
  'categoryName',
  'message',
  'eventId',
  'eventName',
  'exception',
  'scopeData',
  'correlationKey',
  'environment',
  'timestamp',
  'logEntries',
  '__proto__',
  'toString',
]

const ajv = new Ajv2020({ formats: { uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ } })
for (const { keyword } of KEYWORDS) if (keyword !== 'minLength') ajv.addKeyword(String(keyword))
ajv.addSchema(REFUSED_ENTRY_SCHEMA)
const compiled = (schema: AnySchemaObject) => ajv.compile(schema)
const isEnvelope = [CREATED_SCHEMA, PROCESSED_SCHEMA, FAILURE_SCHEMA].map(compiled)

/** Values that are right more often than chance would have it, so that requests get past the first checks. */
const likely = fc.constantFrom<unknown>(
  'order-placed',
  PROJECT,
  'Error',
  'x',
  '',
  null,
  0,
  -1,
  1e300,
  '2026-01-31',
  {},
  [],
  true,
  '\0',
  '\ud800',
)
const value = fc.oneof({ weight: 4, arbitrary: likely }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) })
const fields = fc.dictionary(fc.constantFrom(...FIELDS), value)
const good = fc.constantFrom(
  { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error' },
  { uniqueIdentifier: PROJECT, categoryName: 'x', message: 'x', level: 'Error' },
)
const bodies = fc.oneof(
  fields,
  fc.tuple(good, fields).map(([base, more]) => ({ ...base, ...more })),
  fc
    .array(
      fc.tuple(good, fields).map(([base, more]) => ({ ...base, ...more })),
      { maxLength: 5 },
    )
    .map((logEntries) => ({ uniqueIdentifier: PROJECT, logEntries })),
  fc.jsonValue(),
)

describe('whatever is sent', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway()
    // An entry that is accepted in any case.
    await gateway.post(
      '/api/ExternalLogs',
      JSON.stringify({ uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error' }),
    )
  })
  afterAll(() => gateway.close())

  const expectEnvelope = async (path: string, body: string | Uint8Array, headers = {}): Promise<void> => {
    const answer = await gateway.post(path, body, headers)
    expect(isEnvelope.some((validate) => validate(answer.body))).toBe(true)
    if (!answer.body.success) expect(answer.body.error.code).not.toBe('server_error')
  }

  test('any JSON is answered with the envelope, and never with a fault of ours', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), bodies, (path, body) => expectEnvelope(path, JSON.stringify(body))),
      { numRuns: 300 },
    )
  })

  test('any bytes, under any encoding, too', async () => {
    const coding = fc.constantFrom('', 'gzip', 'deflate', 'br', 'zstd', 'identity')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PATHS),
        coding,
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        (path, encoding, bytes) => expectEnvelope(path, bytes, { 'content-encoding': encoding }),
      ),
      { numRuns: 100 },
    )
  })

  test('whatever is accepted is one record each, whose value is JSON', async () => {
    const accepted = (await gateway.metrics.counter('sluice_entries_accepted_total').get()).values
    expect(accepted.reduce((sum, { value: count }) => sum + count, 0)).toBe(gateway.records().length)
    expect(gateway.records().length).toBeGreaterThan(0)
    for (const record of gateway.records()) expect(() => JSON.parse(String(record.value))).not.toThrow()
  })
})
