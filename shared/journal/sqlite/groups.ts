import type { PartitionState } from './partitions.ts'

export interface GroupPartition extends Pick<PartitionState, 'id' | 'partition'> {
  readonly topic: string
}

/** A member as its group sees it. */
export interface Member {
  readonly partitions: readonly GroupPartition[]
  /** Gives the partition to the member. */
  take(partition: GroupPartition): void
  /** Resolves when the member has stopped working on the partition. */
  release(partition: GroupPartition): Promise<void>
}

/**
 * Shares partitions among the members of a group that subscribed through this journal. Only one server works on a data folder at a time and
 * all members of a group live in one of its threads, so no lease has to be kept in the file, or to expire after a crash.
 */
export interface Groups {
  join(group: string, member: Member): void
  /** Resolves when the member has stopped working on all of its partitions. */
  leave(group: string, member: Member): Promise<void>
}

interface Group {
  /** In order of arrival. */
  readonly members: Set<Member>
  readonly owners: Map<number, Member>
  /** Moves are sequential. */
  moving: Promise<void>
}

export function createGroups(): Groups {
  const groups = new Map<string, Group>()

  const groupOf = (name: string): Group => {
    const group = groups.get(name) ?? { members: new Set<Member>(), owners: new Map(), moving: Promise.resolve() }
    groups.set(name, group)
    return group
  }

  const rebalance = (group: Group): Promise<void> => {
    group.moving = group.moving.then(async () => {
      const wanted = [...share(group.members)]
      await Promise.all(wanted.map(([partition, member]) => move(group, partition, member)))
    })
    return group.moving
  }

  return {
    join: (name, member) => {
      const group = groupOf(name)
      group.members.add(member)
      void rebalance(group)
    },
    leave: async (name, member) => {
      const group = groupOf(name)
      group.members.delete(member)
      await Promise.all(member.partitions.map((partition) => member.release(partition)))
      for (const [id, owner] of group.owners) if (owner === member) group.owners.delete(id)
      void rebalance(group)
    },
  }
}

async function move({ members, owners }: Group, partition: GroupPartition, to: Member): Promise<void> {
  const from = owners.get(partition.id)
  if (from === to) return
  await from?.release(partition)
  owners.delete(partition.id)
  // The member may have left meanwhile; the rebalance that its leaving caused comes next.
  if (!members.has(to)) return
  owners.set(partition.id, to)
  to.take(partition)
}

/** The owner of each partition: round robin by partition number among the members that subscribed to the topic. */
function* share(members: ReadonlySet<Member>): Generator<readonly [GroupPartition, Member]> {
  const candidates = new Map<number, { partition: GroupPartition; members: Member[] }>()
  for (const member of members) {
    for (const partition of member.partitions) {
      const candidate = candidates.get(partition.id) ?? { partition, members: [] }
      candidate.members.push(member)
      candidates.set(partition.id, candidate)
    }
  }
  for (const { partition, members: willing } of candidates.values()) {
    const owner = willing[partition.partition % willing.length]
    if (owner !== undefined) yield [partition, owner]
  }
}
