import type { Health } from '../../runtime/lifecycle.ts'
import { createWaker, within } from '../../runtime/waiting.ts'
import type { SubscribeOptions, Subscription } from '../journal.ts'
import { startClassicMember } from './classic-member.ts'
import { startConsumerMember } from './consumer-member.ts'
import { describeFault } from './faults.ts'
import type { Ended, GroupContext, Member, StartMember } from './member.ts'
import type { Handler } from './read-queue.ts'
import { judgeStall } from './stall.ts'

export interface SubscriptionContext extends GroupContext {
  /** A handler that runs longer is considered stuck: its member leaves the group, so that another can go on. */
  readonly handlerTimeoutMs: number
  /** A reader that gets no answer from any broker for this long is replaced. */
  readonly stallTimeoutMs: number
}

const WATCH_MS = 1_000
const REJOIN_DELAY_MS = 1_000
/** How long a stuck handler may take to notice that it was aborted. */
const STUCK_GRACE_MS = 5_000

/**
 * Reads as a member of a group until closed. The member is replaced whenever it makes no progress: no heartbeat, no answer from a broker, a
 * handler that does not return, a join that fails. Only a handler's error and lost records end the subscription.
 */
export function subscribeToTopics(
  context: SubscriptionContext,
  options: SubscribeOptions,
  handler: Handler,
): Subscription {
  const { logger } = context
  const { group } = options
  const closing = new AbortController()
  const waker = createWaker(closing.signal)
  const name = `group ${group}`
  let health: Health = { name, ready: false, reason: 'joining the group' }

  const run = async (): Promise<void> => {
    const preferred = context.groupProtocol === 'auto' ? startConsumerMember : startClassicMember
    let start = preferred
    /** A lasting reason, such as a missing right, is told once. */
    let told: string | null = null
    while (!closing.signal.aborted) {
      const ended = await runMember(context, options, handler, closing.signal, start, (reason) => {
        health = reason === null ? { name, ready: true } : { name, ready: false, reason }
        if (reason === null) told = null
      })
      if (closing.signal.aborted) return
      const { reason } = ended
      start = ended.isUnsupported ? startClassicMember : preferred
      if (ended.isUnsupported) {
        logger.info({ group, reason }, 'the group is joined by the classic protocol')
        continue
      }
      health = { name, ready: false, reason }
      if (reason !== told) logger.warn({ group, reason }, 'a group member is made anew')
      told = reason
      await waker.wait(REJOIN_DELAY_MS)
    }
  }
  const done = run()
  // A caller that awaits `done` gets the error; for one that only checks `health`, it must not count as unhandled.
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

/** One member from joining to leaving. Resolves to the reason why it ended; rejects with an error that ends the subscription. */
async function runMember(
  context: SubscriptionContext,
  options: SubscribeOptions,
  handler: Handler,
  closing: AbortSignal,
  start: StartMember,
  report: (reason: string | null) => void,
): Promise<Ended> {
  const { logger } = context
  const { group, onAssigned = () => undefined } = options
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<Ended>()
  const onClose = (): void => end({ reason: 'closed' })
  closing.addEventListener('abort', onClose, { once: true })
  let result: Ended | undefined
  const onReplaced = ({ topic }: { readonly topic: string }): void => end({ reason: `${topic} was made anew` })
  const reading = { ...options, context, handler, fail, onBegun: () => watch.look(), onReplaced }
  const member = start({ context, reading, onAssigned, end })
  const watch = watchMember(context, group, member, end, report)
  try {
    result = await ended
    return result
  } finally {
    member.stop()
    watch.stop()
    closing.removeEventListener('abort', onClose)
    const assignment = member.assignment()
    assignment?.abort()
    if (assignment !== undefined) onAssigned(0, result === undefined || closing.aborted ? 'closed' : 'member')
    // Leaves the group even if a handler hangs, so that another member can go on; then waits for the handler anyway.
    const released = assignment?.ended() ?? Promise.resolve()
    const grace = result?.graceMs ?? context.rebalanceTimeoutMs
    await within(grace, released).catch(() => logger.warn({ group, grace }, 'a handler does not end when aborted'))
    await member.leave()
    await released
  }
}

/** Ends a member that makes no progress, and reports the state of the others. */
function watchMember(
  context: SubscriptionContext,
  group: string,
  member: Member,
  end: (ended: Ended) => void,
  report: (reason: string | null) => void,
): { stop(): void; look(): void } {
  const { sessionTimeoutMs, rebalanceTimeoutMs, handlerTimeoutMs, stallTimeoutMs } = context
  const warn = warnOnChange(context, group)
  const look = (): void => {
    const now = performance.now()
    const assignment = member.assignment()
    const busySince = assignment?.busySince() ?? null
    const silence = now - member.heartbeatAt()
    if (busySince !== null && now - busySince > handlerTimeoutMs) {
      end({ reason: `a handler has not returned for ${handlerTimeoutMs} ms`, graceMs: STUCK_GRACE_MS })
    } else if (assignment && silence > sessionTimeoutMs) {
      end({ reason: `the group has not answered a heartbeat for ${sessionTimeoutMs} ms` })
    } else if (silence > sessionTimeoutMs + 2 * rebalanceTimeoutMs) {
      end({ reason: 'the group could not be joined' })
    } else if (assignment) {
      const { reason, alarm, remake } = judgeStall(assignment.states(), now, stallTimeoutMs)
      report(remake ?? reason)
      if (remake === null) warn(alarm, reason)
      else end({ reason: remake })
    }
  }
  const watch = setInterval(look, WATCH_MS)
  return { look, stop: () => clearInterval(watch) }
}

/** Warns when the set of partitions that are not read changes, and logs when all are read again. */
function warnOnChange({ logger }: SubscriptionContext, group: string) {
  let told = ''
  return (partitions: string, reason: string | null): void => {
    if (partitions === told) return
    told = partitions
    if (partitions === '') logger.info({ group }, 'all partitions are read again')
    else logger.warn({ group, partitions, reason }, 'partitions are not read')
  }
}
