import { PositionLostError } from '../../shared/journal/journal.ts'
import { StoreHaltError } from '../../shared/log-store/log-store.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { Health, Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { startThread, type Thread, ThreadGoneError } from '../../shared/runtime/threads/thread.ts'
import { byDeadline } from '../../shared/runtime/waiting.ts'
import type { ConsumersCalls } from './consumers-thread.ts'

/** The consumers as the rest of the process sees them, wherever they run. */
export interface RunningConsumers extends Service {
  health(): Promise<readonly Health[]>
  /** Whether they can write the log store. */
  storeHealth(): Promise<Health>
  /** Their instruments, in the form that prom-client's aggregation takes. */
  metrics(): Promise<object>
  /** Rejects when all projections have halted; never settles before `start`. */
  readonly done: Promise<void>
}

/** A page of records and their documents live briefly; with a smaller young generation they would be promoted to the old one. */
const YOUNG_GENERATION_MIB = 24
/**
 * Time to leave the groups, in milliseconds, even if others took all of a drain: a group waits longer for a member that is just gone. Half
 * of it is for the batches to end, the rest for the connections.
 */
const LEAVE_MS = 1_000

/** How long a thread that died stays away, in milliseconds: what ended it may happen again at once. */
const BEGIN_AGAIN_MS = 5_000

/** Runs the consumers in a thread (consumers-thread.ts), and in a new one once it has died, as of too little memory. */
export function createConsumersInThread(
  config: Config,
  logger: Pick<Logger, 'error'>,
  beginAgainMs = BEGIN_AGAIN_MS,
): RunningConsumers {
  const done = Promise.withResolvers<void>()
  done.promise.catch(() => {})
  let thread: Thread<ConsumersCalls> | undefined
  let stopping = false
  let timer: NodeJS.Timeout | undefined

  async function begin(): Promise<void> {
    const begun = await startThread<ConsumersCalls>({
      name: 'consumers',
      module: new URL('./consumers-thread.ts', import.meta.url),
      data: { config },
      youngGenerationMiB: YOUNG_GENERATION_MIB,
      errors: [StoreHaltError, PositionLostError],
    })
    if (stopping) return begun.kill()
    thread = begun
    begun.call('done', []).then(done.resolve, (error: unknown) => {
      if (stopping) done.resolve()
      else if (error instanceof ThreadGoneError) beginAgain(error)
      else done.reject(error)
    })
  }

  function beginAgain(err: unknown): void {
    if (stopping) return
    logger.error({ err }, 'the thread of the consumers died; another one goes on where it was')
    timer = setTimeout(() => begin().catch(beginAgain), beginAgainMs)
  }

  const ownHealth = (): Health =>
    thread?.health() ?? { name: 'consumers', ready: false, reason: 'the consumers are being started' }
  return {
    name: 'consumers',
    done: done.promise,
    start: begin,
    stop: async (deadline) => {
      stopping = true
      clearTimeout(timer)
      if (thread === undefined || !thread.health().ready) return done.resolve()
      const { call, close, kill } = thread
      const now = systemClock.now()
      const [batchesEnd, end] = [Math.max(deadline, now + LEAVE_MS / 2), Math.max(deadline, now + LEAVE_MS)]
      // A request that Elasticsearch does not answer would hold the thread, and with it the process, for more than a minute.
      if (!(await byDeadline(call('stop', [batchesEnd]).finally(close), end, systemClock))) await kill()
    },
    health: async () => (thread?.health().ready ? await thread.call('health', []) : [ownHealth()]),
    storeHealth: async () => (thread?.health().ready ? await thread.call('storeHealth', []) : ownHealth()),
    metrics: async () => (thread?.health().ready ? await thread.call('metrics', []) : []),
  }
}
