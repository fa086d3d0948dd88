import type { PartitionPosition } from '../shared/journal/journal.ts'
import type { Clock } from '../shared/runtime/clock.ts'
import type { Logger } from '../shared/runtime/logger.ts'

/** The longest time between two commits of the other consumers after which they still count as running. */
const RUNNING_MS = 600_000

/** The host in the name of an embedded store changes with each new container, which the file outlasts. */
const EMBEDDED = 'sqlite:'

interface Deps {
  readonly group: string
  /** As `LogStoreWriter.name`. */
  readonly name: () => string | null
  readonly clock: Clock
  readonly logger: Logger
  /** Called after each look. */
  readonly onLook: (isDivided: boolean) => void
}

/**
 * Notices consumers that share the group but write to another log store, as those of a second installation on one TOPIC_PREFIX: each store
 * then lacks a part of the entries, and nothing else fails. Every position carries the name of the store that it was committed for.
 */
export function createOtherStores({ group, name, clock, logger, onLook }: Deps) {
  /** A store has another name once another cluster answers at its address. */
  const own = new Set<string>()
  const positions = new Map<string, number | null>()
  let other: { readonly store: string; readonly seenAt: number } | undefined
  const reason = (): string | null =>
    other === undefined
      ? null
      : `entries are divided between this log store and ${other.store}, as consumers of both share the group ${group}: ` +
        'give each installation its own TOPIC_PREFIX, or all consumers the same log store'

  /** Tells of a store whose consumers read before, as before a move to another store. */
  const tellOfFormer = (topic: string, found: readonly PartitionPosition[]): void => {
    const notes = found.flatMap(({ note }) => note ?? [])
    const former = notes.find((note) => !note.startsWith(EMBEDDED))
    if (former === undefined || notes.some((note) => own.has(note))) return
    const remedy = '`sluice views rebuild VIEW --from topics` writes them to this one'
    logger.warn(
      { group, topic, former, store: name() },
      `entries before the group's positions are in another log store: ${remedy}`,
    )
  }

  return {
    /** Looks at the group's positions in a topic. */
    look: (topic: string, found: readonly PartitionPosition[]): void => {
      const store = name()
      if (store === null) return
      own.add(store)
      if (!positions.has(`${topic}/0`)) tellOfFormer(topic, found)
      const before = reason()
      for (const { partition, committed, note } of found) {
        const place = `${topic}/${partition}`
        const hasMoved = positions.has(place) && positions.get(place) !== committed
        positions.set(place, committed)
        if (hasMoved && note !== undefined && !own.has(note)) other = { store: note, seenAt: clock.now() }
      }
      // A clock that was set back is far from the time that was noted, too.
      if (other !== undefined && Math.abs(clock.now() - other.seenAt) > RUNNING_MS) other = undefined
      const now = reason()
      if (now !== null && now !== before)
        logger.error({ group, store, reason: now }, 'another log store takes a part of the entries')
      if (now === null && before !== null) logger.info({ group, store }, 'no other log store takes entries any more')
      onLook(now !== null)
    },
    /** The other store and the remedy, in a sentence; null if there is none. */
    reason,
  }
}
