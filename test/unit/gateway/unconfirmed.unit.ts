import { describe, expect, test } from 'vitest'
import { partitionOf } from '../../../shared/contract/partitioner.ts'
import { AppendError } from '../../../shared/journal/journal.ts'
import { eventually } from '../../support/eventually.ts'
import { type GatewayOptions, PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'

const EVENT = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' }
const ENTRY = { categoryName: 'Acme', message: 'paid', level: 'Error' }

async function withGateway(options: GatewayOptions, use: (gateway: RunningGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway(options)
  try {
    await use(gateway)
  } finally {
    await gateway.close()
  }
}
const sendEvent = (gateway: RunningGateway, headers = {}) => gateway.post('/api/ExternalLogs', EVENT, headers)
const sendBatch = (gateway: RunningGateway, logEntries: readonly object[], headers = {}) =>
  gateway.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries }, headers)

const serverError = (outcome: string, message: RegExp) => ({
  success: false,
  error: { code: 'server_error', message: expect.stringMatching(message), details: { outcome }, retryable: true },
})

describe('success is told only of what the journal confirmed', () => {
  test.each([
    ['not_written', /did not take the entry/],
    ['unknown', /failed before it confirmed/],
  ] as const)('an append that fails as %s', async (outcome, message) => {
    await withGateway({}, async (gateway) => {
      gateway.journal.fail(outcome)
      const { status, body, headers } = await sendEvent(gateway)
      expect([status, headers.get('retry-after')]).toEqual([200, '1'])
      expect(body).toEqual(serverError(outcome, message))
    })
  })

  test('an entry with more bytes than its topic takes: too large for good, with the limit', async () => {
    await withGateway({}, async (gateway) => {
      const refused = new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax: 250 })
      gateway.journal.append = () => Promise.reject(refused)
      const message = expect.stringMatching(/topic takes at most 250 bytes at once \(max\.message\.bytes\)/)
      const error = { code: 'entry_too_large', message, details: { limit: 250 }, retryable: false }
      expect((await sendEvent(gateway)).body).toEqual({ success: false, error })
    })
  })

  test('an append that does not settle in time: unknown', async () => {
    await withGateway({ config: { REQUEST_DEADLINE_MS: 100 } }, async (gateway) => {
      gateway.journal.hold()
      expect((await sendEvent(gateway)).body).toEqual(serverError('unknown', /did not confirm the entry in time/))
    })
  })

  test('an entry that waits behind it until its deadline: not_written, and it is never sent', async () => {
    const options = { config: { REQUEST_DEADLINE_MS: 100 }, publisher: { sendsInFlightMax: 1, sendTimeoutMs: 60_000 } }
    await withGateway(options, async (gateway) => {
      gateway.journal.hold()
      const sent = sendEvent(gateway)
      await eventually(() => gateway.journal.attempts.length === 1)
      expect((await sendEvent(gateway)).body).toEqual(
        serverError('not_written', /could not be handed to the journal in time/),
      )
      await sent
      gateway.journal.release()
      await eventually(async () => expect((await sendEvent(gateway)).body.success).toBe(true))
      expect(gateway.journal.attempts.flatMap(({ records }) => records)).toHaveLength(2)
    })
  })

  test('a full buffer: refused at once, whole requests only', async () => {
    await withGateway({ publisher: { bufferBytesMax: 5_000 } }, async (gateway) => {
      gateway.journal.hold()
      const held = sendEvent(gateway)
      await eventually(() => gateway.journal.attempts.length === 1)
      const { body } = await sendBatch(gateway, Array(10).fill(ENTRY))
      expect(body.error).toMatchObject({ code: 'server_error', details: { outcome: 'not_written', rejected: 10 } })
      expect(body.error.message).toMatch(/Too many entries wait/)
      expect((await gateway.metrics.registry.metrics()).match(/^sluice_publish_queue_bytes (\d+)/m)?.[1]).not.toBe('0')
      gateway.journal.release()
      expect((await held).body.success).toBe(true)
      expect((await sendBatch(gateway, Array(10).fill(ENTRY))).body.success).toBe(true)
      expect(await gateway.metrics.registry.metrics()).toMatch(/^sluice_publish_queue_bytes 0$/m)
    })
  })

  test('memory stays held while an append hangs, though its sender was answered', async () => {
    const options = { config: { REQUEST_DEADLINE_MS: 100 }, publisher: { bufferBytesMax: 2_000, sendTimeoutMs: 100 } }
    await withGateway(options, async (gateway) => {
      gateway.journal.hold()
      const big = { ...EVENT, payload: 'x'.repeat(1_500) }
      expect((await gateway.post('/api/ExternalLogs', big)).body).toEqual(serverError('unknown', /in time/))
      expect((await gateway.post('/api/ExternalLogs', big)).body).toEqual(serverError('not_written', /Too many/))
      gateway.journal.release()
      await eventually(async () => expect((await gateway.post('/api/ExternalLogs', big)).body.success).toBe(true))
    })
  })

  test('an open breaker: refused at once, and it closes when the journal works again', async () => {
    const breaker = { failuresPercent: 50, sendsMin: 3, windowMs: 10_000, openMs: 500 }
    await withGateway({ publisher: { breaker } }, async (gateway) => {
      gateway.journal.fail('not_written')
      await eventually(async () =>
        expect((await sendEvent(gateway)).body).toEqual(serverError('not_written', /sending is paused/)),
      )
      expect(await gateway.metrics.registry.metrics()).toMatch(
        /^sluice_publish_breaker_state\{topic=".*event-logs.*"\} [12]$/m,
      )
      gateway.journal.fail(null)
      await eventually(async () => expect((await sendEvent(gateway)).body.success).toBe(true))
      expect(await gateway.metrics.registry.metrics()).toMatch(
        /^sluice_publish_breaker_state\{topic=".*event-logs.*"\} 0$/m,
      )
    })
  })

  test('a gateway that stops: what was taken is answered, what comes is refused', async () => {
    await withGateway({}, async (gateway) => {
      gateway.journal.hold()
      const taken = sendEvent(gateway)
      await eventually(() => gateway.journal.attempts.length === 1)
      const stopped = gateway.publisher.stop(Date.now() + 10_000)
      expect((await sendEvent(gateway)).body).toEqual(serverError('not_written', /starting or stopping/))
      gateway.journal.release()
      expect((await taken).body.success).toBe(true)
      await stopped
    })
  })

  test('a registry that is not read to its end: server_error in the place of what is not found', async () => {
    await withGateway({ registryReady: () => false }, async (gateway) => {
      expect((await sendEvent(gateway)).body).toEqual(serverError('not_written', /registry is still being read/))
      const { body } = await gateway.post('/api/ExternalLogs', { ...EVENT, level: 'Loud' })
      expect(body.error.code).toBe('invalid_log_level')
      expect((await sendBatch(gateway, [ENTRY])).body).toEqual(serverError('not_written', /registry/))
      expect((await sendBatch(gateway, [ENTRY], { 'x-api-key': '' })).body.error.code).toBe('missing_api_key')
    })
  })

  test('a fault of ours: server_error, outcome unknown, and the server lives on', async () => {
    const registry = {
      entity: () => {
        throw new Error('a fault')
      },
    } as never
    await withGateway({ registry }, async (gateway) => {
      expect((await sendEvent(gateway)).body).toEqual(serverError('unknown', /The gateway failed/))
      expect((await sendEvent(gateway, { 'x-strict-status': 'true' })).status).toBe(503)
    })
  })
})

