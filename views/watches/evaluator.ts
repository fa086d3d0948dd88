import { ProblemError } from '../../shared/contract/errors.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { isTimeout, type LogStoreReader, ReadTooLargeError } from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { byDeadline } from '../../shared/runtime/waiting.ts'
import { createLearntWaits } from '../api/flow-waits.ts'
import type { KnownWatch, NextState, WatchBook } from './book.ts'
import { type Finding, look } from './conditions.ts'
import { createLanes, type Job, type Lanes } from './lanes.ts'
import { bodyOf } from './messages.ts'
import type { Ownership } from './ownership.ts'
import type { Posted, Poster } from './poster.ts'
import { afterAttempt, afterError, afterLook, beforeAttempt, stateOf } from './progress.ts'
import type { Delivery } from './records.ts'

export interface EvaluatorDeps {
  readonly book: WatchBook
  readonly ownership: Pick<Ownership, 'owns'>
  readonly poster: Poster
  readonly store: LogStoreReader
  readonly registry: Registry
  readonly registryReady: () => boolean
  /** The address of the page that shows watches; null where it is not known. */
  readonly pageUrl: string | null
  /** From one look at a watch to the next, in milliseconds. */
  readonly intervalMs: number
  /** Longest time of a look. */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** From one look for work to the next. */
  readonly tickMs?: number
}

const TICK_MS = 1_000
/** Looks at a time, and of one Team: a look may hold as much as a page of logs. */
const LOOKS_MAX = 2
const TEAM_LOOKS_MAX = 1
/** Posts at a time, and of one Team: a receiver may take all of its time and say nothing. */
const POSTS_MAX = 8
const TEAM_POSTS_MAX = 2
const OUTCOME_TRIES = 3
/** A condition that failed so many times in a row is looked at this much more seldom, and no less. */
const DOUBLED_MAX = 5

/** Looks at all watches as long as this process is the one that does, and posts what they find. */
export function createEvaluator(deps: EvaluatorDeps): Service {
  const { book, ownership, clock, logger, intervalMs } = deps
  const stopping = new AbortController()
  const looks = createLanes(LOOKS_MAX, TEAM_LOOKS_MAX)
  const posts = createLanes(POSTS_MAX, TEAM_POSTS_MAX)
  const schedule = createSchedule(intervalMs, clock)
  const looking = createLooking(deps, schedule, stopping.signal)
  const post = createPosting(deps, stopping.signal)
  let notedAt = clock.now()

  /** The watch as it is now, unless it has nothing to do any more. */
  const current = ({ team, id }: KnownWatch): KnownWatch | undefined => {
    const watch = ownership.owns() && !stopping.signal.aborted ? book.find(team, id) : undefined
    return watch?.paused ? undefined : watch
  }
  /** One thing is done at a time for each watch, as a state follows the one before: `others` must not be at it. */
  const jobOf = (watch: KnownWatch, others: Lanes, work: (watch: KnownWatch) => Promise<void>): Job => ({
    owner: watch.team,
    key: keyOf(watch),
    run: async () => {
      const now = others.isRunning(keyOf(watch)) ? undefined : current(watch)
      try {
        if (now !== undefined) await work(now)
      } catch (err) {
        logger.error(
          { err, team: watch.team, watch: watch.id },
          'a watch was left out for a while, as its evaluation broke',
        )
        schedule.done(watch, true)
      }
    },
  })

  const tick = async (): Promise<void> => {
    if (!ownership.owns() || !book.ready() || !deps.registryReady()) return
    const now = clock.now()
    const all = book.all().filter(({ paused, team }) => !paused && deps.registry.team(team) !== undefined)
    schedule.keep(all)
    const idle = all.filter((watch) => !looks.isRunning(keyOf(watch)) && !posts.isRunning(keyOf(watch)))
    const toPost = idle.filter((watch) => beforeAttempt(watch, now) !== undefined)
    posts.offer(toPost.map((watch) => jobOf(watch, looks, post)))
    const toLook = schedule.due(idle.filter((watch) => !toPost.includes(watch)))
    looks.offer(toLook.map((watch) => jobOf(watch, posts, looking.look)))
    if (now - notedAt < intervalMs && !looking.hasNew()) return
    notedAt = now
    await looking.note()
  }
  const repeater = createRepeater({
    intervalMs: deps.tickMs ?? TICK_MS,
    run: tick,
    onError: (err) => logger.warn({ err }, 'the watches could not be gone through; trying again'),
  })
  return {
    name: 'evaluation of watches',
    start: async () => repeater.start(),
    stop: async (deadline) => {
      stopping.abort()
      await byDeadline(Promise.all([repeater.stop(), looks.end(), posts.end()]), deadline, clock)
    },
  }
}

