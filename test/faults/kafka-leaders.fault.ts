import { setTimeout as delay } from 'node:timers/promises'
import { Admin, Consumer } from '@platformatic/kafka'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { AppendError, type Journal, type Subscription } from '../../shared/journal/journal.ts'
import { createKafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { describeWithBackends, type KafkaServers } from '../support/backends.ts'
import { eventually, FAULT_SCALE, lasting } from '../support/eventually.ts'
import { recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import {
  connectionTo,
  type LeaderMoves,
  leaderMoves,
  openKafka,
  PREFERRED_LEADERS,
  uniqueName,
} from '../support/kafka.ts'
import { createLedger, type Ledger, type LedgerResult, ledgerLine } from '../support/ledger.ts'

const ROUNDS = 6 * FAULT_SCALE
/** In the short form one of them, as stack-brokers.fault restarts all three. */
const KILLED = FAULT_SCALE > 1 ? [1, 2, 3] : [3]
const DELIVERY_TIMEOUT_MS = 9_000
const PATIENCE_MS = 180_000 * FAULT_SCALE
const VICTIM = 3
/** Longer than the brokers take to notice that one of them is gone. */
const STALL_MS = 10_000
const MADE_ANEW = 'a group member is made anew'

const needs = { kafka: { brokers: 3, properties: PREFERRED_LEADERS } } as const

/** Continuous writers and one reading group member, while something happens to the brokers. */
interface Traffic {
  readonly ledger: Ledger
  /** Marks that were delivered to the group, including repeats. */
  readonly read: readonly string[]
  /** Failed appends by outcome, and the longest duration of an append in milliseconds. */
  failures(): { readonly not_written: number; readonly unknown: number; readonly longestMs: number }
  /** Stops the writers and compares the acknowledged records with the topic. */
  settle(): Promise<LedgerResult>
  subscription: Subscription
}

const RECORDS = 20
/** Between two appends to a partition: without it they would take the brokers half a million records while one of them is frozen. */
const PACE_MS = 20
/** How long acknowledged records may take to become visible. */
const SETTLE_MS = 60_000

async function startTraffic(journal: Journal, topic: string, group: string, paceMs: number): Promise<Traffic> {
  const ledger = createLedger()
  const read: string[] = []
  const failed = { not_written: 0, unknown: 0, longestMs: 0 }
  let running = true
  let count = 0

  const write = async (partition: number): Promise<void> => {
    while (running) {
      const marks = Array.from({ length: RECORDS }, () => `${partition}-${count++}`)
      for (const mark of marks) ledger.sent(mark)
      const startedAt = performance.now()
      try {
        const records = marks.map((value) => ({ key: null, value, headers: { ce_id: value } }))
        await journal.append({ topic, partition, records })
        for (const mark of marks) ledger.answered(mark)
      } catch (error) {
        if (!(error instanceof AppendError)) throw error
        failed[error.outcome]++
      }
      failed.longestMs = Math.max(failed.longestMs, performance.now() - startedAt)
      await delay(paceMs)
    }
  }
  const partitions = await journal.partitionCount(topic)
  const writers = Promise.all(Array.from({ length: partitions }, (_, partition) => write(partition)))
  const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 500 }, async (batch) => {
    read.push(...batch.records.map(({ value }) => String(value)))
    await batch.commit((batch.records.at(-1)?.offset ?? 0) + 1)
  })
  return {
    ledger,
    read,
    subscription,
    failures: () => failed,
    settle: async () => {
      running = false
      await writers
      let result: LedgerResult | undefined
      // A leader that was frozen resumes its old state until it learns that it was replaced, and reports an outdated end.
      await eventually(async () => {
        const stored: string[] = []
        for await (const { value } of journal.scan(topic)) stored.push(String(value))
        result = ledger.settle(stored)
        if (result.missing.length > 0) throw new Error(`${result.missing.length} records are missing`)
      }, SETTLE_MS).catch((error) => {
        if (result === undefined) throw error
      })
      return result as LedgerResult
    },
  }
}

