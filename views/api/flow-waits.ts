import { searchText } from '../../shared/contract/keyword.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import {
  EVERY_FLOW,
  FLOW_PLACES_MAX,
  type Flow,
  type FlowFilter,
  type LogStoreReader,
} from '../../shared/log-store/log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import { durationsOf, FLOWS_SAMPLED_MAX, sampleFlows } from './flow-sample.ts'
import { type FlowWaits, placesOf, RUNNING_MS } from './flow-state.ts'
import { stepTimes } from './flow-summary.ts'
import type { Names } from './names.ts'
import { createTeamCache } from './team-cache.ts'

const MINUTE = 60_000
/** Waits are learnt from flows with logs within this time. */
const LEARNT_FROM_MS = 7 * DAY_MS
/** How long learnt waits are cached. */
const KEPT_MS = MINUTE
/** Maximum time a read waits for learning, in milliseconds, and as a share of the read's own deadline. */
const LEARNING_MS = 2_000
const LEARNING_PART = 0.25

/** Minimum number of flows with a time for a Step before its wait is learnt. */
export const FLOWS_KNOWN_MIN = 20
/** A flow is stalled when it waits this many times the 95th percentile, and at least a minute. */
const TIMES_P95 = 3

/** Events that are rare among the latest flows are sampled separately: up to this many Events, with this many flows each. */
const RARE_EVENTS_MAX = 20
const RARE_FLOWS_MAX = 100

/** How long the flows of a Team may wait before each Step. */
export interface LearntWaits {
  /** Cached for at most a minute. Never rejects: a Step without learnt data has the default wait. */
  of(team: string, names: Names): Promise<FlowWaits>
}

interface Deps extends Pick<BaseServices, 'clock' | 'logger'> {
  readonly store: LogStoreReader
  /** Time limit of a read, in milliseconds. */
  readonly deadlineMs: number
}

export function createLearntWaits({ store, clock, logger, deadlineMs }: Deps): LearntWaits {
  const cached = createTeamCache<FlowWaits>(KEPT_MS, clock)

  /** The waits of the Team's latest flows, as far as they can be read in time. */
  async function learn(team: string, names: Names): Promise<FlowWaits> {
    const signal = AbortSignal.timeout(Math.min(LEARNING_MS, LEARNING_PART * deadlineMs))
    const all: FlowFilter = { ...EVERY_FLOW, team, from: timestampOf(Math.max(0, clock.now() - LEARNT_FROM_MS)) }
    const times = new Map<string, number[]>()
    try {
      const { more } = await sampleFlows(store, all, FLOWS_SAMPLED_MAX, signal, (flow) => gather(times, flow))
      const rare = names.processes().filter(([, steps]) => !steps.some((step) => isKnown(times.get(step.identifier))))
      for (const [event, steps] of more ? rare.slice(0, RARE_EVENTS_MAX) : []) {
        for (const { identifier } of steps) times.delete(identifier)
        const ofEvent = { ...all, event: searchText(event) }
        await sampleFlows(store, ofEvent, RARE_FLOWS_MAX, signal, (flow) => gather(times, flow, event))
      }
    } catch (error) {
      logger.warn({ err: error, team }, 'the waits of flows could not be learnt from all of them')
    }
    return waitsOf(times, names)
  }

  return { of: (team, names) => cached(team, () => learn(team, names)) }
}

/** Adds the Step times of a flow, for one of its Events or for all. */
function gather(times: Map<string, number[]>, { groups }: Flow, only?: string): void {
  for (const [event, ofEvent] of Map.groupBy(groups, (group) => group.event)) {
    if (event === null || (only !== undefined && event !== only)) continue
    for (const [step, time] of stepTimes(ofEvent)) {
      const known = times.get(step)
      if (known === undefined) times.set(step, [time])
      else known.push(time)
    }
  }
}

const isKnown = (times: readonly number[] | undefined): boolean => (times?.length ?? 0) >= FLOWS_KNOWN_MIN

/** The other Steps of an Event with a learnt wait get the default one. The log store takes only a limited number of places. */
function waitsOf(times: ReadonlyMap<string, readonly number[]>, names: Names): FlowWaits {
  const waits = new Map<string, number>()
  let placesLeft = FLOW_PLACES_MAX
  for (const [, steps] of names.processes()) {
    const places = placesOf(steps).length
    if (places > placesLeft || !steps.some(({ identifier }) => isKnown(times.get(identifier)))) continue
    placesLeft -= places
    for (const { identifier } of steps) waits.set(identifier, waitOf(times.get(identifier) ?? []))
  }
  return waits
}

const waitOf = (times: readonly number[]): number =>
  isKnown(times) ? Math.max(MINUTE, TIMES_P95 * (durationsOf(times)?.p95 ?? 0)) : RUNNING_MS
