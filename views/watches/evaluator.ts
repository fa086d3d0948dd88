import { ProblemError } from '../../shared/contract/errors.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { type LogStoreReader, ReadNotBegunError, ReadTooLargeError } from '../../shared/log-store/log-store.ts'
import type { CoreServices } from '../../shared/role.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { byDeadline, isTimeout, pause } from '../../shared/runtime/waiting.ts'
import { createLearntWaits } from '../api/flow-waits.ts'
import { createStoreCheck } from '../api/problems.ts'
import type { KnownWatch, NextState, WatchBook } from './book.ts'
import { evaluate } from './conditions.ts'
import { createLanes, type Job } from './lanes.ts'
import { bodyOf, matchedUrl } from './messages.ts'
import { createOrphanRemoval } from './orphans.ts'
import type { Ownership } from './ownership.ts'
import type { Posted, Poster } from './poster.ts'
import { afterAttempt, afterError, afterEvaluation, beforeAttempt, dueDelivery, stateOf } from './progress.ts'
import type { Delivery } from './records.ts'
import { createSchedule, keyOf, type Schedule } from './schedule.ts'

interface EvaluatorDeps extends Pick<CoreServices, 'registry' | 'registryReady' | 'clock' | 'logger' | 'metrics'> {
  readonly book: WatchBook
  readonly ownership: Pick<Ownership, 'owns'>
  readonly poster: Poster
  readonly store: LogStoreReader
  /** The address of the page, without a slash at its end; null if unknown. */
  readonly pageUrl: string | null
  /** Interval between evaluations of a watch, in milliseconds. */
  readonly intervalMs: number
  /** Time limit of an evaluation, in milliseconds. */
  readonly deadlineMs: number
  /** The clock for intervals. */
  readonly steady?: Clock
  /** Interval between searches for due work, in milliseconds. */
  readonly tickMs?: number
}

const TICK_MS = 1_000
/** Concurrent evaluations in total and per Team; each may hold a page of logs in memory. */
const EVALUATIONS_MAX = 2
const TEAM_EVALUATIONS_MAX = 1
/** Concurrent posts in total and per Team; a receiver may use up the whole timeout. */
const POSTS_MAX = 8
const TEAM_POSTS_MAX = 2
/** An outcome that cannot be recorded is tried again with each tick, for half a minute. */
const OUTCOME_TRIES = 30

/**
 * Evaluates all watches while this process is the owner, and posts their matches. Each tick offers the watches with a message that is due to
 * the lanes of posts, and the others that are due to those of evaluations. Both write the watch's next state to the book (`progress.ts`);
 * when watches were evaluated is written for all of a Team together, once an interval.
 */
export function createEvaluator(deps: EvaluatorDeps): Service {
  const { book, ownership, clock, logger, intervalMs } = deps
  const stopping = new AbortController()
  const evaluations = createLanes(EVALUATIONS_MAX, TEAM_EVALUATIONS_MAX)
  const posts = createLanes(POSTS_MAX, TEAM_POSTS_MAX)
  const schedule = createSchedule(book, intervalMs)
  const evaluateOne = createEvaluation(deps, schedule, stopping.signal)
  const post = createPosting(deps, stopping.signal)
  const removeOrphans = createOrphanRemoval(deps)
  let writtenAt = performance.now()

  /** The current watch, unless there is nothing left to do for it. */
  const current = ({ team, id }: KnownWatch): KnownWatch | undefined => {
    const watch = ownership.owns() && !stopping.signal.aborted ? book.find(team, id) : undefined
    return watch?.paused ? undefined : watch
  }
  const jobOf = (watch: KnownWatch, work: (watch: KnownWatch) => Promise<void>): Job => ({
    owner: watch.team,
    key: keyOf(watch),
    run: async () => {
      const present = current(watch)
      try {
        if (present !== undefined) await work(present)
      } catch (err) {
        const { team, id } = watch
        logger.error({ err, team, watch: id }, 'a watch was left out for a while, as its evaluation broke')
        schedule.done(watch, null)
      }
    },
  })

  const tick = async (): Promise<void> => {
    if (!ownership.owns()) return schedule.forget()
    if (!book.ready() || !deps.registryReady()) return
    const all = book.all().filter(({ paused, team }) => !paused && deps.registry.team(team) !== undefined)
    schedule.keep(all)
    // A watch is evaluated or posted, never both at once, as each state succeeds the previous one.
    const idle = all.filter((watch) => !evaluations.isRunning(keyOf(watch)) && !posts.isRunning(keyOf(watch)))
    const now = clock.now()
    const [toEvaluate, toPost]: [KnownWatch[], Job[]] = [[], []]
    for (const watch of idle) {
      const delivery = dueDelivery(watch, now)
      // Receivers that do not answer each take a lane for the whole timeout: if repeats did not come last, many of them would take all.
      if (delivery !== undefined) toPost.push({ ...jobOf(watch, post), isRepeat: delivery.attempts > 0 })
      else toEvaluate.push(watch)
    }
    posts.offer(toPost)
    evaluations.offer(schedule.due(toEvaluate).map((watch) => jobOf(watch, evaluateOne)))
    await removeOrphans()
    if (performance.now() - writtenAt < intervalMs && !schedule.hasFirst()) return
    writtenAt = performance.now()
    await book.mend()
    await schedule.write()
  }
  const { name, start, stop } = createRepeater({
    name: 'evaluation of watches',
    intervalMs: deps.tickMs ?? TICK_MS,
    run: tick,
    onError: (err) => logger.warn({ err }, 'the watches could not be evaluated; trying again'),
    clock,
  })
  return {
    name,
    start,
    stop: async (deadline) => {
      stopping.abort()
      await byDeadline(Promise.all([stop(deadline), evaluations.end(), posts.end()]), deadline, clock)
    },
  }
}

