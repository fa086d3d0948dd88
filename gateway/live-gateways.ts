import { randomUUID } from 'node:crypto'
import type { Follower, Journal } from '../shared/journal/journal.ts'
import type { Clock } from '../shared/runtime/clock.ts'
import type { Service } from '../shared/runtime/lifecycle.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import type { Metrics } from '../shared/runtime/metrics.ts'
import { byDeadline, singleFlight } from '../shared/runtime/waiting.ts'

export interface LiveGateways extends Service {
  /** The number of gateways that take logs now, this one included. */
  count(): number
}

export interface LiveGatewaysDeps {
  readonly journal: Pick<Journal, 'append' | 'follow'>
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Time between two beats, in milliseconds. */
  readonly beatMs?: number
}

const BEAT_MS = 5_000
/** Beats of this gateway during which another may be silent before it is considered dead. */
const SPANS = 3
const PARTITION = 0

/**
 * Counts the gateways of an installation by their beats in a topic. No clocks are compared: the silence of others is measured in this
 * gateway's own beats, as they come back from the topic. If they do not come back, the topic does not work for this gateway, and the count
 * stays as it is.
 */
export function createLiveGateways(deps: LiveGatewaysDeps): LiveGateways {
  const { journal, topic, clock, logger, metrics, beatMs = BEAT_MS } = deps
  const id = randomUUID()
  const gauge = metrics.gauge('sluice_live_gateways')
  /** The ids heard between beats of this gateway, the current span first. */
  let spans: Set<string>[] = [new Set([id])]
  let heardOwn = false
  let joined = false
  let following: Promise<Follower> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let hasFailed = false
  let count = 1

  function recount(): void {
    count = new Set(spans.flatMap((span) => [...span])).size
    gauge.set(count)
  }

  function hear(other: string): void {
    if (isStopped) return
    if (other === id) {
      heardOwn = true
      joined = true
    }
    // Until it reads its own first beat, a gateway is reading the topic's past.
    if (!joined) return
    const isNew = !spans.some((span) => span.has(other))
    spans[0]?.add(other)
    if (!isNew) return
    recount()
    // Lets a gateway that has just started hear of this one at once.
    void beat()
  }

  function onTime(): void {
    if (heardOwn) {
      heardOwn = false
      spans = [new Set([id]), ...spans.slice(0, SPANS - 1)]
      recount()
    }
    void beat()
  }

  async function follow(): Promise<Follower> {
    following ??= journal.follow(topic, (records) => {
      for (const { key } of records) if (key !== null && key.length > 0) hear(String(key))
    })
    try {
      return await following
    } catch (error) {
      following = undefined
      throw error
    }
  }

  const beat = singleFlight(async () => {
    try {
      await follow()
      await journal.append({ topic, partition: PARTITION, records: [{ key: id, value: '{}', headers: {} }] })
      hasFailed = false
    } catch (err) {
      if (!hasFailed)
        logger.warn({ err, topic }, 'the live gateways cannot be counted; further failures are not reported')
      hasFailed = true
    }
  })

  recount()
  return {
    name: 'live gateways',
    count: () => count,
    start: async () => {
      timer = setInterval(onTime, beatMs)
      timer.unref()
      onTime()
    },
    stop: async (deadline) => {
      isStopped = true
      clearInterval(timer)
      // A failure to follow was already logged, and left nothing to close.
      const closed = following?.then((follower) => follower.close()).catch(() => undefined)
      await byDeadline(Promise.resolve(closed), deadline, clock)
    },
  }
}
