import { Consumer } from '@platformatic/kafka'
import type { Health } from '../../runtime/lifecycle.ts'
import { createWaker, within } from '../../runtime/waiting.ts'
import type { AssignmentCause, SubscribeOptions, Subscription } from '../journal.ts'
import { type Assignment, type Handler, startAssignment } from './assignment.ts'
import { commitPosition, type Membership } from './commit.ts'
import { clientOptions } from './connection.ts'
import { describeFault } from './faults.ts'
import { patchClient } from './patched-client.ts'
import type { ReadContext } from './read.ts'
import { judgeStall } from './stall.ts'

export interface GroupContext extends ReadContext {
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly heartbeatIntervalMs: number
  readonly handlerTimeoutMs: number
  readonly stallTimeoutMs: number
}

const WATCH_MS = 1_000
const PARTITION_CHECK_MS = 30_000
const REJOIN_DELAY_MS = 1_000
/** How long a handler that was stuck anyway may take to notice that it was aborted. */
const STUCK_GRACE_MS = 5_000
const LEAVE_WITHIN_MS = 5_000

/** The reason why a membership ended, other than `close` or an error of the subscription. */
interface Ended {
  readonly reason: string
  readonly graceMs: number
}

/**
 * Reads as a member of a group until closed. The member is made anew whenever it does not get on: no heartbeat, no answer from a
 * broker, a handler that does not return, a join that fails. Only a handler's error and lost records end the subscription.
 */
export function subscribeToTopics(context: GroupContext, options: SubscribeOptions, handler: Handler): Subscription {
  const { logger } = context
  const { group } = options
  const closing = new AbortController()
  const waker = createWaker(closing.signal)
  const name = `group ${group}`
  let health: Health = { name, ready: false, reason: 'joining the group' }

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const reason = await runMember(context, options, handler, closing.signal, (reason) => {
        health = reason === null ? { name, ready: true } : { name, ready: false, reason }
      })
      if (closing.signal.aborted) return
      health = { name, ready: false, reason }
      logger.warn({ group, reason }, 'a group member is made anew')
      await waker.wait(REJOIN_DELAY_MS)
    }
  }
  const done = run()
  // A caller that waits for `done` gets the error; for one that looks at `health` only it must not count as unhandled.
  done.then(
    () => {
      health = { name, ready: false, reason: 'closed' }
    },
    (error) => {
      health = { name, ready: false, reason: describeFault(error) }
      logger.warn({ group, reason: health.reason }, 'a subscription ended')
    },
  )
  return {
    done,
    health: () => health,
    close: async () => {
      closing.abort()
      await done.catch(() => undefined)
    },
  }
}

/** One member from joining to leaving. Resolves with why it ended; rejects with what ends the subscription. */
async function runMember(
  context: GroupContext,
  options: SubscribeOptions,
  handler: Handler,
  closing: AbortSignal,
  report: (reason: string | null) => void,
): Promise<string> {
  const { logger } = context
  const { group, onAssigned = () => undefined } = options
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<Ended>()
  const graceMs = context.rebalanceTimeoutMs
  const onClose = (): void => end({ reason: 'closed', graceMs })
  closing.addEventListener('abort', onClose, { once: true })
  let assignment: Assignment | undefined
  let heartbeatAt = performance.now()
  let over = false

  /**
   * Called by the library before each JoinGroup. The group hands the partitions on once all members have joined, so nothing may run
   * any more when the request leaves.
   */
  const release = async (): Promise<Buffer> => {
    assignment?.abort()
    await assignment?.ended()
    if (assignment !== undefined && !over) onAssigned(0, 'group')
    assignment = undefined
    // A member that has ended must not join again; any answer would make the library set a timer, a minute long, that nothing clears.
    return over ? new Promise(() => undefined) : Buffer.alloc(0)
  }
  const member = createMember(context, options, release)
  member.on('consumer:heartbeat:error', ({ error }) =>
    logger.debug({ group, reason: describeFault(error) }, 'a heartbeat failed'),
  )
  member.on('consumer:group:rebalance', () => assignment?.abort())
  member.on('consumer:heartbeat:end', () => {
    heartbeatAt = performance.now()
  })
  // The library reports here that it could not join again, and then stops its heartbeats.
  member.on('error', (error: Error) => end({ reason: describeFault(error), graceMs }))
  member.on('consumer:group:join', ({ generationId = -1, memberId, assignments = [] }) => {
    if (closing.aborted) return
    heartbeatAt = performance.now()
    const membership: Membership = { group, generationId, memberId }
    const partitions = assignments.map(({ topic, partitions: numbers }) => `${topic}: ${numbers.join(' ')}`)
    logger.info({ group, generationId, partitions }, 'joined the group')
    onAssigned(
      assignments.reduce((sum, { partitions: numbers }) => sum + numbers.length, 0),
      'assigned',
    )
    assignment = startAssignment({
      context,
      group,
      handler,
      fail,
      onBegun: () => watch.look(),
      recordsMax: options.recordsMax,
      partitions: assignments,
      commit: (topic, partition, position, signal) =>
        commitPosition(member, membership, { topic, partition, position }, signal, (failure) =>
          logger.debug({ group, topic, partition, reason: failure }, 'a commit failed and is repeated'),
        ),
    })
  })

  const watch = watchMember(context, options, () => ({ assignment, heartbeatAt }), end, report)
  let grace = graceMs
  let cause: AssignmentCause = 'closed'
  try {
    member.joinGroup({}).catch((error) => end({ reason: describeFault(error), graceMs }))
    const { reason, graceMs: given } = await ended
    grace = given
    if (!closing.aborted) cause = 'member'
    return reason
  } finally {
    over = true
    watch.stop()
    closing.removeEventListener('abort', onClose)
    assignment?.abort()
    if (assignment !== undefined) onAssigned(0, cause)
    // Leaves the group even where a handler hangs, so that another member can go on; then waits for the handler all the same.
    const released = assignment?.ended() ?? Promise.resolve()
    await within(grace, released).catch(() => logger.warn({ group, grace }, 'a handler does not end when aborted'))
    await leave(member, context)
    await released
  }
}

