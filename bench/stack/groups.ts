/**
 * The pauses of partitions while the members of a group are replaced one by one, as in a rollout, under a steady load. A pause is the time
 * between the ends of two consecutive batches of a partition, across members.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { PartitionBatch } from '../../shared/journal/journal.ts'
import { createKafkaJournal, type KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { median, table, whole } from '../numbers.ts'
import { PARTITIONS, type Topics } from './topics.ts'

export type GroupProtocol = 'auto' | 'classic'

/** The duration of handlers, in milliseconds. */
export interface Handlers {
  readonly name: string
  readonly everyMs: number
  /** For the first partition; its own pauses do not count if it is slower than the others. */
  readonly firstMs: number
}

export interface GroupsRig {
  readonly broker: string
  readonly topics: Topics
  /** Milliseconds between two replacements, and for measuring pauses without a rollout. */
  readonly settleMs: number
}

export interface Rollout {
  readonly protocol: GroupProtocol
  readonly handlers: string
  /** Longest pause of any partition without a rollout, and during one, in milliseconds. */
  readonly steadyMs: number
  readonly longestMs: number
  /** Median of the partitions' longest pauses during the rollout, in milliseconds. */
  readonly medianMs: number
  /** Records handled twice because their batch was aborted before its commit. */
  readonly repeats: number
  /** Records never handled, plus batches handled by two members at a time. */
  readonly wrong: number
}

const MEMBERS = 4
/** Interval between records of each partition. */
const APPEND_EVERY_MS = 50
const LAST_RECORDS_MS = 30_000

/** Records what the members of a group have handled. */
function createLedger() {
  const handled = Array.from({ length: PARTITIONS }, () => new Set<number>())
  const endedAt = new Map<number, number>()
  let pauses = new Map<number, number>()
  const busy = new Set<number>()
  const seen = { repeats: 0, overlaps: 0 }
  return {
    handled,
    seen,
    begin: ({ partition }: PartitionBatch): void => {
      if (busy.has(partition)) seen.overlaps++
      busy.add(partition)
    },
    end: ({ partition, records }: PartitionBatch): void => {
      busy.delete(partition)
      const now = performance.now()
      const pause = now - (endedAt.get(partition) ?? now)
      pauses.set(partition, Math.max(pauses.get(partition) ?? 0, pause))
      endedAt.set(partition, now)
      for (const { offset } of records) {
        if (handled[partition]?.has(offset)) seen.repeats++
        handled[partition]?.add(offset)
      }
    },
    /** The longest pause of each partition since the last call, including one still going on. */
    takePauses: (counts: (partition: number) => boolean): readonly number[] => {
      const now = performance.now()
      const longest = [...endedAt].map(([partition, at]) => [partition, Math.max(pauses.get(partition) ?? 0, now - at)])
      pauses = new Map()
      return longest.filter(([partition = -1]) => counts(partition)).map(([, ms = 0]) => ms)
    },
  }
}

/** Starts four members, replaces each of them, and waits until every appended record is handled. */
export async function measureRollout(protocol: GroupProtocol, handlers: Handlers, rig: GroupsRig): Promise<Rollout> {
  const topic = `bench-groups-${protocol}-${handlers.everyMs}-${handlers.firstMs}-${Date.now()}`
  await rig.topics.create(topic)
  const ledger = createLedger()
  const open = (): KafkaJournal =>
    createKafkaJournal({
      connection: { brokers: [rig.broker], clientId: 'bench-groups', ssl: null, sasl: null },
      clock: systemClock,
      logger: createLogger('error', 'bench-groups'),
      options: { groupProtocol: protocol },
    })
  const start = async (): Promise<KafkaJournal> => {
    const journal = open()
    await journal.subscribe({ group: topic, topics: [topic], recordsMax: 1_000 }, async (batch) => {
      ledger.begin(batch)
      await delay(batch.partition === 0 ? handlers.firstMs : handlers.everyMs)
      ledger.end(batch)
      await batch.commit((batch.records.at(-1)?.offset ?? -1) + 1)
    })
    return journal
  }
  const appender = open()
  const load = startLoad(appender, topic)
  const members = await Promise.all(Array.from({ length: MEMBERS }, start))
  const counts = (partition: number): boolean => partition > 0 || handlers.firstMs === handlers.everyMs
  await until(() => ledger.handled.every(({ size }) => size > 0))
  await delay(rig.settleMs)
  ledger.takePauses(counts)
  await delay(rig.settleMs)
  const steady = ledger.takePauses(counts)
  for (const member of [...members]) {
    await member.close()
    members.push(await start())
    await delay(rig.settleMs)
  }
  const rolled = ledger.takePauses(counts)
  const appended = await load.stop()
  const missing = () => ledger.handled.reduce((sum, { size }) => sum + appended - size, 0)
  await until(() => missing() === 0)
  await Promise.all([appender, ...members].map((journal) => journal.close()))
  await rig.topics.remove([topic])
  return {
    protocol,
    handlers: handlers.name,
    steadyMs: Math.max(...steady),
    longestMs: Math.max(...rolled),
    medianMs: median(rolled),
    repeats: ledger.seen.repeats,
    wrong: missing() + ledger.seen.overlaps,
  }
}

function startLoad(journal: KafkaJournal, topic: string) {
  const end = new AbortController()
  const run = async (): Promise<number> => {
    for (let count = 0; ; count++) {
      if (end.signal.aborted) return count
      const records = [{ key: null, value: String(count), headers: {} }]
      await Promise.all([...Array(PARTITIONS).keys()].map((partition) => journal.append({ topic, partition, records })))
      await delay(APPEND_EVERY_MS)
    }
  }
  const running = run()
  return {
    /** Resolves with the number of records per partition. */
    stop: (): Promise<number> => {
      end.abort()
      return running
    },
  }
}

/** Waits for the condition, but not forever: the caller reports wrong counts. */
async function until(isMet: () => boolean): Promise<void> {
  const end = performance.now() + LAST_RECORDS_MS
  while (!isMet() && performance.now() < end) await delay(50)
}

const NAMES = { auto: 'consumer (KIP-848)', classic: 'classic' }

export const renderGroups = (
  rollouts: readonly Rollout[],
): string => `The longest time between two handled batches of a partition while the ${MEMBERS} members of a group that reads ${PARTITIONS} partitions are replaced one after
the other: each is closed, and the next one is started at once. Every partition gets a record each ${APPEND_EVERY_MS} ms; members are clients of one process, so
that no start of a process counts. In every run each record was handled, and none by two members at a time.

${table(
  ['handlers', 'protocol', 'longest pause, no rollout', 'longest pause', 'median of the partitions', 'handled again'],
  rollouts.map((each) => [
    each.handlers,
    NAMES[each.protocol],
    `${whole(each.steadyMs)} ms`,
    `${whole(each.longestMs)} ms`,
    `${whole(each.medianMs)} ms`,
    whole(each.repeats),
  ]),
)}`
