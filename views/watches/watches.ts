import { randomUUID } from 'node:crypto'
import { topicName } from '../../shared/contract/topics.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { CoreServices, RoleParts } from '../../shared/role.ts'
import { createWatchBook, type WatchBook } from './book.ts'
import { createEvaluator } from './evaluator.ts'
import { createOwnership } from './ownership.ts'
import { createPoster, type Poster } from './poster.ts'

export interface Watches {
  readonly book: WatchBook
  readonly poster: Poster
  /** Runs in every process that shows or evaluates watches, and starts before those parts. */
  readonly shared: RoleParts
  /** The role that evaluates watches. */
  evaluation(): RoleParts
}

/** The watches of a process. */
export function createWatches(deps: CoreServices & { readonly store: LogStoreReader }): Watches {
  const { config, clock, metrics } = deps
  const topic = topicName(config.TOPIC_PREFIX, 'watches')
  const book = createWatchBook({ ...deps, topic, writer: randomUUID() })
  metrics.gauge('sluice_watches', () => book.all().filter(({ paused }) => !paused).length)
  const poster = createPoster({ allowed: config.WEBHOOK_ALLOWED_NETWORKS, now: clock.now })
  return {
    book,
    poster,
    shared: { services: [book] },
    evaluation: () => {
      const ownership = createOwnership({ ...deps, topic, group: topic })
      const evaluator = createEvaluator({
        ...deps,
        book,
        ownership,
        poster,
        pageUrl: config.PAGE_URL,
        intervalMs: config.WATCH_INTERVAL_MS,
        deadlineMs: config.READ_DEADLINE_MS,
      })
      return {
        services: [ownership, evaluator],
        health: [{ name: ownership.name, health: () => ownership.health() }],
      }
    },
  }
}
