import { randomUUID } from 'node:crypto'
import {
  Admin,
  apiVersionsV3,
  type Connection,
  consumerGroupHeartbeatV1,
  FindCoordinatorKeyTypes,
  findCoordinatorV4,
  offsetCommitV9,
} from '@platformatic/kafka'
import { createWaker } from '../../runtime/waiting.ts'
import { startAssignment } from './assignment.ts'
import { anyBroker } from './cluster.ts'
import { commitPosition, type SendCommit } from './commit.ts'
import { clientOptions } from './connection.ts'
import { describeFault, errorCodes, hasCode } from './faults.ts'
import { type Member, type MemberOptions, takeLeave } from './member.ts'
import { patchClient } from './patched-client.ts'

/** The epochs of requests to join and to leave. */
const JOIN = 0
const LEAVE = -1
const RETRY_DELAY_MS = 200
/** For this long after a change, more are likely: a member releases a partition, then the coordinator assigns it to another. */
const SETTLING_MS = 5_000
const SETTLING_INTERVAL_MS = 200

/** Refusals of a heartbeat for which the group has moved on without this member, which owns nothing any more. */
const FENCED_HEARTBEAT = ['FENCED_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID', 'GROUP_ID_NOT_FOUND']
/** A join is answered with GROUP_ID_NOT_FOUND if the group has classic members and may not be converted. */
const UNSUPPORTED = ['UNSUPPORTED_VERSION', 'GROUP_ID_NOT_FOUND']
/** The coordinator is moving, or is still reading its log. */
const TRANSIENT = [
  'NOT_COORDINATOR',
  'COORDINATOR_NOT_AVAILABLE',
  'COORDINATOR_LOAD_IN_PROGRESS',
  'REQUEST_TIMED_OUT',
  'UNKNOWN_SERVER_ERROR',
]

/** Whether a retry may help. An error without a broker's code is the network's; it is reported if it keeps a member from asking to join. */
function isTransient(error: unknown, hasAsked: boolean): boolean {
  const codes = errorCodes(error)
  return codes.length === 0 ? hasAsked : codes.every((code) => TRANSIENT.includes(code))
}

/**
 * Joins by the consumer protocol (KIP-848): the coordinator assigns the partitions, and a change of the group stops only partitions that
 * move. Each heartbeat carries the subscription and the owned partitions, so every answer has the whole assignment, and missing one is
 * harmless. A member that its group has gone on without releases all partitions and joins anew.
 *
 * The library's own member is not used: it releases partitions while handlers may still run.
 */
