import { afterAll, beforeAll, expect, test } from 'vitest'
import { GROUP_SESSION_MS } from '../stack/kafka-properties.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually, FAULT_SCALE, lasting } from '../support/eventually.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { blockWrites, type FullStack, startFullStack } from '../support/full-stack.ts'
import { metricOf, prove } from '../support/full-stack-ledger.ts'

const PATIENCE_MS = 240_000 * FAULT_SCALE
const ROUNDS = 20

await describeWithBackends(
  'Elasticsearch that fails, full stack',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let proxy: FaultProxy
    let stack: FullStack
    beforeAll(async () => {
      proxy = await startFaultProxy(elasticsearch.url)
      stack = await startFullStack({
        brokers: kafka.brokers,
        elasticsearchUrl: elasticsearch.url,
        consumersSee: proxy.url,
      })
    }, PATIENCE_MS)
    afterAll(async () => {
      await stack?.stop()
      await proxy?.close()
    }, 60_000)

    /** The next so many bulk requests meet the fault; resolves when all of them have. */
    const breakBulks = async (times: number, fault: (count: number) => Fault): Promise<void> => {
      let met = 0
      proxy.inject(({ path }) => (path.startsWith('/_bulk') && met < times ? fault(met++) : undefined))
      await eventually(() => met >= times, 120_000)
    }

    test(
      '429 on 30 % of the items of a bulk, for twenty rounds',
      async () => {
        let items = 0
        const chosen = (): boolean => (items++ * 7) % 10 < 3
        await prove(stack, 'items 429', () =>
          breakBulks(ROUNDS * FAULT_SCALE, () => ({ fault: 'reject-items', chosen })),
        )
      },
      PATIENCE_MS,
    )

    test(
      'whole bulks answered 429 and 503',
      async () => {
        const body = '{"error":{"type":"es_rejected_execution_exception","reason":"full"}}'
        await prove(stack, 'bulks 429 and 503', () =>
          breakBulks(10 * FAULT_SCALE, (count) => ({ fault: 'answer', status: count % 2 === 0 ? 429 : 503, body })),
        )
      },
      PATIENCE_MS,
    )

    test(
      'answers lost after the bulk was carried out',
      async () => {
        await prove(stack, 'answers lost', () => breakBulks(15 * FAULT_SCALE, () => ({ fault: 'lose-answer' })))
      },
      PATIENCE_MS,
    )

    test(
      'a bulk that takes longer than the session of the member that waits for it',
      async () => {
        await prove(stack, 'bulk beyond the session', async (load) => {
          const released = Promise.withResolvers<void>()
          // All bulks wait, repeated ones too, so that no view gets on.
          proxy.inject(({ path }) =>
            path.startsWith('/_bulk') ? { fault: 'hold', until: released.promise } : undefined,
          )
          await lasting((GROUP_SESSION_MS + 5_000) / FAULT_SCALE)
          proxy.inject(() => undefined)
          released.resolve()
          await load.answeredMore(100)
        })
      },
      PATIENCE_MS,
    )

    test(
      'an index that takes no writes, until somebody lifts that',
      async () => {
        await prove(stack, 'read-only indices', async () => {
          await blockWrites(stack, true)
          const isBlocked = async (): Promise<boolean> =>
            (await metricOf(stack.consumers.url(), 'sluice_store_blocked')) > 0
          await eventually(isBlocked, 60_000)
          await lasting(5_000)
          expect(await isBlocked()).toBe(true)
          await blockWrites(stack, null)
          await eventually(async () => !(await isBlocked()), 60_000)
        })
      },
      PATIENCE_MS,
    )
  },
)