const keyOf = ({ team, id }: KnownWatch): string => `${team}/${id}`

type Schedule = ReturnType<typeof createSchedule>

/** When each watch is looked at next. */
function createSchedule(intervalMs: number, clock: Clock) {
  let dueAt = new Map<string, { readonly at: number; readonly since: string; readonly failures: number }>()
  return {
    /** Forgets all others. A watch that was looked at elsewhere begins at any time within the interval, one that is new at once. */
    keep: (watches: readonly KnownWatch[]): void => {
      const kept: typeof dueAt = new Map()
      for (const watch of watches) {
        const known = dueAt.get(keyOf(watch))
        const isNew = watch.lastEvaluatedAt === null || (known !== undefined && known.since !== watch.since)
        const at = clock.now() + (isNew ? 0 : Math.random() * intervalMs)
        kept.set(keyOf(watch), known?.since === watch.since ? known : { at, since: watch.since, failures: 0 })
      }
      dueAt = kept
    },
    /** The watches whose time has come, the first of them first. */
    due: (watches: readonly KnownWatch[]): readonly KnownWatch[] => {
      const atOf = (watch: KnownWatch): number => dueAt.get(keyOf(watch))?.at ?? Number.POSITIVE_INFINITY
      return watches.filter((watch) => atOf(watch) <= clock.now()).toSorted((a, b) => atOf(a) - atOf(b))
    },
    done: (watch: KnownWatch, failed: boolean): void => {
      const failures = failed ? Math.min((dueAt.get(keyOf(watch))?.failures ?? 0) + 1, DOUBLED_MAX) : 0
      dueAt.set(keyOf(watch), { at: clock.now() + intervalMs * 2 ** failures, since: watch.since, failures })
    },
  }
}

/** Writes states; each tells whether it stands. A journal that does not take one leaves the watch as it was, to be looked at again. */
const createAdvance =
  ({ book, logger }: EvaluatorDeps) =>
  async (watch: KnownWatch, next: NextState | undefined): Promise<boolean> => {
    if (next === undefined) return false
    try {
      return await book.advance(watch, next)
    } catch (err) {
      logger.warn({ err, team: watch.team, watch: watch.id }, 'the state of a watch could not be written; trying again')
      return false
    }
  }

