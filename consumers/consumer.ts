import { topicName } from '../shared/contract/topics.ts'
import type { Subscription } from '../shared/journal/journal.ts'
import type { LogStoreWriter } from '../shared/log-store/log-store.ts'
import type { CoreServices } from '../shared/role.ts'
import type { Health, Service } from '../shared/runtime/lifecycle.ts'
import { byDeadline } from '../shared/runtime/waiting.ts'
import { type BatchDeps, createBatchHandler } from './batch.ts'
import { createDeadLetterWriter } from './dead-letters.ts'
import { createInstruments, createLag, createLagReporter } from './metrics.ts'
import { createOtherStores } from './other-stores.ts'
import { groupName, PROJECTIONS, type Projection, type ProjectionName, type Projector } from './projection.ts'

/** Keeps one projection up to date from the journal. */
export interface Consumer extends Service {
  /** Ready while it reads and its topics exist; once it has halted, the reason says why. */
  health(): Health
  /**
   * Resolves after `stop`. Rejects when the consumer halts: the store halts, the group's position is lost, a dead letter cannot be written,
   * too many records are bad, or anything unforeseen. Nothing was committed for the records it could not settle, so a new consumer resumes
   * where this one stopped.
   */
  readonly done: Promise<void>
}

interface ConsumerDeps extends Pick<CoreServices, 'journal' | 'clock' | 'logger' | 'metrics' | 'tracer'> {
  readonly projection: ProjectionName
  readonly topicPrefix: string
  readonly store: LogStoreWriter
  readonly options?: Partial<ConsumerOptions>
}

/** The limits and intervals of a consumer; each has a default. */
export interface ConsumerOptions {
  /** Maximum records of one batch read from a partition. */
  readonly batchRecordsMax: number
  /** Time to gather records of a partition whose last one was handled, in milliseconds. */
  readonly gatherMs: number
  /** Maximum documents of one write to the store. */
  readonly writeDocumentsMax: number
  /** Maximum bytes of one write to the store, measured as the records' values. */
  readonly writeBytesMax: number
  /** Maximum dead letters in a row in one partition; one more halts the consumer. */
  readonly deadLetterRunMax: number
  /** Maximum share (0 to 1) of dead letters among the last `deadLetterWindowRecords` records of a partition. */
  readonly deadLetterRatioMax: number
  readonly deadLetterWindowRecords: number
  /** Time between two measurements of how far the projection is behind. */
  readonly lagIntervalMs: number
}

const CONSUMER_DEFAULTS: ConsumerOptions = {
  batchRecordsMax: 1_000,
  gatherMs: 0,
  writeDocumentsMax: 1_000,
  writeBytesMax: 4 * 1024 * 1024,
  deadLetterRunMax: 100,
  deadLetterRatioMax: 0.5,
  deadLetterWindowRecords: 1_000,
  lagIntervalMs: 5_000,
}

/**
 * The limits of a projection that folds records, as far as they differ: each write of a document replaces it, so fewer writes that fold more
 * records cost the store less. They are for stores that show documents late anyway; in others a document is cheap to replace.
 */
const FOLDING: Partial<ConsumerOptions> = { batchRecordsMax: 10_000, gatherMs: 1_000, writeDocumentsMax: 10_000 }

/**
 * One member of the projection's group. `start` rejects if a topic is missing (the dead letters' included: without it a bad record could
 * only be dropped) or the journal cannot be joined.
 */