/** Writes a state and returns whether it won. If the journal fails, the watch stays as it was and is evaluated again. */
async function advance(
  { book, logger }: EvaluatorDeps,
  watch: KnownWatch,
  next: NextState | undefined,
): Promise<boolean> {
  if (next === undefined) return false
  try {
    return await book.advance(watch, next)
  } catch (err) {
    logger.warn({ err, team: watch.team, watch: watch.id }, 'the state of a watch could not be written; trying again')
    return false
  }
}

function createEvaluation(
  deps: EvaluatorDeps,
  schedule: Schedule,
  stopping: AbortSignal,
): (watch: KnownWatch) => Promise<void> {
  const { store, registry, clock, logger, metrics, deadlineMs } = deps
  const tools = { store, registry, waits: createLearntWaits({ store, clock, logger, deadlineMs }) }
  const storeAnswers = createStoreCheck(store)
  const results = metrics.counter('sluice_watch_evaluations_total', { result: ['clear', 'met', 'error'] })
  const lastAt = metrics.gauge('sluice_watch_last_evaluation_timestamp_seconds')

  return async (watch) => {
    const now = clock.now()
    const over = AbortSignal.timeout(deadlineMs)
    const signal = AbortSignal.any([over, stopping])
    const { memory } = stateOf(watch)
    const evaluating = evaluate({ ...tools, watch, memory, now, signal })
    const evaluation = await evaluating.catch((error: unknown) => ({ error }))
    if (stopping.aborted) return
    const isError = 'error' in evaluation
    if (isError) {
      const isDown = over.aborted && !(await storeAnswers())
      const reason = isDown ? STORE_FAILED : reasonOf(evaluation.error, over.aborted, deadlineMs)
      if (reason === STORE_FAILED)
        logger.warn({ err: evaluation.error, team: watch.team }, 'a watch could not be evaluated')
      await advance(deps, watch, afterError(watch, reason, clock.now()))
    } else {
      await advance(deps, watch, afterEvaluation(watch, evaluation, clock.now()))
    }
    results.inc({ result: isError ? 'error' : evaluation.match !== null || evaluation.memory.isMet ? 'met' : 'clear' })
    lastAt.set(clock.now() / 1_000)
    schedule.done(watch, timestampOf(now), isError)
  }
}

function createPosting(deps: EvaluatorDeps, stopping: AbortSignal): (watch: KnownWatch) => Promise<void> {
  const { book, poster, registry, clock, logger, metrics, pageUrl } = deps
  const deliveries = metrics.counter('sluice_watch_deliveries_total', { result: ['delivered', 'failed', 'gave_up'] })

  async function post(watch: KnownWatch): Promise<void> {
    // Of all processes that attempt this delivery, the one whose record comes first makes it.
    if (!(await advance(deps, watch, beforeAttempt(watch, clock.now())))) return
    const claimed = book.find(watch.team, watch.id)
    const delivery = claimed && stateOf(claimed).delivery
    const team = registry.team(watch.team)
    if (claimed === undefined || !delivery || team === undefined) return
    const { id, name, condition, webhook } = claimed
    const notice = {
      type: 'watch.fired',
      team: { id: team.id, name: team.name },
      watch: { id, name, condition },
      firing: delivery,
      url: pageUrl === null ? null : matchedUrl(pageUrl, condition, delivery.at),
    } as const
    const message = { id: delivery.id, body: bodyOf(webhook.format, notice) }
    const posted = await poster.post({ ...webhook, team: team.id }, message, stopping)
    if (stopping.aborted && !posted.delivered) return
    const isLast = await noteOutcome(claimed, delivery, posted)
    deliveries.inc({ result: posted.delivered ? 'delivered' : isLast ? 'gave_up' : 'failed' })
    const logged = { team: watch.team, watch: watch.id, attempt: delivery.attempts, outcome: posted.message }
    if (posted.delivered) logger.info(logged, 'the message of a watch was delivered')
    else logger.warn(logged, 'the message of a watch could not be delivered')
  }

  /**
   * Records the outcome of an attempt and returns whether the attempt was the last. A state that another process wrote meanwhile is
   * succeeded; if the outcome cannot be recorded at all, the message is posted again with the same id.
   */
  async function noteOutcome({ team, id }: KnownWatch, delivery: Delivery, posted: Posted): Promise<boolean> {
    for (let tries = 0; tries < OUTCOME_TRIES; tries += 1) {
      const watch = book.find(team, id)
      if (watch === undefined || stateOf(watch).delivery?.id !== delivery.id) return true
      const after = afterAttempt(watch, posted, clock.now())
      if (await advance(deps, watch, after)) return after.delivery?.id !== delivery.id
      await pause(deps.tickMs ?? TICK_MS, stopping)
    }
    return false
  }

  return post
}

const STORE_FAILED = 'The log store could not answer.'

function reasonOf(error: unknown, isOver: boolean, deadlineMs: number): string {
  if (error instanceof ProblemError) return error.problem.message
  if (error instanceof ReadNotBegunError) return 'The log store was busy with other reads.'
  if (isOver || isTimeout(error))
    return `The condition took longer than ${deadlineMs / 1_000} seconds. Narrow its search or shorten its time.`
  if (error instanceof ReadTooLargeError)
    return 'The condition needs more memory than a read may have. Narrow its search or shorten its time.'
  return STORE_FAILED
}
