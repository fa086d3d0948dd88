import { test } from 'vitest'
import type { Cluster } from '../../../../../shared/journal/kafka/cluster.ts'
import { findStartingPoints } from '../../../../../shared/journal/kafka/starting-points.ts'
import { connectionTo, testLogger } from '../../../../support/kafka.ts'

test('a look-up ends when its member ends, though no broker answers', async () => {
  const asked = Promise.withResolvers<void>()
  const cluster: Pick<Cluster, 'positionsOf'> = {
    positionsOf: () => {
      asked.resolve()
      return new Promise(() => undefined)
    },
  }
  const stop = new AbortController()
  const { done } = findStartingPoints({
    context: {
      connection: connectionTo([]),
      cluster: cluster as Cluster,
      logger: testLogger,
      closing: new AbortController().signal,
      requestTimeoutMs: 60_000,
      maxWaitMs: 100,
      maxPartitionBytes: 1_000,
    },
    group: 'group',
    partitions: [{ topic: 'logs', partitions: [0] }],
    signal: stop.signal,
    onFound: () => undefined,
    onAllFound: () => undefined,
  })
  await asked.promise
  stop.abort()
  await done
})
