import CircuitBreaker from 'opossum'
import { AppendError } from '../../shared/journal/journal.ts'
import { createDeadlines, type Deadlines } from '../../shared/runtime/deadlines.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { LINKS_MAX, type Tracer, traced } from '../../shared/runtime/tracing.ts'
import type { MicroBatch, PublisherJournal, PublishOutcome } from './publication.ts'

/**
 * One stage on the way to the journal: resolves when the micro-batch is durable, rejects if that is not certain. Stages wrap one another.
 * When the call returns, the journal has taken the records, and the caller removes them from the batch.
 */
export type Send = (batch: MicroBatch) => Promise<void>

interface SenderDeps {
  readonly journal: Pick<PublisherJournal, 'append'>
  /** Every topic that batches may have. */
  readonly topics: readonly string[]
  readonly metrics: Metrics
  readonly logger: Logger
  readonly tracer: Tracer | null
  /** Milliseconds that a send may take before it counts as failed. */
  readonly sendTimeoutMs: number
  readonly breaker: BreakerOptions
  /** Called when a batch had more bytes than its topic takes at once. */
  readonly onTooLarge: (topic: string, bytesMax: number) => void
}

/** Sends micro-batches to the journal. */
interface Sender {
  /** Never rejects: a failure is an outcome. */
  send(batch: MicroBatch): Promise<PublishOutcome>
  /** Ends the timers of its breakers; sends after it are `paused`. */
  close(): void
}

/**
 * The stages in the order in which a micro-batch meets them: the breaker of its topic refuses it while the journal keeps failing there, the
 * time limit gives up on it, the shares count its bytes until it has really settled, the tracer traces it, and its time is measured. Topics
 * have a breaker each, as the replicas of one alone may be missing.
 */
export function createSender(deps: SenderDeps): Sender {
  const { journal, topics, metrics, logger, tracer, sendTimeoutMs, breaker } = deps
  const measured = measureSends(metrics, (batch) => journal.append(batch))
  const limited = limitTime(sendTimeoutMs, holdBytes(tracer === null ? measured : traceSends(tracer, measured)))
  const breakers = new Map(
    topics.map((topic) => [topic, createBreaker(breaker, reportBreaker(topic, metrics, logger), limited)]),
  )
  const send: Send = (batch) => {
    const ofTopic = breakers.get(batch.topic)
    return ofTopic === undefined ? Promise.reject(new RangeError(`no topic ${batch.topic}`)) : ofTopic.send(batch)
  }
  return {
    send: outcomesOf(send, createFailureLog(logger), deps.onTooLarge),
    close: () => {
      for (const { close } of breakers.values()) close()
    },
  }
}

const BREAKER_GAUGE: Readonly<Record<BreakerState, number>> = { closed: 0, halfOpen: 1, open: 2 }

function reportBreaker(topic: string, metrics: Metrics, logger: Logger): (state: BreakerState) => void {
  const gauge = metrics.gauge('sluice_publish_breaker_state')
  gauge.set({ topic }, BREAKER_GAUGE.closed)
  return (state) => {
    gauge.set({ topic }, BREAKER_GAUGE[state])
    if (state === 'open') logger.error({ topic }, 'the journal keeps failing: sending is paused')
    if (state === 'closed') logger.info({ topic }, 'the journal works again: sending goes on')
  }
}

/** Turns the failure of a send into an outcome. */
const outcomesOf =
  (send: Send, onFailure: (error: unknown, batch: MicroBatch) => void, onTooLarge: SenderDeps['onTooLarge']) =>
  async (batch: MicroBatch): Promise<PublishOutcome> => {
    try {
      await send(batch)
      return 'durable'
    } catch (error) {
      if (error instanceof PausedError) return 'paused'
      onFailure(error, batch)
      if (error instanceof UnsettledError) return 'unsettled'
      if (!(error instanceof AppendError && error.outcome === 'not_written')) return 'uncertain'
      const { bytesMax } = error
      if (bytesMax === null) return 'refused'
      onTooLarge(batch.topic, bytesMax)
      // Several records are taken in smaller batches when they are sent again.
      return batch.count === 1 ? { bytesMax } : 'refused'
    }
  }

/** Logs failed sends: the first at once, then at most one line per interval with the number of those in between. */
export function createFailureLog(logger: Logger, intervalMs = 1_000): (error: unknown, batch: MicroBatch) => void {
  let quietUntil = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (error, { topic, partition, count }) => {
    const now = performance.now()
    if (now < quietUntil) {
      unsaid += 1
      return
    }
    logger.warn({ err: error, topic, partition, records: count, unsaid }, 'the journal did not confirm a send')
    quietUntil = now + intervalMs
    unsaid = 0
  }
}

