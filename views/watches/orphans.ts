import type { CoreServices } from '../../shared/role.ts'
import { type Clock, steadyClock } from '../../shared/runtime/clock.ts'
import type { WatchBook } from './book.ts'

interface OrphanRemovalDeps extends Pick<CoreServices, 'registry' | 'logger'> {
  readonly book: WatchBook
  /** The clock for intervals. */
  readonly steady?: Clock
}

/** How long a Team is missing before its watches are deleted, in milliseconds: a registry that is being restored lacks Teams for a while. */
const GONE_MS = 3_600_000

/**
 * Deletes the watches of Teams that were deleted, which would otherwise belong to the next Team with that id. A registry without any Team is
 * one that was lost.
 */
export function createOrphanRemoval({
  book,
  registry,
  logger,
  steady = steadyClock,
}: OrphanRemovalDeps): () => Promise<void> {
  let goneSince = new Map<string, number>()
  return async () => {
    // The hour begins once there are Teams again, as a registry that was lost is restored one by one.
    if (registry.teams().length === 0) {
      goneSince.clear()
      return
    }
    const gone = book.all().filter(({ team }) => registry.team(team) === undefined)
    const now = steady.now()
    goneSince = new Map(gone.map(({ team }) => [team, goneSince.get(team) ?? now]))
    for (const { team, id } of gone) {
      if (now - (goneSince.get(team) ?? now) < GONE_MS) continue
      await book.remove(team, id)
      logger.info({ team, watch: id }, 'a watch was deleted, as its Team was')
    }
  }
}
