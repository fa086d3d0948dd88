import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { createEndpoint, sendResponse } from '../../../../gateway/ingest/endpoint.ts'
import { createIngestMetrics } from '../../../../gateway/ingest/handlers.ts'
import { created, ENVELOPE } from '../../../../gateway/ingest/replies.ts'
import { type Cooperative, runSteps, type Steps } from '../../../../shared/runtime/cooperative.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { runAtOnce } from '../../../support/run-at-once.ts'

/** The queues of the work that was put off, and the answer, where a short body takes so many steps. */
async function putOff(
  steps: number,
  memory = { hold: (_bytes: number) => true, release: () => undefined },
  begin: Cooperative['begin'] = runSteps,
) {
  const queues: string[] = []
  const content = '{"a,b":[1,2]}'
  const body = { value: { owner: 'shop', content, contentBytes: content.length, memory } }
  let answered = ''
  function* parse(): Steps<{ value: unknown }> {
    yield
    return { value: {} }
  }
  const endpoint = createEndpoint<string, IncomingMessage, ServerResponse>(
    function* () {
      for (let step = 0; step < steps; step += 1) yield
      return Promise.resolve(created('id-1'))
    },
    {
      read: () => Promise.resolve(body) as never,
      parse,
      cooperative: {
        begin,
        run: (owner, work, length = 'long') => {
          queues.push(`${owner}, ${length}`)
          return Promise.resolve(runAtOnce(work))
        },
      },
      send: sendResponse,
      dialect: ENVELOPE,
      ingestMetrics: createIngestMetrics(createMetrics(), 'event'),
      recordRefusals: () => undefined,
      logger: createLogger('silent', 'test'),
    },
  )
  const response = { writeHead: () => response, setHeader: () => response, end: (text: unknown) => (answered += text) }
  await endpoint({ headers: {} } as IncomingMessage, response as unknown as ServerResponse)
  return { queues, answered }
}

const CREATED = expect.stringContaining('id-1')

test('a request is worked off at once', async () => {
  expect(await putOff(200)).toEqual({ queues: [], answered: CREATED })
})

test('a short body with thousands of entries is worked off in slices, and answered alike', async () => {
  expect(await putOff(2_500)).toEqual({ queues: ['shop, long'], answered: CREATED })
})

test('a short body is not put off if there is no room for its values beside those of others', async () => {
  const memory = { hold: vi.fn(() => false), release: vi.fn() }
  expect(await putOff(2_500, memory)).toEqual({ queues: [], answered: expect.stringContaining('"not_written"') })
  expect([memory.hold.mock.calls, memory.release.mock.calls.length]).toEqual([[[3 * 64]], 1])
})

test('a request that comes when the turn has no time left is put off as it came, apart from long ones', async () => {
  const memory = { hold: vi.fn(() => false), release: vi.fn() }
  expect(await putOff(1, memory, () => undefined)).toEqual({ queues: ['shop, short'], answered: CREATED })
  expect([memory.hold.mock.calls.length, memory.release.mock.calls.length]).toEqual([0, 1])
})