export function startConsumerMember(options: MemberOptions): Member {
  const { context, reading, onAssigned, end } = options
  const { logger } = context
  const { group, topics } = reading
  const client = createClient(options)
  const coordinator = coordinatorOf(client, options)
  const nameTopics = topicNames(client, topics)
  const left = new AbortController()
  const waker = createWaker(left.signal)
  let membership: Membership | undefined
  let isStopped = false
  let heartbeatAt = performance.now()
  let changedAt = heartbeatAt

  /** Does what comes next, and resolves to the milliseconds until the step after it. */
  const step = async (): Promise<number> => {
    try {
      if (membership !== undefined && !membership.isFenced) return await heartbeat(membership)
      if (isStopped) return RETRY_DELAY_MS
      await (membership === undefined ? join() : giveUp(membership, 'a commit was refused'))
      return 0
    } catch (error) {
      const reason = describeFault(error)
      logger.debug({ group, reason }, 'a heartbeat failed')
      if (membership !== undefined && hasCode(error, ...FENCED_HEARTBEAT)) {
        await giveUp(membership, reason)
        return 0
      }
      if (!isTransient(error, coordinator.mayKnowMember()))
        end({ reason, isUnsupported: membership === undefined && hasCode(error, ...UNSUPPORTED) })
      return RETRY_DELAY_MS
    }
  }
  const join = async (): Promise<void> => {
    if (!(await coordinator.hasProtocol())) {
      end({ reason: 'the brokers do not have the consumer protocol', isUnsupported: true })
      return
    }
    // The group would deal out its partitions anew for a member that leaves at once.
    if (isStopped) return
    const { memberEpoch: epoch } = await coordinator.heartbeat(JOIN, [])
    heartbeatAt = performance.now()
    changedAt = heartbeatAt
    logger.info({ group, protocol: 'consumer', epoch, memberId: coordinator.memberId }, 'joined the group')
    if (isStopped) return
    membership = startMembership(options, coordinator, epoch, waker.wake)
    onAssigned(0, 'assigned')
  }
  const heartbeat = async (current: Membership): Promise<number> => {
    const answer = await coordinator.heartbeat(current.epoch, current.owned())
    const now = performance.now()
    heartbeatAt = now
    const assigned = answer.assignment && (await nameTopics(answer.assignment.topicPartitions))
    const hasMoved = assigned !== null && !isStopped && current.move(assigned)
    if (hasMoved || answer.memberEpoch !== current.epoch) changedAt = now
    current.epoch = answer.memberEpoch
    const interval = Math.min(answer.heartbeatIntervalMs, context.heartbeatIntervalMs)
    return now - changedAt < SETTLING_MS ? Math.min(interval, SETTLING_INTERVAL_MS) : interval
  }
  /** Releases all partitions. No handler may be running at the next join, as it may bring the same partitions. */
  const giveUp = async ({ assignment }: Membership, reason: string): Promise<void> => {
    logger.warn({ group, reason }, 'the group has gone on without this member, which joins anew')
    if (!isStopped) onAssigned(0, 'member')
    assignment.abort()
    await assignment.ended()
    membership = undefined
  }
  const running = (async () => {
    while (!left.signal.aborted) await waker.wait(await step())
  })()

  return {
    assignment: () => membership?.assignment,
    heartbeatAt: () => heartbeatAt,
    stop: () => {
      isStopped = true
    },
    leave: async () => {
      left.abort()
      await takeLeave(options, 'end the heartbeats', running)
      await takeLeave(options, 'leave', coordinator.leave())
      await takeLeave(options, 'close the client', client.close())
    },
  }
}

const createClient = ({ context: { connection, requestTimeoutMs } }: MemberOptions): Admin =>
  patchClient(new Admin(clientOptions(connection, { requestTimeoutMs, retries: 0 })), connection)

interface Place {
  readonly topic: string
  /** Differs if the topic was deleted and created again. */
  readonly topicId: string
  readonly partition: number
}

/** A partition of the member. */
interface Owned extends Place {
  /** Whether it is being released. */
  isLeaving: boolean
}

/** Keyed by `topic/partition`. */
type Places = ReadonlyMap<string, Place>

type Membership = ReturnType<typeof startMembership>

/**
 * The state of a member from the answer to its join until its group goes on without it. A partition that is taken away counts as owned
 * until its handler has ended; only then does the coordinator learn of it and assign it to another member.
 *
 * `hurry` is called when a heartbeat has something new to tell.
 */
function startMembership(
  { context: { logger }, reading, onAssigned }: MemberOptions,
  coordinator: Coordinator,
  epoch: number,
  hurry: () => void,
) {
  const owned = new Map<string, Owned>()
  const count = (): number => [...owned.values()].filter(({ isLeaving }) => !isLeaving).length

  const assignment = startAssignment({
    ...reading,
    commit: commitPosition((places) => coordinator.commit(membership.epoch, places), logger, reading.note),
    onFenced: () => {
      membership.isFenced = true
      hurry()
    },
  })
  const letGo = async (key: string, place: Owned): Promise<void> => {
    place.isLeaving = true
    await assignment.remove(place.topic, place.partition)
    owned.delete(key)
    hurry()
  }
  const membership = {
    /** Raised by the coordinator with each change of the assignment; it refuses commits of an earlier one. */
    epoch,
    /** Whether a commit was refused because the group has gone on without the member. */
    isFenced: false,
    assignment,
    /** The owned partitions in the form of a request. */
    owned: () =>
      [...Map.groupBy(owned.values(), ({ topicId }) => topicId)].map(([topicId, places]) => ({
        topicId,
        partitions: places.map(({ partition }) => partition),
      })),
    /** Adds new partitions, starts to release those no longer assigned, and returns whether anything changed. */
    move: (assigned: Places): boolean => {
      const taken = [...owned].filter(
        ([key, { topicId, isLeaving }]) => !isLeaving && assigned.get(key)?.topicId !== topicId,
      )
      // A partition that is reassigned while it is being released is added by a later answer.
      const given = [...assigned].filter(([key]) => !owned.has(key))
      if (taken.length + given.length === 0) return false
      for (const [key, place] of taken) void letGo(key, place)
      if (taken.length > 0) onAssigned(count(), 'group')
      for (const [key, place] of given) owned.set(key, { ...place, isLeaving: false })
      if (given.length > 0) onAssigned(count(), 'assigned')
      if (given.length > 0) assignment.add(given.map(([, place]) => place))
      const names = (places: typeof given): string => places.map(([key]) => key).join(' ')
      logger.info({ group: reading.group, taken: names(taken), given: names(given) }, 'partitions move')
      return true
    },
  }
  return membership
}