export function createConsumer(deps: ConsumerDeps): Consumer {
  const { clock, logger } = deps
  const projection = PROJECTIONS[deps.projection]
  /** The reasons why partitions wait for somebody to act, by partition. */
  const heldUp = new Map<string, string>()
  const { instruments, deadLetters, otherStores, lagReporter, join } = assemble(projection, deps, (place, reason) => {
    if (reason === null) heldUp.delete(place)
    else heldUp.set(place, reason)
    instruments.halted(halted !== undefined || heldUp.size > 0)
  })
  const name = `${projection.name} consumer`
  const done = Promise.withResolvers<void>()
  // A halt is logged, counted and shown by `health`; a caller that ignores `done` must not get an unhandled rejection.
  done.promise.catch(() => undefined)
  let subscription: Subscription | undefined
  let starting: Promise<void> | undefined
  let stopping: Promise<void> | undefined
  let halted: string | undefined

  const halt = (error: unknown): void => {
    halted = error instanceof Error ? error.message : String(error)
    instruments.halted(true)
    logger.error({ view: projection.name, err: error }, 'the consumer halted')
    done.reject(error)
    subscription?.close().catch((err) => logger.warn({ view: projection.name, err }, 'the subscription did not close'))
  }
  const open = async (): Promise<void> => {
    try {
      await deadLetters.open()
      subscription = await join()
    } catch (error) {
      halt(error)
      throw error
    }
    const ended = (): void => {
      if (stopping === undefined) halt(new Error('the journal ended the subscription'))
    }
    subscription.done.then(ended, halt)
    await lagReporter.start()
  }
  const leave = async (): Promise<void> => {
    await starting?.catch(() => undefined)
    await subscription?.close()
  }
  const stop = async (deadline: number): Promise<void> => {
    try {
      const inTime = await byDeadline(Promise.all([leave(), lagReporter.stop(deadline)]), deadline, clock)
      if (!inTime)
        logger.warn({ view: projection.name }, 'a batch did not end by the deadline; its records are read again')
    } finally {
      done.resolve()
    }
  }

  return {
    name,
    done: done.promise,
    start: () => {
      if (stopping === undefined) starting ??= open()
      return starting ?? Promise.resolve()
    },
    stop: (deadline) => {
      stopping ??= stop(deadline)
      return stopping
    },
    health: () => {
      if (halted !== undefined) return { name, ready: false, reason: halted }
      if (stopping !== undefined) return { name, ready: false, reason: 'stopped' }
      if (subscription === undefined) return { name, ready: false, reason: 'not started' }
      const [waiting] = heldUp.values()
      if (waiting !== undefined) return { name, ready: false, reason: waiting }
      // A group simply has no partitions of a topic that was deleted.
      const missing = lagReporter.missing()
      if (missing !== null) return { name, ready: false, reason: missing }
      const divided = otherStores.reason()
      // Ready nevertheless, or the move of an installation to another store would take it out of service.
      return { ...(divided !== null && { reason: divided }), ...subscription.health(), name }
    },
  }
}

/**
 * Rejects when every consumer has halted, with the error of the first in the list; otherwise resolves when all have ended. A single halt
 * shows in the consumer's log, metric and health: the others go on without it.
 */
export async function endOfAll(consumers: readonly Pick<Consumer, 'done'>[]): Promise<void> {
  const ends = await Promise.allSettled(consumers.map(({ done }) => done))
  const halts = ends.filter((end) => end.status === 'rejected')
  if (halts.length === ends.length) throw halts[0]?.reason
}

/** The parts of a consumer and how it joins its group. */
function assemble(projection: Projection<unknown>, deps: ConsumerDeps, onHeldUp: BatchDeps['onHeldUp']) {
  const { topicPrefix, journal, store, clock, logger, metrics, tracer = null } = deps
  const limits = projection.folds === true && store.searchableWithinMs > 0 ? FOLDING : {}
  const options = { ...CONSUMER_DEFAULTS, ...limits, ...deps.options }
  const group = groupName(topicPrefix, projection.name)
  const projectors = new Map(projection.sources.map(({ role, project }) => [topicName(topicPrefix, role), project]))
  const topics = [...projectors.keys()]
  const instruments = createInstruments(metrics, projection.name, clock)
  const lag = createLag()
  const note = (): string | null => store.name?.() ?? null
  const otherStores = createOtherStores({ group, name: note, clock, logger, onLook: instruments.divided })
  const deadLetters = createDeadLetterWriter({
    journal,
    topic: topicName(topicPrefix, 'dead-letters'),
    projection: projection.name,
    group,
    clock,
  })
  const handler = createBatchHandler(projection, (topic) => projectorOf(projectors, topic), {
    store,
    deadLetters,
    deadLetterLimits: {
      runMax: options.deadLetterRunMax,
      ratioMax: options.deadLetterRatioMax,
      windowRecords: options.deadLetterWindowRecords,
    },
    chunkLimits: { recordsMax: options.writeDocumentsMax, bytesMax: options.writeBytesMax },
    gatherMs: options.gatherMs,
    lag,
    instruments,
    logger,
    onHeldUp,
    tracing: tracer === null ? undefined : { tracer, group },
  })
  instruments.halted(false)
  instruments.divided(false)
  return {
    instruments,
    deadLetters,
    otherStores,
    lagReporter: createLagReporter({
      journal,
      topics,
      group,
      lag,
      onPositions: otherStores.look,
      instruments,
      clock,
      logger,
      intervalMs: options.lagIntervalMs,
    }),
    join: (): Promise<Subscription> =>
      journal.subscribe(
        { group, topics, recordsMax: options.batchRecordsMax, onAssigned: instruments.assigned, note },
        handler,
      ),
  }
}

function projectorOf(projectors: ReadonlyMap<string, Projector<unknown>>, topic: string): Projector<unknown> {
  const project = projectors.get(topic)
  if (project === undefined) throw new Error(`the journal gave a record of ${topic}, which was not asked for`)
  return project
}