describe('a batch that the journal confirms in part', () => {
  const keys = ['flow-1', 'flow-2', 'flow-3', 'flow-4']
  const entries = keys.map((correlationKey) => ({ ...ENTRY, correlationKey }))
  const failing = partitionOf('flow-2', 12)

  test('its other entries are accepted; those are in the list, retryable, with Retry-After', async () => {
    await withGateway({}, async (gateway) => {
      gateway.journal.fail('unknown', failing)
      const refused = keys.flatMap((key, index) => (partitionOf(key, 12) === failing ? [index + 1] : []))
      const { body, headers } = await sendBatch(gateway, [{ ...ENTRY, level: 'Loud' }, ...entries])
      expect(headers.get('retry-after')).toBe('1')
      expect(body).toMatchObject({
        success: true,
        data: { count: keys.length - refused.length, rejected: refused.length + 1 },
      })
      expect(body.data['errors']).toEqual([
        expect.objectContaining({ index: 0, code: 'invalid_log_level', retryable: false }),
        ...refused.map((index) =>
          expect.objectContaining({ index, code: 'server_error', details: { outcome: 'unknown' }, retryable: true }),
        ),
      ])
    })
  })

  test('of nothing: the outcome of all of them together', async () => {
    await withGateway({}, async (gateway) => {
      gateway.journal.fail('not_written')
      expect((await sendBatch(gateway, entries)).body.error.details).toMatchObject({
        outcome: 'not_written',
        rejected: 4,
      })
      gateway.journal.fail('unknown')
      expect((await sendBatch(gateway, entries)).body.error.details).toMatchObject({ outcome: 'unknown', rejected: 4 })
    })
  })

  test('an entry refused first and one that may be sent again: Retry-After all the same', async () => {
    await withGateway({}, async (gateway) => {
      gateway.journal.fail('not_written')
      const { body, headers } = await sendBatch(gateway, [{ ...ENTRY, level: 'Loud' }, ENTRY])
      expect(body.error).toMatchObject({ code: 'invalid_log_level', retryable: false })
      expect(headers.get('retry-after')).toBe('1')
    })
  })
})
