import { decodeRefusal, type NotedRefusal } from '../../shared/contract/refusals.ts'
import { DAY_MS } from '../../shared/contract/timestamp.ts'
import type { JournalRecord } from '../../shared/journal/journal.ts'
import { createTopicFollower, type TopicFollowerDeps } from '../../shared/journal/topic-follower.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'

/** A refusal kept for its Team. */
export interface KeptRefusal {
  /** Its offset in the topic, which is unique. */
  readonly id: string
  readonly noted: NotedRefusal
  /** How many refusals of the same code followed it without being recorded by the gateways. */
  unnoted: number
}

export interface RefusalsReader {
  /** The Team's refusals, newest first; undefined until those recorded before the start have been read. */
  of(team: string): readonly KeptRefusal[] | undefined
}

interface RefusalRing {
  /** Applies records of the topic, in order; never throws. */
  fold(records: readonly Pick<JournalRecord, 'offset' | 'value'>[]): void
  of(team: string): readonly KeptRefusal[]
}

interface RingLimits {
  /** Maximum number of refusals per Team. */
  readonly perTeamMax: number
  /** Maximum bytes over all Teams, measured as records. */
  readonly bytesMax: number
  /** How long a refusal is shown. */
  readonly keptMs: number
}

/** Matches the topic's retention, so that a long-running process shows no more than one that has just started. */
export const RING_LIMITS: RingLimits = { perTeamMax: 200, bytesMax: 64 * 1024 * 1024, keptMs: DAY_MS }

interface Slot extends KeptRefusal {
  readonly bytes: number
  readonly atMs: number
}

/** The latest refusals of each Team, oldest first. A Team over its limit loses the oldest refusal of its most frequent code. */
export function createRefusalRing(now: () => number, limits: RingLimits = RING_LIMITS): RefusalRing {
  const teams = new Map<string, Slot[]>()
  // In order of arrival, over all Teams.
  const all = new Set<Slot>()
  let bytes = 0

  function add(slot: Slot): void {
    const slots = teams.get(slot.noted.team) ?? []
    slots.push(slot)
    teams.set(slot.noted.team, slots)
    all.add(slot)
    bytes += slot.bytes
    if (slots.length > limits.perTeamMax) remove(leastTelling(slots))
    for (const oldest of all) {
      if (bytes <= limits.bytesMax) break
      remove(oldest)
    }
  }

  function remove(slot: Slot): void {
    const { team } = slot.noted
    const left = (teams.get(team) ?? []).filter((one) => one !== slot)
    if (left.length === 0) teams.delete(team)
    else teams.set(team, left)
    all.delete(slot)
    bytes -= slot.bytes
  }

  function count(team: string, counts: Readonly<Record<string, number>>): void {
    for (const [code, number] of Object.entries(counts)) {
      const last = teams.get(team)?.findLast(({ noted }) => noted.code === code)
      if (last !== undefined) last.unnoted += number
    }
  }

  return {
    fold: (records) => {
      for (const { offset, value } of records) {
        const record = decodeRefusal(value)
        if (record?.kind === 'unnoted') count(record.team, record.counts)
        if (record?.kind === 'refusal')
          add({
            id: String(offset),
            noted: record,
            unnoted: 0,
            bytes: value?.length ?? 0,
            atMs: Date.parse(record.at),
          })
      }
    },
    of: (team) => {
      const since = now() - limits.keptMs
      for (const slot of all) {
        if (slot.atMs >= since) break
        remove(slot)
      }
      // Older refusals are left behind a refusal of a gateway whose clock is ahead.
      return (teams.get(team) ?? []).filter(({ atMs }) => atMs >= since).toReversed()
    },
  }
}

/** The oldest refusal of the most frequent code. */
function leastTelling(slots: readonly Slot[]): Slot {
  const byCode = [...Map.groupBy(slots, ({ noted }) => noted.code).values()]
  const most = byCode.reduce((one, other) => (other.length > one.length ? other : one))
  return most[0] as Slot
}

type RefusalsFollowerDeps = Omit<TopicFollowerDeps<RefusalRing>, 'name' | 'isRequired' | 'begin' | 'fold' | 'onChange'>

/** Keeps the latest refusals of every Team in memory. */
export function createRefusalsFollower(deps: RefusalsFollowerDeps): Service & RefusalsReader {
  const { name, start, stop, state, caughtUp } = createTopicFollower({
    ...deps,
    name: 'refusals',
    begin: () => createRefusalRing(deps.clock.now),
    fold: (ring, records) => ring.fold(records),
  })
  return { name, start, stop, of: (team) => (caughtUp() ? state().of(team) : undefined) }
}
