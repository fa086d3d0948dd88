import { expect, test } from 'vitest'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { FAULT_SCALE, lasting } from '../support/fault-scale.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { type LeaderMoves, leaderMoves, PREFERRED_LEADERS } from '../support/kafka-moves.ts'
import { startTraffic, type Traffic } from '../support/kafka-traffic.ts'
import { ledgerLine } from '../support/ledger.ts'

const ROUNDS = 6 * FAULT_SCALE
/** In the short form one of them, as stack-brokers.fault restarts all three. */
const KILLED = FAULT_SCALE > 1 ? [1, 2, 3] : [3]
const DELIVERY_TIMEOUT_MS = 9_000
const PATIENCE_MS = 180_000 * FAULT_SCALE

const needs = { kafka: { brokers: 3, properties: PREFERRED_LEADERS } } as const

await describeWithBackends('three brokers, and appends to all partitions meanwhile', needs, ({ kafka }) => {
  /** Traffic on a topic of its own while `fault` happens; afterwards nothing acknowledged may be missing, on the topic or to the group. */
  const prove = async (name: string, fault: (moves: LeaderMoves, traffic: Traffic, topic: string) => Promise<void>) => {
    const journal = openKafka(kafka.brokers, { deliveryTimeoutMs: DELIVERY_TIMEOUT_MS })
    const [topic, group] = [uniqueName('faults'), uniqueName('group')]
    await journal.createTopics([
      { name: topic, role: 'event-logs', partitions: 6, cleanup: 'delete', retentionMs: null },
    ])
    const moves = leaderMoves(kafka.brokers, topic)
    const traffic = await startTraffic(journal, topic, group)
    try {
      await eventually(() => traffic.ledger.answeredCount() > 1_000 && traffic.read.length > 0, 60_000)
      await fault(moves, traffic, topic)
      const answered = traffic.ledger.answeredCount()
      await eventually(() => traffic.ledger.answeredCount() > answered + 1_000, 60_000)
      const result = await traffic.settle()
      process.stderr.write(`${ledgerLine(name, result)}, failures ${JSON.stringify(traffic.failures())}\n`)
      expect(result.missing).toEqual([])
      expect(result.strangers).toEqual([])
      expect(traffic.failures().longestMs).toBeLessThan(DELIVERY_TIMEOUT_MS + 1_000)
      const isAtEnd = async () =>
        (await journal.positions(topic, group)).every(({ committed, endPosition }) => committed === endPosition)
      const caughtUp = eventually(
        async () => (await isAtEnd()) && traffic.ledger.settle(traffic.read).missing.length === 0,
        60_000,
      )
      await Promise.race([caughtUp, traffic.subscription.done])
      await caughtUp
      await traffic.subscription.close()
      // A leader that was just elected has no end to tell yet.
      await eventually(isAtEnd, 60_000)
    } finally {
      await moves.close()
      await journal.close()
    }
  }

  test(
    'while the leaders of all partitions move, again and again',
    () =>
      prove('leader moves', async (moves) => {
        for (let round = 0; round < ROUNDS; round++) await moves.rotate()
      }),
    PATIENCE_MS,
  )

  /** A client that comes now finds brokers that answer, whichever of its list does not, and is handed the first records. */
  const readAnew = async (topic: string) => {
    const journal = openKafka(kafka.brokers)
    try {
      const group = uniqueName('group')
      let handed = 0
      await journal.subscribe({ group, topics: [topic], recordsMax: 500 }, async ({ records }) => {
        handed += records.length
      })
      await eventually(() => handed > 0, 60_000)
      await eventually(async () => (await journal.positions(topic, group)).length > 0, 60_000)
    } finally {
      await journal.close()
    }
  }

  for (const node of [1, 2]) {
    test(
      `while broker ${node} is frozen, longer than its session and than an append may take`,
      () =>
        prove(`broker ${node} frozen`, async (moves, traffic, topic) => {
          await kafka.pause(node)
          try {
            await eventually(async () => !(await moves.leaders()).includes(node), 60_000)
            const read = traffic.read.length
            await Promise.all([readAnew(topic), eventually(() => traffic.read.length > read + 1_000, 60_000)])
            // Of life without it, as the journal sees it.
            await lasting(10_000)
          } finally {
            await kafka.resume(node)
          }
          await moves.inSync()
        }),
      PATIENCE_MS,
    )
  }

  test(
    'while brokers are killed and come back, one after another',
    () =>
      prove('brokers killed', async (moves) => {
        for (const node of KILLED) {
          await kafka.kill(node)
          await eventually(async () => !(await moves.leaders()).includes(node), 60_000)
          await kafka.restart(node)
          await moves.inSync()
        }
      }),
    PATIENCE_MS,
  )
})
