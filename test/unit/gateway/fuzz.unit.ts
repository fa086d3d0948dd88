import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeApplicationLog, decodeEventLog } from '../../../consumers/decode.ts'
import type { JournalRecord } from '../../../shared/journal/journal.ts'
import { acceptedIn, failureIn } from '../../fuzz/oracle/envelope.ts'
import * as fc from '../../support/fast-check.ts'
import { PROJECT, type RunningGateway, startGateway, TOPICS } from '../../support/gateway.ts'

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
/** Stand for numbers that lose digits in JavaScript, which no value of a test can hold. */
const NUMBERS: Readonly<Record<string, string>> = {
  $integer: '12345678901234567890',
  $whole: '7.0',
  $fraction: '0.1234567890123456789',
  $huge: '1e400',
}
const textOf = (body: unknown): string =>
  JSON.stringify(body).replace(/"(\$[a-z]+)"/g, (text, name) => NUMBERS[name] ?? text)

/** The same body in so many characters that another reader takes it, which keeps all digits. */
const lengthened = (text: string): string => `${text}${' '.repeat(256 * 1024)}`

const number = fc.constantFrom(...Object.keys(NUMBERS))
const value = fc.oneof(
  { weight: 1, arbitrary: fc.oneof(number, fc.record({ id: number, ids: fc.tuple(number) })) },
  { weight: 4, arbitrary: likely },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)
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
    expect(acceptedIn(answer.body) ?? failureIn(answer.body)).toBeDefined()
    if (!answer.body.success) expect(answer.body.error.code).not.toBe('server_error')
  }

  test('any JSON is answered with the envelope, and never with a fault of ours', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), bodies, (path, body) => expectEnvelope(path, textOf(body))),
      { numRuns: 300 },
    )
  })

  test('a long body, whose reader keeps all digits, is judged as a short one', async () => {
    const judged = async (path: string, text: string) => {
      const { status, body } = await gateway.post(path, text)
      const { data } = body as { data?: object }
      return { status, ...body, data: { ...data, id: null }, traceId: null }
    }
    const numbers = Object.keys(NUMBERS)
    const values = numbers.flatMap((number) => [number, { id: number }, [number]])
    const application = { uniqueIdentifier: PROJECT, categoryName: 'x', message: 'x', level: 'Error' }
    const event = { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error' }
    for (const field of FIELDS) {
      const logEntries = values.flatMap((value) => [{ ...application, [field]: value }, value])
      for (const [path, body] of [
        ...values.map((value) => ['/api/ExternalLogs', { ...event, [field]: value }] as const),
        ...numbers.map((number) => ['/api/ApplicationLogs', { ...application, [field]: number }] as const),
        ['/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries }] as const,
      ]) {
        const text = textOf(body)
        expect(await judged(path, lengthened(text)), text).toEqual(await judged(path, text))
      }
    }
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

  test('whatever is accepted is one record each, which consumers can read', async () => {
    const accepted = (await gateway.metrics.counter('sluice_entries_accepted_total').get()).values
    expect(accepted.reduce((sum, { value: count }) => sum + count, 0)).toBe(gateway.records().length)
    expect(gateway.records().length).toBeGreaterThan(0)
    for (const { topic, records } of gateway.journal.batches) {
      const decode = topic === TOPICS[0] ? decodeEventLog : decodeApplicationLog
      for (const { value } of records)
        expect(decode({ value: Buffer.from(String(value)) } as JournalRecord)).toMatchObject({ outcome: 'decoded' })
    }
  })
})
