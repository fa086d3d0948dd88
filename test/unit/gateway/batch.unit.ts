import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'

const PATH = '/api/ApplicationLogs/batch'
const GOOD = { categoryName: 'Acme.Billing', message: 'paid', level: 'Information' }
const BAD = { ...GOOD, level: 'Loud' }
const batch = (logEntries: unknown) => ({ uniqueIdentifier: PROJECT, logEntries })

interface Listed {
  readonly index: number
  readonly code: string
}

describe('POST /api/ApplicationLogs/batch', () => {
  let gateway: RunningGateway
  const send = async (logEntries: unknown, headers = {}) => (await gateway.post(PATH, batch(logEntries), headers)).body

  beforeAll(async () => {
    gateway = await startGateway({ config: { MAX_BATCH_ENTRIES: 200 } })
  })
  afterAll(() => gateway.close())

  test('all accepted: exactly message and count', async () => {
    expect(await send([GOOD, GOOD, GOOD])).toEqual({
      success: true,
      data: { message: 'Successfully processed 3 log entries', count: 3 },
    })
  })

  test('some accepted: success, with the refused entries by their place', async () => {
    const before = gateway.records().length
    const { success, data } = await send([GOOD, BAD, { ...GOOD, message: null }, 7, GOOD])
    expect(success).toBe(true)
    expect(data).toEqual({
      message: 'Successfully processed 2 of 5 log entries',
      count: 2,
      rejected: 3,
      errors: [
        {
          index: 1,
          code: 'invalid_log_level',
          message: expect.any(String),
          details: { received: 'Loud' },
          retryable: false,
        },
        { index: 2, code: 'missing_message', message: expect.any(String), details: null, retryable: false },
        {
          index: 3,
          code: 'invalid_request',
          message: expect.any(String),
          details: [{ path: '', message: 'must be a JSON object' }],
          retryable: false,
        },
      ],
    })
    expect(gateway.records().length - before).toBe(2)
  })

  test('none accepted: the failure of the first entry, with the list in its details', async () => {
    const { success, error } = await send([{ ...GOOD, categoryName: '' }, BAD])
    expect(success).toBe(false)
    expect(error.code).toBe('missing_category_name')
    expect(error.message).toMatch(
      /^No entry was taken, for the reasons in details\.errors\. The first: categoryName is missing or empty\. /,
    )
    expect(error.details).toEqual({
      rejected: 2,
      errors: [
        expect.objectContaining({ index: 0, code: 'missing_category_name' }),
        expect.objectContaining({ index: 1 }),
      ],
    })
  })

  test('at most 100 refused entries are listed, all are counted', async () => {
    const { data } = await send([...Array(150).fill(BAD), GOOD])
    expect(data).toMatchObject({ count: 1, rejected: 150 })
    expect((data['errors'] as Listed[]).map(({ index }) => index)).toEqual(
      Array.from({ length: 100 }, (_, index) => index),
    )
  })

  test('the batch is stored in its order', async () => {
    const entries = Array.from({ length: 200 }, (_, index) => ({ ...GOOD, message: `in order ${index}` }))
    await send(entries)
    const stored = gateway.stored(-200).map(({ message }) => message)
    expect(stored).toEqual(entries.map(({ message }) => message))
  })

  test('logEntries absent, null or empty is missing_log_entries; what is no array is invalid_request', async () => {
    for (const logEntries of [undefined, null, []])
      expect((await send(logEntries)).error.code).toBe('missing_log_entries')
    for (const logEntries of ['text', 5, {}, true]) {
      const { error } = await send(logEntries)
      expect(error.code).toBe('invalid_request')
      expect(error.details).toEqual([{ path: '/logEntries', message: 'must be a JSON array' }])
    }
  })

  test('over the limit nothing is stored, and the limit is told', async () => {
    const before = gateway.records().length
    const { error } = await send(Array(201).fill(GOOD))
    expect(error).toMatchObject({ code: 'batch_too_large', details: { entries: 201, limit: 200 } })
    expect(error.message).toBe('A batch may have at most 200 entries, not 201. Split the batch.')
    expect((await send(Array(100_000).fill({}))).error.details).toEqual({ entries: 100_000, limit: 200 })
    await send([GOOD])
    expect(gateway.records().length - before).toBe(1)
  })

  test('entries are of the Project named at the top, whatever they say', async () => {
    await send([{ ...GOOD, uniqueIdentifier: 'another' }])
    expect(gateway.stored(-1)).toMatchObject([{ project: PROJECT, team: 'payments' }])
  })
})
