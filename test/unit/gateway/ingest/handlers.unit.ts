import { expect, test } from 'vitest'
import { createBatchHandler, createEntryHandler, type HandlerDeps } from '../../../../gateway/ingest/handlers.ts'
import { ENVELOPE } from '../../../../gateway/ingest/replies.ts'
import type { Received } from '../../../../gateway/ingest/request.ts'
import type { Publication } from '../../../../gateway/publisher/publication.ts'
import { problem } from '../../../../shared/contract/errors.ts'
import { runAtOnce } from '../../../support/run-at-once.ts'

const RECORD_BYTES = 10_000
const RECEIVED = {} as Received
const admitted = { id: 'id', team: 'team', publication: { bytes: RECORD_BYTES } as Publication }

function setUp(fields: Partial<HandlerDeps> = {}) {
  const published: number[] = []
  const counted: unknown[] = []
  let [checked, held] = [0, 0]
  const deps: HandlerDeps = {
    ingestMetrics: {
      accepted: (entries) => counted.push(['accepted', entries]),
      rejected: (code) => counted.push(['rejected', code]),
      requestRefused: (code) => counted.push(['refused', code]),
      limited: (reason) => counted.push(['limited', reason]),
    },
    recordRefusals: (_received, refusals) => counted.push(['noted', refusals.length]),
    quotas: { take: () => undefined },
    recordsBytesMax: 1e9,
    publish: async (_team, { length }) => {
      published.push(length)
      return Array.from({ length }, () => 'durable')
    },
    ...fields,
  }
  const check = () => {
    checked += 1
    return { value: admitted }
  }
  const memory = {
    hold: (bytes: number) => {
      held += bytes
      return true
    },
    release: () => {},
  }
  const batch = {
    check: () => ({ value: { team: 'team', count: 100, check } }),
    sent: () => () => null,
    dialect: ENVELOPE,
  }
  return {
    published,
    counted,
    checked: () => checked,
    held: () => held,
    sendEntry: () => runAtOnce(createEntryHandler(check, deps)(RECEIVED, memory)),
    sendBatch: () => runAtOnce(createBatchHandler(batch, deps)(RECEIVED, memory)),
  }
}

test('an entry of which the publisher says nothing may be there, and is no success', async () => {
  const { sendEntry, sendBatch, counted } = setUp({ publish: async () => [] })
  const replies = [await sendEntry(), await sendBatch()]
  for (const { body } of replies)
    expect(JSON.parse(String(body))).toMatchObject({
      success: false,
      error: { code: 'server_error', details: { outcome: 'unknown' } },
    })
  expect(counted).toContainEqual(['accepted', 0])
})

test('a batch beyond the quota is refused as a whole before its entries are checked', () => {
  const take = (team: string, entries: number) => problem('rate_limited', { team, entries })
  const { sendBatch, published, counted, checked } = setUp({ quotas: { take } })
  expect(sendBatch).toThrow(expect.objectContaining({ problem: take('team', 100) }))
  expect([published, checked(), counted]).toEqual([[], 0, []])
})

test('the records of a batch take their bytes once, as far as these are many', async () => {
  const { sendBatch, published, held } = setUp()
  await sendBatch()
  expect(published).toEqual([100])
  expect(held()).toBeGreaterThan(700_000)
  expect(held()).toBeLessThanOrEqual(100 * RECORD_BYTES)
})