export interface BreakerOptions {
  /** The breaker opens when more than this percentage of the sends in the window failed … */
  readonly failuresPercent: number
  /** … and there were at least this many sends. */
  readonly sendsMin: number
  readonly windowMs: number
  /** How long it stays open before one send is let through to try. */
  readonly openMs: number
}

export type BreakerState = 'closed' | 'halfOpen' | 'open'

/** The breaker refused a send without trying it. */
export class PausedError extends Error {
  override readonly name = 'PausedError'
}

interface Breaker {
  readonly send: Send
  /** Ends its timers; sends after it are refused. */
  close(): void
}

/**
 * A circuit breaker around the next stage: while the journal keeps failing, sends are refused at once. The next stage must settle
 * in bounded time, because the one send of a half-open breaker decides what follows. A refusal of one batch, or of the topic until somebody
 * acts, is an answer of a journal that works: it says more than a pause, and must not hold up other batches.
 */
export function createBreaker(options: BreakerOptions, onState: (state: BreakerState) => void, next: Send): Breaker {
  const circuit = new CircuitBreaker(next, {
    timeout: false,
    errorThresholdPercentage: options.failuresPercent,
    volumeThreshold: options.sendsMin,
    rollingCountTimeout: options.windowMs,
    resetTimeout: options.openMs,
    errorFilter: (error) => error instanceof AppendError && error.isOfTopic,
    // Both would keep and sort the latency of every send for figures that nobody reads.
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  })
  circuit.on('open', () => onState('open'))
  circuit.on('halfOpen', () => onState('halfOpen'))
  circuit.on('close', () => onState('closed'))
  return {
    send: async (batch) => {
      try {
        await circuit.fire(batch)
      } catch (error) {
        throw CircuitBreaker.isOurError(error as Error)
          ? new PausedError('the breaker is open', { cause: error })
          : error
      }
    },
    close: () => circuit.shutdown(),
  }
}

/** The next stage took too long. Its records may still be written. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError'
}

/**
 * Stops waiting for the next stage after a time. Without this, one send that never settles would block its partition, and a half-open
 * breaker, for ever.
 */
export function limitTime(timeoutMs: number, next: Send): Send {
  const deadlines = createDeadlines()
  return (batch) => settledWithin(timeoutMs, next(batch), deadlines)
}

function settledWithin(timeoutMs: number, settling: Promise<void>, deadlines: Deadlines): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new UnsettledError(`not settled within ${timeoutMs} ms`))
    const deadline = deadlines.add(performance.now() + timeoutMs, giveUp)
    settling.then(resolve, reject).finally(() => deadlines.cancel(deadline))
  })
}

/**
 * Holds a micro-batch's bytes until the next stage has really settled. A stage that stops waiting earlier does not make room:
 * the records are still in memory.
 */
export const holdBytes =
  (next: Send): Send =>
  async (batch) => {
    for (const { share, bytes } of batch.parts) share.take(bytes)
    try {
      await next(batch)
    } finally {
      for (const { share, bytes } of batch.parts) share.give(bytes)
    }
  }

/** Measures every micro-batch that the next stage makes durable. */
export function measureSends(metrics: Metrics, next: Send): Send {
  const seconds = metrics.histogram('sluice_publish_seconds')
  const records = metrics.histogram('sluice_publish_batch_records')
  return async (batch) => {
    const begun = performance.now()
    await next(batch)
    seconds.observe((performance.now() - begun) / 1_000)
    records.observe(batch.count)
  }
}

/**
 * Traces micro-batches with records of traced requests: as a child of the first of these requests, with links to the others. The header of
 * the records names their request; one that names anything else came from the sender and is ignored.
 */
export function traceSends(tracer: Tracer, next: Send): Send {
  return (batch) => {
    const requests = new Set<string>()
    for (const { traceparent } of batch.parts) {
      if (typeof traceparent === 'string' && tracer.isOpenRequest(traceparent)) requests.add(traceparent)
      if (requests.size > LINKS_MAX) break
    }
    if (requests.size === 0) return next(batch)
    const { topic, partition, count } = batch
    const [parent, ...links] = requests
    const attributes = {
      'messaging.system.name': tracer.messagingSystem,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.batch.message_count': count,
    }
    return traced(tracer.start(`send ${topic}`, { kind: 'producer', parent, links, attributes }), () => next(batch))
  }
}