type TopicPartitions = consumerGroupHeartbeatV1.ConsumerGroupHeartbeatResponseAssignmentTopicPartition

/** Resolves topic ids in answers to names. A topic whose name cannot be learned now is left out. */
function topicNames(client: Admin, topics: readonly string[]): (places: readonly TopicPartitions[]) => Promise<Places> {
  const names = new Map<string, string>()
  const learn = async (): Promise<void> => {
    // One by one, as a request for all would fail for a topic that is gone.
    for (const topic of topics) {
      const found = await client.metadata({ topics: [topic], forceUpdate: true }).catch(() => undefined)
      for (const [name, { id }] of found?.topics ?? []) names.set(id, name)
    }
  }
  return async (places) => {
    if (places.some(({ topicId }) => !names.has(topicId))) await learn()
    return new Map(
      places.flatMap(({ topicId, partitions }) => {
        const topic = names.get(topicId)
        if (topic === undefined) return []
        return partitions.map((partition) => [`${topic}/${partition}`, { topic, topicId, partition }] as const)
      }),
    )
  }
}

type Coordinator = ReturnType<typeof coordinatorOf>

/** The requests of a member to the coordinator of its group, which is looked up again after each failure. */
function coordinatorOf(client: Admin, { context, reading: { group, topics } }: MemberOptions) {
  const memberId = randomUUID()
  let known: { readonly host: string; readonly port: number } | undefined
  const find = async () => {
    const broker = await anyBroker(client)
    const { coordinators } = await findCoordinatorV4.api.async(broker, FindCoordinatorKeyTypes.GROUP, [group])
    const [found] = coordinators
    if (found === undefined) throw new Error('the brokers name no coordinator')
    return found
  }
  const ask = async <Answer>(request: (connection: Connection) => Promise<Answer>): Promise<Answer> => {
    try {
      known ??= await find()
      return await request(await client.connections.get(known))
    } catch (error) {
      known = undefined
      throw error
    }
  }
  let hasAsked = false
  const heartbeat = (epoch: number, owned: TopicPartitions[]) => {
    const { api } = consumerGroupHeartbeatV1
    const timeoutMs = context.rebalanceTimeoutMs
    return ask((connection) => {
      hasAsked = true
      return api.async(connection, group, memberId, epoch, null, null, timeoutMs, [...topics], null, null, owned)
    })
  }
  return {
    memberId,
    /** Whether it supports the version of the protocol in which clients choose the member ids (Kafka 4.0). */
    hasProtocol: async (): Promise<boolean> => {
      const { apiKeys } = await ask((connection) => apiVersionsV3.api.async(connection, 'sluice', '1'))
      const { key, version } = consumerGroupHeartbeatV1.api
      return apiKeys.some(({ apiKey, maxVersion }) => apiKey === key && maxVersion >= version)
    },
    heartbeat,
    /** True from the first join that is sent: the group may have the member even if no answer comes, until its session is over. */
    mayKnowMember: () => hasAsked,
    /** Tries twice: the connection of a heartbeat that timed out may still be closing, and the coordinator may have moved. */
    leave: async () => {
      if (!hasAsked) return
      await heartbeat(LEAVE, []).catch((error) => {
        if (!isTransient(error, hasAsked)) throw error
        return heartbeat(LEAVE, [])
      })
    },
    commit: (epoch: number, places: Parameters<SendCommit>[0]) =>
      ask((connection) => offsetCommitV9.api.async(connection, group, epoch, memberId, null, places)),
  }
}
