import type { Consumer } from '@platformatic/kafka'
import { type KafkaConnection, triesPast } from './connection.ts'
import type { FetchReport } from './fetch-report.ts'
import { askNext, NO_LEADER } from './patched-client.ts'
import type { Source } from './source.ts'

const METADATA_AGE_MS = 300_000

export interface LeadersOptions {
  readonly connection: KafkaConnection
  /** The topics of all sources, including those added later. */
  readonly topics: readonly string[]
  /** How old the knowledge of the leaders may become, in milliseconds; default 5 minutes, as in other clients of Kafka. */
  readonly metadataAgeMs?: number
}

/** The leaders of partitions and the ids of their topics, as the brokers last named them. */
export function createLeaders(
  { connection, topics, metadataAgeMs = METADATA_AGE_MS }: LeadersOptions,
  client: Consumer,
  report: FetchReport,
) {
  let areInDoubt = true
  /** When the brokers were last asked because of the age of what is known. */
  let askedByAgeAt = performance.now()
  const presentTopic = ({ topic }: Source) => client.currentMetadata?.topics.get(topic)

  /** Resolves to whether the brokers answered. A request for all topics would fail for one that is gone. */
  const ask = async (topic: string, onAnswer: (topic: string) => void): Promise<boolean> => {
    try {
      await client.metadata({ topics: [topic], forceUpdate: true, retries: triesPast(connection) })
    } catch (error) {
      report.failed({ topic }, error, 'the metadata could not be read')
      return false
    }
    onAnswer(topic)
    return true
  }
  return {
    /** NO_LEADER for any negative number, as that is no broker's. */
    of: (source: Source): number =>
      Math.max(presentTopic(source)?.partitions[source.partition]?.leader ?? NO_LEADER, NO_LEADER),
    topicIdOf: (source: Source): string => source.topicId ?? presentTopic(source)?.id ?? '',
    /** A topic that is gone was not made anew yet. */
    isReplaced: (source: Source): boolean => {
      const present = presentTopic(source)?.id
      return source.topicId !== undefined && present !== undefined && present !== source.topicId
    },
    /** Has the next update ask the brokers, as a fetch failed or a partition has no leader. */
    doubt: (): void => {
      areInDoubt = true
    },
    /** Asks the brokers if need be, and calls `onAnswer` for each topic that they answer for. */
    update: async (onAnswer: (topic: string) => void): Promise<void> => {
      const areOld = performance.now() - askedByAgeAt >= metadataAgeMs
      if (!areOld && !areInDoubt && client.currentMetadata !== undefined) return
      if (areOld) {
        askedByAgeAt = performance.now()
        // A leader that is cut off from the others answers as ever, with no records, while another one leads in its place.
        askNext(connection)
      }
      areInDoubt = (await Promise.all(topics.map((topic) => ask(topic, onAnswer)))).includes(false)
    },
  }
}
