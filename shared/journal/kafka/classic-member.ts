import { Consumer, offsetCommitV8 } from '@platformatic/kafka'
import { TopicMissingError } from '../journal.ts'
import { type Assignment, startAssignment } from './assignment.ts'
import { commitPosition } from './commit.ts'
import { clientOptions } from './connection.ts'
import { describeFault } from './faults.ts'
import { type GroupContext, type Member, type MemberOptions, takeLeave } from './member.ts'
import { patchClient } from './patched-client.ts'

const PARTITION_CHECK_MS = 30_000

/** Joins by the classic protocol: at every change of the group, each member releases all partitions before it joins again. */
export function startClassicMember(options: MemberOptions): Member {
  const { context, reading, onAssigned, end } = options
  const { logger } = context
  const { group, topics } = reading
  let assignment: Assignment | undefined
  let heartbeatAt = performance.now()
  let stopped = false

  /**
   * Called by the library before each JoinGroup. The group reassigns the partitions once all members have joined, so nothing may still be
   * running when the request is sent.
   */
  const release = async (): Promise<Buffer> => {
    assignment?.abort()
    await assignment?.ended()
    if (assignment !== undefined && !stopped) onAssigned(0, 'group')
    assignment = undefined
    // A member that has ended must not join again; any answer would make the library set a timer of a minute that nothing clears.
    return stopped ? new Promise(() => undefined) : Buffer.alloc(0)
  }
  const partitions = watchPartitions(context, topics, (topic) => end({ reason: `partitions were added to ${topic}` }))
  const client = createClient(context, reading, release, partitions.onMissing)
  client.on('consumer:heartbeat:error', ({ error }) =>
    logger.debug({ group, reason: describeFault(error) }, 'a heartbeat failed'),
  )
  client.on('consumer:group:rebalance', () => assignment?.abort())
  client.on('consumer:heartbeat:end', () => {
    heartbeatAt = performance.now()
  })
  // The library reports here that it could not rejoin, and then stops its heartbeats.
  client.on('error', (error: Error) => end({ reason: describeFault(error) }))
  client.on('consumer:group:join', ({ generationId = -1, memberId, assignments = [] }) => {
    if (stopped) return
    heartbeatAt = performance.now()
    const assigned = assignments.flatMap(({ topic, partitions }) =>
      partitions.map((partition) => ({ topic, partition })),
    )
    const partitions = assignments.map(({ topic, partitions: numbers }) => `${topic}: ${numbers.join(' ')}`)
    logger.info({ group, protocol: 'classic', generationId, partitions }, 'joined the group')
    onAssigned(assigned.length, 'assigned')
    assignment = startAssignment({
      ...reading,
      // The library's own commit is not used: if the group has moved on, it rejoins and repeats the commit in the new generation, for a
      // partition that another member may own by then.
      commit: commitPosition(
        async (places) => {
          const coordinator = await client.findGroupCoordinator()
          const connection = (await client.connectToBrokers([coordinator])).get(coordinator)
          if (connection === undefined) throw new Error('the coordinator is not among the brokers')
          await offsetCommitV8.api.async(connection, group, generationId, memberId, null, places)
        },
        logger,
        reading.note,
      ),
    })
    assignment.add(assigned)
  })
  client.joinGroup({}).catch((error) => end({ reason: describeFault(error) }))
  return {
    assignment: () => assignment,
    heartbeatAt: () => heartbeatAt,
    stop: () => {
      stopped = true
      partitions.stop()
    },
    // Leaves before closing, since a client that is only closed while a heartbeat is in progress goes on with its heartbeats.
    leave: async () => {
      const left = new Promise<void>((resolve, reject) => {
        client.leaveGroup((error) => (error ? reject(error) : resolve()))
      })
      await takeLeave(options, 'leave', left)
      await takeLeave(options, 'close the client', client.close(true))
    },
  }
}

function createClient(
  context: GroupContext,
  { group, topics }: MemberOptions['reading'],
  release: () => Promise<Buffer>,
  onMissing: (topic: string) => void,
): Consumer<Buffer, Buffer, Buffer, Buffer> {
  const { rebalanceTimeoutMs, sessionTimeoutMs, heartbeatIntervalMs } = context
  // A first join that is given up and repeated leaves a member behind that holds up its group for a session, so this client is more patient
  // than those that read; three attempts at a heartbeat fit into a session.
  const requestTimeoutMs = Math.max(context.requestTimeoutMs, Math.floor(sessionTimeoutMs / 3))
  const client = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    ...clientOptions(context.connection, {
      requestTimeoutMs,
      // A join is answered once all members have joined, so its request may time out and be repeated until then.
      retries: Math.ceil(rebalanceTimeoutMs / requestTimeoutMs) + 2,
    }),
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    protocolsMetadata: release,
  })
  for (const topic of topics) client.topics.track(topic)
  // The leader of a group deals out the partitions of the topics that are there; one that is gone must not stop the others.
  return patchClient(client, context.connection, onMissing)
}

/** A group assigns the partitions that its leader knew when it joined; those added later need another round. */
function watchPartitions({ cluster }: GroupContext, topics: readonly string[], onAdded: (topic: string) => void) {
  const counts = new Map<string, number>()
  const look = async (): Promise<void> => {
    for (const topic of topics) {
      const found = await cluster.partitionsOf(topic).catch((error) => (error instanceof TopicMissingError ? [] : null))
      if (found === null) continue
      if (found.length > (counts.get(topic) ?? found.length)) onAdded(topic)
      counts.set(topic, found.length)
    }
  }
  // The first check comes before the join: partitions added between the join and a later check would never be noticed.
  void look()
  const timer = setInterval(look, PARTITION_CHECK_MS)
  return {
    stop: () => clearInterval(timer),
    /** Called for a topic that the member joins without, though it may be there: a broker may not know it yet. */
    onMissing: (topic: string): void => void counts.set(topic, 0),
  }
}
