import { TOPICS } from '../../shared/contract/topics.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { createWatchBook, type KnownWatch } from '../../views/watches/book.ts'
import { createEvaluator } from '../../views/watches/evaluator.ts'
import type { Message, Posted } from '../../views/watches/poster.ts'
import type { StoredWatch } from '../../views/watches/records.ts'
import { createMemoryJournal, type MemoryJournal } from './memory-journal.ts'
import { registryOf } from './registry-topic.ts'

export const WATCHES = 'sluice.watches.v1'
/** Interval between evaluations of a watch. */
export const INTERVAL_MS = 5
export const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

const REGISTRY = `
teams: [{ id: a, name: Team A }, { id: b, name: Team B }]
events: [{ identifier: order, team: a, name: Order placed }]
steps: [{ identifier: order.validate, team: a, event: order }, { identifier: order.ship, team: a, event: order }]
projects: [{ id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: a, name: Checkout }]
`
export const registry = registryOf(REGISTRY)

/** A watch for more than two errors within five minutes by default. */
export const storedWatch = (fields: Partial<StoredWatch> = {}): StoredWatch => ({
  name: 'Errors',
  condition: { type: 'count', list: 'event-logs', params: { level: 'Error' }, more: 2, minutes: 5 },
  webhook: { url: 'https://hooks.example.com/', format: 'json', secret: SECRET },
  paused: false,
  since: '2026-02-01T11:00:00.000Z',
  ...fields,
})

export const knownWatch = (fields: Partial<KnownWatch> = {}): KnownWatch => ({
  ...storedWatch(),
  team: 'a',
  id: '0198d5b2-7c1e-4000-8a3b-2f4c6d8e0a1b',
  state: undefined,
  lastEvaluatedAt: null,
  ...fields,
})

export const watchesJournal = (clock?: { now(): number }): MemoryJournal =>
  createMemoryJournal({ ...(clock && { clock }), topics: [{ ...TOPICS.watches, name: WATCHES }] })

export interface WatchesProcess {
  readonly book: ReturnType<typeof createWatchBook>
  readonly posted: readonly (Message & { readonly url: string })[]
  readonly metric: (
    name: 'sluice_watch_evaluations_total' | 'sluice_watch_deliveries_total',
    result: string,
  ) => Promise<number>
  stop(withinMs?: number): Promise<void>
}

/** The evaluating role of one process, over a journal and a store that may be shared with other processes. */
export async function startWatches(options: {
  readonly journal: Journal
  readonly store: LogStoreReader
  readonly clock: { now(): number }
  /** The clock for intervals; that of the time of day by default. */
  readonly steady?: { now(): number }
  readonly writer?: string
  readonly owns?: () => boolean
  readonly answer?: (message: Message) => Promise<Posted>
  readonly deadlineMs?: number
  readonly registry?: Registry
}): Promise<WatchesProcess> {
  const { journal, store, clock, writer = 'one', owns = () => true } = options
  const { answer = async () => ({ delivered: true, status: 200, message: 'The receiver answered 200.' }) } = options
  const logger = createLogger('silent', 'test')
  const metrics = createMetrics()
  const posted: (Message & { url: string })[] = []
  const book = createWatchBook({ journal, topic: WATCHES, writer, clock, logger, retryMs: 5 })
  const evaluator = createEvaluator({
    book,
    ownership: { owns },
    poster: {
      post: async ({ url }, message) => {
        posted.push({ ...message, url })
        return answer(message)
      },
      refusalOf: () => undefined,
    },
    store,
    registry: options.registry ?? registry,
    registryReady: () => true,
    pageUrl: null,
    intervalMs: INTERVAL_MS,
    deadlineMs: options.deadlineMs ?? 5_000,
    clock,
    steady: options.steady ?? clock,
    logger,
    metrics,
    tickMs: 1,
  })
  await book.start()
  await evaluator.start()
  return {
    book,
    posted,
    metric: async (name, result) => {
      const { values } = await metrics.counter(name).get()
      return values.find(({ labels }) => labels['result'] === result)?.value ?? 0
    },
    stop: async (withinMs = 5_000) => {
      await evaluator.stop(clock.now() + withinMs)
      await book.stop(clock.now() + withinMs)
    },
  }
}
