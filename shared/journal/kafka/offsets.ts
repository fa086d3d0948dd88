import { type Admin, type ClusterMetadata, FetchIsolationLevels, listOffsetsV7 } from '@platformatic/kafka'

/** The offset of the first record kept, and the position after the last one. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/** A place in a partition's log, between two records. */
export interface LogPlace {
  /** The offset of the record after it. */
  readonly position: number
  /** The epoch of the leader that took the record before it. */
  readonly leaderEpoch: number
}

/** The epoch where it is not known: the broker then compares nothing. */
export const NO_EPOCH = -1

const FIRST_OFFSET = -2n
const END_POSITION = -1n
const CONSUMER = -1

/**
 * Asks each leader for the bounds of the partitions that it leads. The library's own request fails as a whole if a single leader does not
 * answer; here, the error stands for the partitions of that leader only.
 */
export async function listBounds(
  admin: Admin,
  metadata: ClusterMetadata,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, Bounds | Error>> {
  const known = metadata.topics.get(topic)?.partitions ?? []
  const byLeader = Map.groupBy(partitions, (partition) => known[partition]?.leader)
  const found = new Map<number, Bounds | Error>()

  const askLeader = async (node: number | undefined, led: readonly number[]): Promise<void> => {
    try {
      if (node === undefined) throw new Error('the brokers do not know the partition yet')
      const broker = metadata.brokers.get(node)
      if (broker === undefined) throw new Error('the partition has no leader')
      const connection = await admin.connections.get(broker)
      const list = async (timestamp: bigint): Promise<ReadonlyMap<number, number>> => {
        const asked = led.map((partitionIndex) => ({
          partitionIndex,
          currentLeaderEpoch: known[partitionIndex]?.leaderEpoch ?? NO_EPOCH,
          timestamp,
        }))
        const { topics } = await listOffsetsV7.api.async(connection, CONSUMER, FetchIsolationLevels.READ_UNCOMMITTED, [
          { name: topic, partitions: asked },
        ])
        return new Map(
          topics.flatMap((each) => each.partitions).map((each) => [each.partitionIndex, Number(each.offset)]),
        )
      }
      // The end is read last, so that it is never before the first record.
      const firsts = await list(FIRST_OFFSET)
      const ends = await list(END_POSITION)
      for (const partition of led) {
        const [first, end] = [firsts.get(partition), ends.get(partition)]
        const missing = new Error(`the broker ${node} gave no offset for ${topic}/${partition}`)
        found.set(partition, first === undefined || end === undefined ? missing : { first, end })
      }
    } catch (error) {
      for (const partition of led) found.set(partition, error as Error)
    }
  }
  await Promise.all([...byLeader].map(([node, led]) => askLeader(node, led)))
  return found
}