function createLooking(deps: EvaluatorDeps, schedule: Schedule, stopping: AbortSignal) {
  const { book, store, registry, clock, logger, metrics, deadlineMs } = deps
  const advance = createAdvance(deps)
  const tools = { store, registry, waits: createLearntWaits({ store, clock, logger, deadlineMs }) }
  const evaluations = metrics.counter('sluice_watch_evaluations_total')
  const lastAt = metrics.gauge('sluice_watch_last_evaluation_timestamp_seconds')
  for (const result of ['clear', 'met', 'error']) evaluations.inc({ result }, 0)
  /** Of each Team, the watches that were looked at since that was last noted. */
  const looked = new Map<string, Map<string, string>>()

  async function lookAt(watch: KnownWatch): Promise<void> {
    const now = clock.now()
    const over = AbortSignal.timeout(deadlineMs)
    const finding = await orError(look(watch, now, tools, AbortSignal.any([over, stopping])))
    if (stopping.aborted) return
    const isError = 'error' in finding
    if (isError) {
      const reason = reasonOf(finding.error, over.aborted, deadlineMs)
      if (reason === STORE_FAILED)
        logger.warn({ err: finding.error, team: watch.team }, 'a watch could not be evaluated')
      await advance(watch, afterError(watch, reason, clock.now()))
    } else {
      await advance(watch, afterLook(watch, finding, clock.now()))
    }
    evaluations.inc({ result: isError ? 'error' : finding.match !== null || finding.memory.isMet ? 'met' : 'clear' })
    lastAt.set(clock.now() / 1_000)
    schedule.done(watch, isError)
    const ofTeam = looked.get(watch.team) ?? new Map<string, string>()
    looked.set(watch.team, ofTeam.set(watch.id, timestampOf(now)))
  }

  return {
    look: lookAt,
    /** Whether a watch was looked at for the first time, which somebody may wait to see. */
    hasNew: (): boolean =>
      [...looked].some(([team, times]) =>
        [...times.keys()].some((id) => book.find(team, id)?.lastEvaluatedAt === null),
      ),
    /** Writes down when watches were looked at. */
    note: async (): Promise<void> => {
      for (const [team, times] of [...looked]) {
        looked.delete(team)
        const own = book.of(team)
        const known = own.flatMap(({ id, lastEvaluatedAt }) =>
          lastEvaluatedAt === null ? [] : [[id, lastEvaluatedAt]],
        )
        const now = [...times].filter(([id]) => own.some((one) => one.id === id))
        await book.noteEvaluations(team, Object.fromEntries([...known, ...now]))
      }
    },
  }
}

function createPosting(deps: EvaluatorDeps, stopping: AbortSignal): (watch: KnownWatch) => Promise<void> {
  const { book, poster, registry, clock, logger, metrics, pageUrl } = deps
  const advance = createAdvance(deps)
  const deliveries = metrics.counter('sluice_watch_deliveries_total')
  for (const result of ['delivered', 'failed', 'gave_up']) deliveries.inc({ result }, 0)

  async function post(watch: KnownWatch): Promise<void> {
    // Of all processes that want to make this attempt, the one whose record comes first makes it.
    if (!(await advance(watch, beforeAttempt(watch, clock.now())))) return
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
      url: pageUrl,
    } as const
    const posted = await poster.post(webhook, { id: delivery.id, body: bodyOf(webhook.format, notice) }, stopping)
    if (stopping.aborted && !posted.delivered) return
    const isLast = await noteOutcome(claimed, delivery, posted)
    deliveries.inc({ result: posted.delivered ? 'delivered' : isLast ? 'gave_up' : 'failed' })
    const told = { team: watch.team, watch: watch.id, attempt: delivery.attempts, outcome: posted.message }
    if (posted.delivered) logger.info(told, 'a watch was told of')
    else logger.warn(told, 'a watch could not be told of')
  }

  /**
   * Writes down what became of an attempt, and tells whether it was the last one. A state that another process wrote meanwhile is followed; where
   * the outcome cannot be written at all, the message is posted again, with the same id.
   */
  async function noteOutcome({ team, id }: KnownWatch, delivery: Delivery, posted: Posted): Promise<boolean> {
    for (let tries = 0; tries < OUTCOME_TRIES; tries += 1) {
      const watch = book.find(team, id)
      if (watch === undefined || stateOf(watch).delivery?.id !== delivery.id) return true
      const after = afterAttempt(watch, posted, clock.now())
      if (await advance(watch, after)) return after.delivery?.id !== delivery.id
    }
    return false
  }

  return post
}

const orError = async (work: Promise<Finding>): Promise<Finding | { readonly error: unknown }> => {
  try {
    return await work
  } catch (error) {
    return { error }
  }
}

const STORE_FAILED = 'The log store could not answer.'

function reasonOf(error: unknown, isOver: boolean, deadlineMs: number): string {
  if (error instanceof ProblemError) return error.problem.message
  if (isOver || isTimeout(error))
    return `The condition took longer than ${deadlineMs / 1_000} seconds. Narrow its search or shorten its time.`
  if (error instanceof ReadTooLargeError)
    return 'The condition needs more memory than a read may have. Narrow its search or shorten its time.'
  return STORE_FAILED
}
