import type { EntryKind } from '../../shared/contract/records.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import { type EntryFilter, EVERY_ENTRY, type LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import { createSemaphore } from '../../shared/runtime/semaphore.ts'
import { unlessAborted } from '../../shared/runtime/waiting.ts'
import { createTeamCache } from '../api/team-cache.ts'

/** The latest entry and the number of entries of a Team's Events, Steps and Projects within the last day. */
export interface LastSeen {
  /** Whether targets missing from `seen` have logged nothing; false if the store failed, was too slow, or may have omitted some. */
  readonly complete: boolean
  readonly seen: { readonly [Target in TargetKind]: ReadonlyMap<string, Seen> }
}

interface Seen {
  /** The latest timestamp; null if the time budget was used up. */
  readonly at: string | null
  readonly count: number
}

export type TargetKind = 'event' | 'step' | 'project'

interface LastSeenDeps extends Pick<BaseServices, 'clock' | 'logger'> {
  readonly store: Pick<LogStoreReader, 'facets' | 'search'>
  /** How long to wait for the store, in milliseconds; 3 s by default. */
  readonly patienceMs?: number
}

/** Maximum number of targets per kind. */
const TARGETS_MAX = 100
/** How many targets are looked up at a time, and the time for all of them: this is optional information, and the store has other work. */
const AT_A_TIME = 4
const BUDGET_MS = 1_500
/** How long an answer is cached. */
const FRESH_MS = 5_000

/**
 * Reports when targets were last seen, as far as the store can do so cheaply: one count tells which targets have logged within a day, and
 * the latest entry of such a target is at the end of its time index. Older entries would require a search.
 */
export function createLastSeen({
  store,
  clock,
  logger,
  patienceMs = 3_000,
}: LastSeenDeps): (team: string) => Promise<LastSeen> {
  const cached = createTeamCache<LastSeen>(FRESH_MS, clock)

  async function look(team: string, signal: AbortSignal): Promise<LastSeen> {
    const since = timestampOf(clock.now() - DAY_MS)
    const end = performance.now() + BUDGET_MS
    const [events, applications] = await Promise.all([
      store.facets(filterOf(team, 'event', since), TARGETS_MAX, signal),
      store.facets(filterOf(team, 'application', since), TARGETS_MAX, signal),
    ])
    const counts = { event: events.event, step: events.step, project: applications.project }
    const lists = Object.values(counts)
    const targets = Object.entries(counts).flatMap(([kind, values]) =>
      values.map(({ value, count }) => ({ kind: kind as TargetKind, value, count })),
    )
    const seen = { event: new Map<string, Seen>(), step: new Map<string, Seen>(), project: new Map<string, Seen>() }
    const { run } = createSemaphore(AT_A_TIME)
    const lookUp = async ({ kind, value, count }: (typeof targets)[number]): Promise<void> => {
      const at = performance.now() < end ? await latestOf(team, kind, value, since, signal) : null
      seen[kind].set(value, { at, count })
    }
    await Promise.all(targets.map((target) => run(() => lookUp(target))))
    return { complete: lists.every(({ length }) => length < TARGETS_MAX), seen }
  }

  async function latestOf(
    team: string,
    target: TargetKind,
    value: string,
    since: string,
    signal: AbortSignal,
  ): Promise<string | null> {
    const filter = { ...filterOf(team, target === 'project' ? 'application' : 'event', since), [target]: value }
    const { entries } = await store.search(filter, { limit: 1, order: 'desc', after: null, form: 'row' }, signal)
    return entries[0]?.timestamp ?? null
  }

  function lookInTime(team: string): Promise<LastSeen> {
    const signal = AbortSignal.timeout(patienceMs)
    return unlessAborted(look(team, signal), signal).catch((err: unknown) => {
      logger.warn({ err }, 'the log store could not tell what was last seen')
      return NOT_KNOWN
    })
  }

  return (team) => cached(team, () => lookInTime(team))
}

const NOT_KNOWN: LastSeen = { complete: false, seen: { event: new Map(), step: new Map(), project: new Map() } }

const filterOf = (team: string, kind: EntryKind, since: string): EntryFilter => ({
  ...EVERY_ENTRY,
  team,
  kinds: [kind],
  from: since,
})
