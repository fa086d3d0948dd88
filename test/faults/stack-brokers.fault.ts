import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { topicName } from '../../shared/contract/topics.ts'
import { type SoakServers, soak } from '../soak/soak.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually, FAULT_SCALE, lasting } from '../support/eventually.ts'
import { type FullStack, type Part, startFullStack } from '../support/full-stack.ts'
import { prove } from '../support/full-stack-ledger.ts'
import { type LeaderMoves, leaderMoves, PREFERRED_LEADERS } from '../support/kafka.ts'

const PATIENCE_MS = 300_000 * FAULT_SCALE
const NODES = [1, 2, 3]
const isReady = async ({ url }: Part): Promise<boolean> => (await fetch(`${url()}/health/ready`)).ok
/** Two minutes in the full form. */
const STORE_GONE_MS = FAULT_SCALE > 1 ? 30_000 : 10_000
const needs = { kafka: { brokers: 3, properties: PREFERRED_LEADERS }, elasticsearch: {} } as const

await describeWithBackends('brokers and Elasticsearch that fail, full stack', needs, (servers) => {
  describe('one after the other', () => failOneAfterTheOther(servers))

  test(
    'a soak: two faults at a time, as a seed says',
    async () => {
      const print = (line: string): void => void process.stderr.write(`${line}\n`)
      const rounds = await soak(servers, { seed: 20_261_123, forMs: 30_000 * FAULT_SCALE, print })
      expect(rounds).toBeGreaterThan(0)
    },
    600_000 * FAULT_SCALE,
  )
})

function failOneAfterTheOther({ kafka, elasticsearch }: SoakServers): void {
  let stack: FullStack
  let moves: LeaderMoves
  beforeAll(async () => {
    stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
    moves = leaderMoves(kafka.brokers, topicName(stack.topicPrefix, 'application-logs'))
  }, PATIENCE_MS)
  afterAll(async () => {
    await moves?.close()
    await stack?.stop()
  }, 60_000)

  const leaderOfFirst = async (): Promise<number> => (await moves.leaders())[0] ?? 1
  const leadsNothing = (node: number) => eventually(async () => !(await moves.leaders()).includes(node), 60_000)

  test(
    'the leaders of all partitions move while batches span all partitions',
    () =>
      prove(stack, 'leaders moved', async (load) => {
        for (let round = 0; round < 3 * FAULT_SCALE; round++) {
          await moves.rotate()
          await load.answeredMore(50)
        }
      }),
    PATIENCE_MS,
  )

  test(
    'a leader is frozen and comes back',
    () =>
      prove(stack, 'leader frozen', async () => {
        const leader = await leaderOfFirst()
        await kafka.pause(leader)
        try {
          await leadsNothing(leader)
          await lasting(5_000)
        } finally {
          await kafka.resume(leader)
        }
        await moves.inSync()
      }),
    PATIENCE_MS,
  )

  test(
    'all brokers are killed and come back, one after another',
    () =>
      prove(stack, 'rolling restart', async () => {
        for (const node of NODES) {
          await kafka.kill(node)
          await leadsNothing(node)
          await lasting(1_000)
          await kafka.restart(node)
          await moves.inSync()
        }
      }),
    PATIENCE_MS,
  )

  test(
    'all brokers are frozen at once and come back',
    () =>
      prove(stack, 'all brokers frozen', async () => {
        try {
          await Promise.all(NODES.map((node) => kafka.pause(node)))
          await lasting(8_000)
        } finally {
          // A broker left frozen would fail the faults after this one too.
          await Promise.allSettled(NODES.map((node) => kafka.resume(node)))
        }
        await moves.inSync()
      }),
    PATIENCE_MS,
  )

  test(
    'Elasticsearch is killed and comes back',
    () =>
      prove(stack, 'Elasticsearch stopped', async (load) => {
        await elasticsearch.kill(1)
        await eventually(async () =>
          expect([await isReady(stack.gateway), await isReady(stack.views)]).toEqual([true, false]),
        )
        await lasting(STORE_GONE_MS)
        await load.answeredMore(300)
        await elasticsearch.restart(1)
      }),
    PATIENCE_MS,
  )
}
