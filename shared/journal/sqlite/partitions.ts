import type { TopicSpec } from '../../contract/topics.ts'
import { type NamedTopic, TopicMissingError } from '../journal.ts'
import type { Database } from './database.ts'

export interface PartitionState {
  readonly id: number
  readonly partition: number
  readonly firstOffset: number
  /** The position after the last record. */
  readonly endPosition: number
  /** Bytes of the records kept. */
  readonly bytes: number
}

interface TopicCleanup {
  readonly topic: string
  readonly cleanup: TopicSpec['cleanup']
}

/** The part of a partition that never changes. */
interface KnownPartition {
  readonly id: number
  /** Whether its topic keeps the last record of each key. */
  readonly compacted: boolean
}

export type Partitions = ReturnType<typeof createPartitions>

const COLUMNS = 'id, number AS partition, first_offset AS firstOffset, next_offset AS endPosition, bytes'

export function createPartitions(database: Database) {
  const insertTopic = database.prepare(
    'INSERT INTO topics (name, cleanup, retention_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const insertPartition = database.prepare('INSERT INTO partitions (topic, number) VALUES (?, ?)')
  const selectTopic = database.prepare(`SELECT ${COLUMNS} FROM partitions WHERE topic = ? ORDER BY number`)
  const selectOne = database.prepare(`SELECT ${COLUMNS} FROM partitions WHERE id = ?`)
  const selectTopics = database.prepare('SELECT name AS topic, cleanup FROM topics ORDER BY name')
  /** Topics are never removed and never get more partitions, so cached values stay valid. */
  const known = new Map<string, readonly KnownPartition[]>()

  /** The partitions of a topic, by number; throws a `TopicMissingError`. */
  const ofTopic = (topic: string): readonly PartitionState[] => {
    const states = database.read(() => selectTopic.all(topic)) as unknown as readonly PartitionState[]
    if (states.length === 0) throw new TopicMissingError(topic)
    return states
  }

  /** Every topic and how it is cleaned up. */
  const topics = (): readonly TopicCleanup[] =>
    database.read(() => selectTopics.all()) as unknown as readonly TopicCleanup[]

  return {
    /** Creates missing topics with their partitions. */
    create: (wanted: readonly NamedTopic[]): void =>
      database.write(() => {
        for (const { name, cleanup, retentionMs, partitions } of wanted) {
          if (insertTopic.run(name, cleanup, retentionMs).changes === 0) continue
          for (let number = 0; number < partitions; number++) insertPartition.run(name, number)
        }
      }),
    ofTopic,
    /** A partition; undefined if there is none. Throws a `TopicMissingError`. */
    find: (topic: string, partition: number): KnownPartition | undefined => {
      let found = known.get(topic)
      if (found === undefined) {
        const compacted = topics().some((one) => one.topic === topic && one.cleanup === 'compact')
        found = ofTopic(topic).map(({ id }) => ({ id, compacted }))
        known.set(topic, found)
      }
      return found[partition]
    },
    state: (id: number) => database.read(() => selectOne.get(id)) as unknown as PartitionState,
    topics,
  }
}
