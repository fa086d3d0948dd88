import { describe, expect, test } from 'vitest'
import * as fc from '../../support/fast-check.ts'
import { OTHER_KEY, PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'

const ENTRY = { categoryName: 'Acme', message: 'paid', level: 'Error' }
const BATCH = '/api/ApplicationLogs/batch'

type Counter = 'sluice_entries_accepted_total' | 'sluice_entries_rejected_total' | 'sluice_requests_refused_total'

/** The values of a counter: its label values, sorted and joined, with the count of each. */
async function counted(gateway: RunningGateway, name: Counter): Promise<Record<string, number>> {
  const { values } = await gateway.metrics.counter(name).get()
  const rows = values.map(({ labels, value }) => [Object.values(labels).join(' '), value] as const)
  return Object.fromEntries(rows.filter(([, value]) => value > 0))
}
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, value) => sum + value, 0)

describe('metrics', () => {
  test('each entry that was looked at is accepted or rejected, once, under the code that its sender was told', async () => {
    const gateway = await startGateway()
    const entry = fc.constantFrom<unknown>(
      ENTRY,
      { ...ENTRY, correlationKey: 'flow-1' },
      { ...ENTRY, correlationKey: 'flow-2' },
      { ...ENTRY, level: 'Loud' },
      { ...ENTRY, message: '' },
      { ...ENTRY, eventId: 'x' },
      { ...ENTRY, timestamp: 'x' },
      null,
    )
    const failures = fc.constantFrom(null, 'not_written' as const, 'unknown' as const)
    let received = 0
    const told: Record<string, number> = {}
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 30 }), failures, async (logEntries, failure) => {
        gateway.journal.fail(failure, 7)
        const { body } = await gateway.post(BATCH, { uniqueIdentifier: PROJECT, logEntries })
        received += logEntries.length
        const { errors } = (body.success ? body.data : body.error.details) as { errors?: readonly { code: string }[] }
        for (const { code } of errors ?? []) told[`application ${code}`] = (told[`application ${code}`] ?? 0) + 1
        const accepted = await counted(gateway, 'sluice_entries_accepted_total')
        const rejected = await counted(gateway, 'sluice_entries_rejected_total')
        expect(rejected).toEqual(told)
        expect(total(accepted) + total(rejected)).toBe(received)
        expect(total(accepted)).toBe(gateway.records().length)
      }),
      { numRuns: 40 },
    )
    expect(await counted(gateway, 'sluice_requests_refused_total')).toEqual({})
    await gateway.close()
  })

  test('a single entry counts as one, refused or not', async () => {
    const gateway = await startGateway()
    const event = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Error' }
    await gateway.post('/api/ExternalLogs', event)
    await gateway.post('/api/ExternalLogs', event, { 'x-api-key': '' })
    await gateway.post('/api/ApplicationLogs', { uniqueIdentifier: PROJECT, ...ENTRY })
    await gateway.post('/api/ApplicationLogs', { uniqueIdentifier: 'x', ...ENTRY })
    expect(await counted(gateway, 'sluice_entries_accepted_total')).toEqual({ event: 1, application: 1 })
    expect(await counted(gateway, 'sluice_entries_rejected_total')).toEqual({
      'event missing_api_key': 1,
      'application invalid_project_id': 1,
    })
    await gateway.close()
  })

  test('a request refused before its entries were looked at is counted by itself', async () => {
    const gateway = await startGateway({ config: { MAX_BODY_BYTES: 2_000 } })
    await gateway.post('/api/ExternalLogs', '{')
    await gateway.post('/api/ApplicationLogs', 'x'.repeat(3_000))
    await gateway.post(BATCH, { uniqueIdentifier: PROJECT, logEntries: [ENTRY] }, { 'x-api-key': OTHER_KEY })
    await gateway.post(BATCH, { uniqueIdentifier: PROJECT, logEntries: Array(101).fill({}) })
    expect(await counted(gateway, 'sluice_requests_refused_total')).toEqual({
      malformed_json: 1,
      payload_too_large: 1,
      invalid_api_key: 1,
      batch_too_large: 1,
    })
    expect(await counted(gateway, 'sluice_entries_rejected_total')).toEqual({})
    await gateway.close()
  })

  test('micro-batches are measured: how long, and how many records', async () => {
    const gateway = await startGateway()
    await gateway.post(BATCH, { uniqueIdentifier: PROJECT, logEntries: Array(30).fill(ENTRY) })
    const text = await gateway.metrics.registry.metrics()
    expect(text).toMatch(/^sluice_publish_batch_records_sum 30$/m)
    expect(text).toMatch(/^sluice_publish_seconds_count 1$/m)
    await gateway.close()
  })
})