function createMember(context: GroupContext, { group, topics }: SubscribeOptions, release: () => Promise<Buffer>) {
  const { rebalanceTimeoutMs, sessionTimeoutMs, heartbeatIntervalMs } = context
  // A first join that is given up and repeated leaves a member behind that holds up its group for a session, so this client is more
  // patient than those that read; three tries of a heartbeat fit into a session.
  const requestTimeoutMs = Math.max(context.requestTimeoutMs, Math.floor(sessionTimeoutMs / 3))
  const member = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    ...clientOptions(context.connection, {
      requestTimeoutMs,
      // A join is answered when all members have joined, so its request may time out and be repeated until then.
      retries: Math.ceil(rebalanceTimeoutMs / requestTimeoutMs) + 2,
    }),
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    protocolsMetadata: release,
  })
  for (const topic of topics) member.topics.track(topic)
  return patchClient(member, context.connection)
}

/** Ends a member that does not get on, and reports how the others do. */
function watchMember(
  context: GroupContext,
  { group, topics }: SubscribeOptions,
  member: () => { readonly assignment: Assignment | undefined; readonly heartbeatAt: number },
  end: (ended: Ended) => void,
  report: (reason: string | null) => void,
): { stop(): void; look(): void } {
  const { sessionTimeoutMs, rebalanceTimeoutMs, handlerTimeoutMs, stallTimeoutMs } = context
  const warn = warnOnChange(context, group)
  const look = (): void => {
    const now = performance.now()
    const { assignment, heartbeatAt } = member()
    const graceMs = rebalanceTimeoutMs
    const busySince = assignment?.busySince() ?? null
    const silence = now - heartbeatAt
    if (busySince !== null && now - busySince > handlerTimeoutMs) {
      end({ reason: `a handler has not returned for ${handlerTimeoutMs} ms`, graceMs: STUCK_GRACE_MS })
    } else if (assignment && silence > sessionTimeoutMs) {
      end({ reason: `the group has not answered a heartbeat for ${sessionTimeoutMs} ms`, graceMs })
    } else if (silence > sessionTimeoutMs + 2 * rebalanceTimeoutMs) {
      end({ reason: 'the group could not be joined', graceMs })
    } else if (assignment) {
      const { reason, alarm, remake } = judgeStall(assignment.states(), now, stallTimeoutMs)
      report(remake ?? reason)
      if (remake === null) warn(alarm, reason)
      else end({ reason: remake, graceMs })
    }
  }
  const watch = setInterval(look, WATCH_MS)
  const partitions = watchPartitions(context, topics, (topic) =>
    end({ reason: `partitions were added to ${topic}`, graceMs: rebalanceTimeoutMs }),
  )
  return {
    look,
    stop: () => {
      clearInterval(watch)
      clearInterval(partitions)
    },
  }
}

/** Warns when it is other partitions that are not read, and tells when all are again. */
function warnOnChange({ logger }: GroupContext, group: string) {
  let told = ''
  return (partitions: string, reason: string | null): void => {
    if (partitions === told) return
    told = partitions
    if (partitions === '') logger.info({ group }, 'all partitions are read again')
    else logger.warn({ group, partitions, reason }, 'partitions are not read')
  }
}

/** A group deals out the partitions that its leader knew when it joined; those added later need another round. */
function watchPartitions({ cluster }: GroupContext, topics: readonly string[], onAdded: (topic: string) => void) {
  const counts = new Map<string, number>()
  const look = async (): Promise<void> => {
    for (const topic of topics) {
      const { length } = await cluster.partitionsOf(topic).catch(() => [])
      if (length === 0) continue
      if (length > (counts.get(topic) ?? length)) onAdded(topic)
      counts.set(topic, length)
    }
  }
  // The first look comes before the join: partitions added between the join and a later one would never be noticed.
  void look()
  return setInterval(look, PARTITION_CHECK_MS)
}

/**
 * Tells the coordinator, where it answers; otherwise the group notices after the session timeout. Leaving comes before closing, since
 * a client that is only closed while a heartbeat is under way goes on with its heartbeats.
 */
async function leave(member: Consumer, { logger }: GroupContext): Promise<void> {
  const left = new Promise<void>((resolve, reject) => {
    member.leaveGroup((error) => (error ? reject(error) : resolve()))
  })
  try {
    await within(LEAVE_WITHIN_MS, left)
  } catch (error) {
    logger.debug({ group: member.groupId, reason: describeFault(error) }, 'the group was not left')
  }
  await within(LEAVE_WITHIN_MS, member.close(true)).catch((error) =>
    logger.debug({ group: member.groupId, reason: describeFault(error) }, 'a member did not close'),
  )
}
