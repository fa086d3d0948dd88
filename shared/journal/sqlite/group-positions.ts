import type { PartitionPosition } from '../journal.ts'
import type { Database } from './database.ts'
import type { Partitions } from './partitions.ts'

/** The positions of groups. */
export function createGroupPositions(database: Database, partitions: Partitions) {
  const insert = database.prepare(`
    INSERT INTO readers (group_name, partition_id, start)
    SELECT ?, id, first_offset FROM partitions WHERE topic = ? ON CONFLICT DO NOTHING`)
  const update = database.prepare('UPDATE readers SET position = ? WHERE group_name = ? AND partition_id = ?')
  const reset = database.prepare(`
    UPDATE readers SET position = NULL, start = (SELECT first_offset FROM partitions WHERE id = partition_id)
    WHERE group_name = ? AND partition_id IN (SELECT id FROM partitions WHERE topic = ?)`)
  const select = database.prepare('SELECT start, position FROM readers WHERE group_name = ? AND partition_id = ?')

  const find = (group: string, partitionId: number): { start: number; position: number | null } | undefined =>
    database.read(() => select.get(group, partitionId)) as { start: number; position: number | null } | undefined

  return {
    /** Registers the group, so that retention keeps what it has not read. Throws a `TopicMissingError`. */
    join: (group: string, topic: string): void => {
      partitions.ofTopic(topic)
      database.write(() => insert.run(group, topic))
    },
    /** The group's position: the committed one, else the first offset kept when it joined. */
    startPosition: (group: string, partitionId: number): number => {
      const reader = find(group, partitionId)
      return reader?.position ?? reader?.start ?? 0
    },
    commit: (group: string, partitionId: number, position: number): void => {
      database.write(() => {
        const { endPosition } = partitions.state(partitionId)
        // A position beyond the end would skip future records.
        if (!(Number.isSafeInteger(position) && position >= 0 && position <= endPosition)) {
          throw new RangeError(`cannot commit position ${position} of a partition that ends at ${endPosition}`)
        }
        update.run(position, group, partitionId)
      })
    },
    positions: (topic: string, group: string): readonly PartitionPosition[] =>
      partitions.ofTopic(topic).map(({ id, partition, firstOffset, endPosition }) => ({
        partition,
        firstOffset,
        endPosition,
        committed: find(group, id)?.position ?? null,
      })),
    /** Sets the group's positions in a topic to the first offsets kept. */
    rewind: (topic: string, group: string): void => void database.write(() => reset.run(group, topic)),
  }
}
