import { randomUUID } from 'node:crypto'
import type { Follower, Journal, JournalRecord } from '../shared/journal/journal.ts'
import type { BaseServices } from '../shared/role.ts'
import type { Service } from '../shared/runtime/lifecycle.ts'
import { byDeadline, singleFlight } from '../shared/runtime/waiting.ts'

export interface LiveGateways extends Service {
  /** The number of gateways that take logs now, this one included. */
  count(): number
}

interface LiveGatewaysDeps extends Pick<BaseServices, 'clock' | 'logger' | 'metrics'> {
  readonly journal: Pick<Journal, 'append' | 'follow'>
  readonly topic: string
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
  const hearing = createHearing(id, (count) => gauge.set(count))
  let follower: Follower | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let hasFailed = false
  /** Whether another gateway was heard for the first time since the last beat began. */
  let isNewsHeard = false

  function hear(other: string): void {
    if (isStopped || !hearing.hear(other)) return
    // A gateway that has just started hears of this one at once: by the next beat, as one on its way may come before its own first.
    isNewsHeard = true
    void beat()
  }

  function onTime(): void {
    hearing.endSpan()
    void beat()
  }

  function hearAll(records: readonly JournalRecord[]): void {
    for (const { key } of records) if (key !== null && key.length > 0) hear(String(key))
  }

  const beat = singleFlight(async () => {
    do {
      isNewsHeard = false
      await beatOnce()
    } while (isNewsHeard && !isStopped)
  })

  async function follow(): Promise<void> {
    let isPast = true
    const opened = await journal.follow(topic, (records) => {
      if (!isPast) hearAll(records)
    })
    isPast = false
    follower = opened
    void opened.outdated.then(() => {
      follower = undefined
      return opened.close()
    })
  }

  async function beatOnce(): Promise<void> {
    try {
      if (follower === undefined) await follow()
      if (isStopped) return await follower?.close()
      await journal.append({ topic, partition: PARTITION, records: [{ key: id, value: '{}', headers: {} }] })
      hasFailed = false
    } catch (err) {
      if (!hasFailed)
        logger.warn({ err, topic }, 'the live gateways cannot be counted; further failures are not reported')
      hasFailed = true
    }
  }

  return {
    name: 'live gateways',
    count: hearing.count,
    start: async () => {
      timer = setInterval(onTime, beatMs)
      timer.unref()
      onTime()
    },
    stop: async (deadline) => {
      isStopped = true
      clearInterval(timer)
      // A reading that has not caught up may not do so for long; it is closed then, or ends with the journal.
      await byDeadline(Promise.resolve(follower?.close()), deadline, clock)
    },
  }
}

/** The gateways that were heard within the last spans, `own` included; a span lies between two beats of this gateway. */
function createHearing(own: string, onCount: (count: number) => void) {
  /** The ids heard in each span, the current one first. */
  let spans: readonly Set<string>[] = [new Set([own])]
  let heardOwn = false
  let count = 0

  function recount(): void {
    count = new Set(spans.flatMap((span) => [...span])).size
    onCount(count)
  }

  recount()
  return {
    count: (): number => count,
    /** Notes a beat, and returns whether its gateway was unknown. */
    hear: (id: string): boolean => {
      if (id === own) heardOwn = true
      const isNew = !spans.some((span) => span.has(id))
      spans[0]?.add(id)
      if (isNew) recount()
      return isNew
    },
    /** Begins a span, if a beat of this gateway came back in the one that ends. */
    endSpan: (): void => {
      if (!heardOwn) return
      heardOwn = false
      spans = [new Set([own]), ...spans.slice(0, SPANS - 1)]
      recount()
    },
  }
}