await describeWithBackends('three brokers', needs, ({ kafka }) => {
  describe('and appends to all partitions meanwhile', () => appendsMeanwhile(kafka))
  describe('and a partition whose only broker is killed', () => onlyBrokerKilled(kafka))
})

function appendsMeanwhile(kafka: KafkaServers): void {
  /** Traffic on a topic of its own while `fault` happens; afterwards nothing acknowledged may be missing, on the topic or to the group. */
  const prove = async (
    name: string,
    fault: (moves: LeaderMoves, traffic: Traffic, topic: string) => Promise<void>,
    paceMs = PACE_MS,
  ) => {
    const journal = openKafka(kafka.brokers, { deliveryTimeoutMs: DELIVERY_TIMEOUT_MS })
    const [topic, group] = [uniqueName('faults'), uniqueName('group')]
    await journal.createTopics([
      { name: topic, role: 'event-logs', partitions: 6, cleanup: 'delete', retentionMs: null },
    ])
    const moves = leaderMoves(kafka.brokers, topic)
    const traffic = await startTraffic(journal, topic, group, paceMs)
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
      prove(
        'leader moves',
        async (moves) => {
          for (let round = 0; round < ROUNDS; round++) await moves.rotate()
        },
        0,
      ),
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
}

function onlyBrokerKilled(kafka: KafkaServers): void {
  const clientOf = { clientId: 'test', bootstrapBrokers: [...kafka.brokers], retries: 10, retryDelay: 200 }

  /** A topic that has its partitions on these brokers, the first of each of which leads it. */
  const createOn = async (...brokers: readonly number[][]): Promise<string> => {
    const topic = uniqueName('placed')
    const admin = new Admin(clientOf)
    await admin.createTopics({
      topics: [topic],
      partitions: -1,
      replicas: -1,
      assignments: brokers.map((each, partition) => ({ partition, brokers: each })),
      configs: [
        { name: 'min.insync.replicas', value: '1' },
        { name: 'unclean.leader.election.enable', value: 'true' },
      ],
    })
    await admin.close()
    return topic
  }
  const coordinatorOf = async (group: string): Promise<number> => {
    const consumer = new Consumer({ ...clientOf, groupId: group })
    try {
      return await consumer.findGroupCoordinator()
    } finally {
      await consumer.close(true)
    }
  }
  /** A group that the broker which is killed coordinates, or does not. */
  const groupBy = async (chosen: (coordinator: number) => boolean): Promise<string> => {
    let group = ''
    await eventually(async () => {
      group = uniqueName('group')
      return chosen(await coordinatorOf(group))
    }, 60_000)
    return group
  }

  const read = async (topic: string, group: string) => {
    const warnings: { readonly msg: string; readonly partitions?: string; readonly reason?: string }[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
    const journal = createKafkaJournal({
      connection: connectionTo(kafka.brokers),
      clock: systemClock,
      logger,
      options: { stallTimeoutMs: STALL_MS },
    })
    const values: (string | undefined)[] = []
    const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, async (batch) => {
      values.push(...valuesOf(batch.records))
      await batch.commit((batch.records.at(-1)?.offset ?? -1) + 1)
    })
    return {
      journal,
      subscription,
      warnings,
      values,
      has: (...all: string[]) => all.every((one) => values.includes(one)),
    }
  }

  test('after an unclean election, groups read what took the place of the lost records they had read', async () => {
    const [behind, other] = [1, 2]
    const topic = await createOn([VICTIM, behind])
    const writer = openKafka(kafka.brokers)
    const append = (name: string, count: number) =>
      eventually(() => writer.append({ topic, partition: 0, records: recordsOf(name, count) }), 60_000)
    const groupOfOther = () => groupBy((coordinator) => coordinator === other)
    const present = await read(topic, await groupOfOther())
    const absentGroups = [await groupOfOther(), await groupOfOther()] as const
    const absent = await Promise.all(absentGroups.map((group) => read(topic, group)))
    const open = [writer, present.journal]
    const isCommitted = async (group: string) =>
      (await writer.positions(topic, group)).every(({ committed, endPosition }) => committed === endPosition)
    const comesBack = async (group: string, ...values: readonly string[]) => {
      const reader = await read(topic, group)
      open.push(reader.journal)
      await eventually(() => reader.has(...values), 60_000)
    }
    try {
      await append('both-', 5)
      await kafka.kill(behind)
      await append('lost-', 20)
      for (const reader of [present, ...absent]) await eventually(() => reader.has('both-4', 'lost-19'), 30_000)
      for (const group of absentGroups) await eventually(() => isCommitted(group), 30_000)
      await Promise.all(absent.map(({ journal }) => journal.close()))
      await kafka.kill(VICTIM)
      await kafka.restart(behind)
      // First fewer than were lost, then more of them, even if those were appended twice: the positions are after the end, and before it.
      await append('few-', 5)
      await eventually(() => present.has('few-0', 'few-4'), 60_000)
      await comesBack(absentGroups[0], 'few-0', 'few-4')
      await append('many-', 60)
      await eventually(() => present.has('many-0', 'many-59'), 60_000)
      await comesBack(absentGroups[1], 'few-0', 'few-4', 'many-0', 'many-59')
      expect(valuesOf(await scanAll(writer, topic)).filter((value) => value?.startsWith('lost-'))).toEqual([])
    } finally {
      await kafka.restart(VICTIM)
      await Promise.all(open.map((journal) => journal.close()))
    }
  }, 300_000)

  for (const [what, isVictim] of [
    ['the group is not disturbed', false],
    ['the group has to join anew', true],
  ] as const) {
    test(`the other partitions are read and written, and it is alarmed until its broker is back: ${what}`, async () => {
      const topic = await createOn([1], [2], [VICTIM])
      const group = await groupBy((coordinator) => (coordinator === VICTIM) === isVictim)
      const writer = openKafka(kafka.brokers)
      const append = (partition: number, name: string) =>
        writer.append({ topic, partition, records: recordsOf(name, 1) })
      const reader = await read(topic, group)
      const open = [writer, reader.journal]
      const reason = `${topic}/2 is not read: `
      try {
        for (const partition of [0, 1, 2]) await eventually(() => append(partition, `before-${partition}-`), 30_000)
        await eventually(() => reader.has('before-0-0', 'before-1-0', 'before-2-0'), 30_000)
        await kafka.kill(VICTIM)
        await eventually(() => reader.warnings.some(({ partitions }) => partitions === `${topic}/2`), 90_000)
        const { ready, reason: told } = reader.subscription.health()
        expect({ ready, told }).toMatchObject({ ready: false, told: expect.stringContaining(reason) })
        if (!isVictim) expect(reader.warnings.map(({ msg }) => msg)).not.toContain(MADE_ANEW)

        for (const partition of [0, 1]) await append(partition, `without-${partition}-`)
        await eventually(() => reader.has('without-0-0', 'without-1-0'), 30_000)

        // A second member has the group deal out the partitions anew while one of them has no leader.
        const second = await read(topic, group)
        open.push(second.journal)
        const both = (...all: string[]) => all.every((one) => reader.has(one) || second.has(one))
        await eventually(() => second.subscription.health().ready !== reader.subscription.health().ready, 60_000)
        for (const partition of [0, 1]) await append(partition, `together-${partition}-`)
        await eventually(() => both('together-0-0', 'together-1-0'), 30_000)

        await kafka.restart(VICTIM)
        await eventually(() => append(2, 'after-2-'), 60_000)
        await eventually(() => both('after-2-0'), 60_000)
        await eventually(() => second.subscription.health().ready && reader.subscription.health().ready, 30_000)
        expect(valuesOf(await scanAll(writer, topic))).toHaveLength(8)
      } finally {
        await Promise.all(open.map((journal) => journal.close()))
      }
    }, 300_000)
  }
}
