import { expect, test } from 'vitest'
import { flowFact } from '../../../../../consumers/projections/flows.ts'
import type { FlowDelta } from '../../../../../shared/contract/documents.ts'
import type { Bulk } from '../../../../../shared/log-store/elasticsearch/bulk.ts'
import { createFlowWriter } from '../../../../../shared/log-store/elasticsearch/flow-writer.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createLogger } from '../../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../../shared/runtime/metrics.ts'
import { eventLog } from '../../../../support/consumers-records.ts'

const delta = (correlationKey: string): FlowDelta => flowFact(eventLog(1, { correlationKey })) as FlowDelta

test('flows that another writer changed at the same time are written again, and counted', async () => {
  const metrics = createMetrics()
  const written: number[] = []
  const bulk: Pick<Bulk, 'run'> = {
    run: async (items) => {
      const changes = [...items]
      written.push(changes.length)
      // Of the first round one of two is somebody else's.
      return changes.map((_, index) => ({ outcome: written.length === 1 && index === 0 ? 'duplicate' : 'stored' }))
    },
  }
  const merge = createFlowWriter({
    bulk: bulk as Bulk,
    connection: { send: async () => ({ docs: [] }) as never, close: async () => undefined },
    names: indexNames('sluice'),
    logger: createLogger('silent', 'test'),
    metrics,
  })
  await merge([delta('a'), delta('b')], new AbortController().signal)
  expect(written).toEqual([2, 1])
  expect((await metrics.counter('sluice_flow_conflicts_total').get()).values[0]?.value).toBe(1)
})
