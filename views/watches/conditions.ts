import { hash } from 'node:crypto'
import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import { compareTimestamps, DAY_MS, later, timestampOf } from '../../shared/contract/timestamp.ts'
import {
  type EntryFilter,
  EVERY_FLOW,
  type FlowCursor,
  type FlowFilter,
  type FlowPage,
  type LogStoreReader,
} from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { filterOf } from '../api/filter.ts'
import { statesAt } from '../api/flow-state.ts'
import type { LearntWaits } from '../api/flow-waits.ts'
import { groupText } from '../api/groups.ts'
import { createNames } from '../api/names.ts'
import { readParameters } from '../api/parameters.ts'
import { cut } from '../flow-layout/format.ts'
import { SELECTING } from '../schemas/list-parameters.ts'
import type { Condition } from '../schemas/watches.ts'
import type { KnownWatch } from './book.ts'
import type { Match, Memory } from './records.ts'

/*
 * The conditions of watches. A count is a match when it rises above its number, and again only after it was not above it. A flow or a group
 * is a match once, and the memory of a watch says which ones were: those whose marks it has in `told`, and all that are older than its
 * `floor`. The marks of the latest few hundred are kept; where there are more, the floor rises instead.
 */

/** The result of one evaluation. */
export interface Evaluation {
  /** The match to report; null if there is none. */
  readonly match: Match | null
  readonly memory: Memory
  /** The reason why the condition was evaluated only in part, with a remedy; omitted if it was evaluated completely. */
  readonly problem?: string
}

const MINUTE_MS = 60_000
/** Maximum number of flows, or groups, per evaluation. */
const LOOKED_AT_MAX = 200
/** Flows without activity within this time are ignored. */
const FLOWS_FROM_MS = 7 * DAY_MS
/** Groups are searched among the logs of this time. */
const GROUPS_FROM_MS = 60 * MINUTE_MS
/** All but a few logs arrive within this time. */
const GROUPS_SETTLED_MS = 5 * MINUTE_MS
/** Maximum number of groups per evaluation that are checked for earlier logs; the others follow in the next evaluations. */
const GROUPS_SEARCHED_MAX = 20
/** Maximum number of flows or groups remembered as reported. */
const TOLD_MAX = 500
/** Maximum number of names in a message, and maximum length of each. */
export const SAMPLES_MAX = 10
const SAMPLE_LENGTH_MAX = 200

interface Input {
  readonly store: LogStoreReader
  readonly registry: Registry
  readonly waits: LearntWaits
  readonly watch: KnownWatch
  /** The memory of its last evaluation. */
  readonly memory: Memory
  /** Milliseconds since 1970. */
  readonly now: number
  readonly signal: AbortSignal
}

/** Evaluates a watch's condition. Side effects are limited to reads; rejects as they do, and with the signal's reason. */
export function evaluate(given: Input): Promise<Evaluation> {
  const now = timestampOf(given.now)
  // A clock that was ahead when the floor was set has been set back: nothing would be above the floor for as long as it was ahead.
  const isAhead = compareTimestamps(given.memory.floor, now) > 0
  const input = isAhead ? { ...given, memory: { ...given.memory, floor: now } } : given
  const { condition } = input.watch
  switch (condition.type) {
    case 'count':
      return evaluateCount(condition, input)
    case 'flows':
      return evaluateFlows(condition, input)
    case 'newGroup':
      return evaluateGroups(condition, input)
  }
}

type Of<Type extends Condition['type']> = Extract<Condition, { readonly type: Type }>

async function evaluateCount({ list, params, more, minutes }: Of<'count'>, input: Input): Promise<Evaluation> {
  const { memory, now, store, signal } = input
  const filter = logsOf(input, list === 'event-logs' ? 'event' : 'application', params)
  // Without an end, one log that is dated years ahead would keep the count met, and the watch silent, until then.
  const range = { from: timestampOf(now - minutes * MINUTE_MS), to: timestampOf(now) }
  const count = await store.count({ ...filter, ...range }, signal)
  const isMet = count > more
  return {
    match: isMet && !memory.isMet ? { count, samples: [] } : null,
    memory: isMet === memory.isMet && memory.hasLooked ? memory : { ...memory, isMet, hasLooked: true },
  }
}

/** The logs that the parameters of a list select, at any time. Throws like `readParameters`. */
function logsOf(
  { watch: { team }, registry, now }: Input,
  kind: EntryKind,
  params: Readonly<Record<string, string>>,
): EntryFilter {
  const values = readParameters(new URLSearchParams(params), SELECTING, now)
  return filterOf({ team, kind, values, names: createNames(registry, team) })
}

async function evaluateFlows({ state: is, event }: Of<'flows'>, input: Input): Promise<Evaluation> {
  const { watch, memory, now, store, registry, waits, signal } = input
  const { team, lastEvaluatedAt, since } = watch
  const names = createNames(registry, team)
  const states = statesAt(now, names, await waits.of(team, names))
  const earliest = timestampOf(now - FLOWS_FROM_MS)
  // The first evaluation remembers the flows of before the watch, so that they are not reported later.
  const floor = memory.hasLooked ? memory.floor : earliest
  const filter: FlowFilter = {
    ...EVERY_FLOW,
    team,
    from: later(floor, earliest),
    event: event === null ? null : searchText(event),
    state: { ...states, is },
  }
  const { flows, next } = await latestFlows(input, filter)
  const marked = flows.map((flow) => ({ ...flow, mark: markOf(flow.correlationKey) }))
  const fresh = marked.filter(
    ({ mark, lastAt }) => !memory.told.includes(mark) && (memory.hasLooked || compareTimestamps(lastAt, since) >= 0),
  )
  const oldest = next === null ? undefined : flows.at(-1)?.lastAt
  // Flows beyond the limit of one evaluation are only counted, if they logged since the previous one, and never reported by name.
  const others = { ...filter, state: null, from: lastEvaluatedAt ?? since }
  const counted = oldest === undefined || fresh.length === 0 ? 0 : (await store.countFlows(others, states, signal))[is]
  return {
    match: matchOf(
      Math.max(fresh.length, counted),
      fresh.map(({ correlationKey }) => correlationKey),
    ),
    memory: remember(
      memory,
      marked.map(({ mark }) => mark),
      oldest === undefined ? floor : later(floor, oldest),
    ),
  }
}

/** The flows with the latest activity. Those that are dated ahead hide no others: they would fill the page until their time comes. */
async function latestFlows({ store, now, signal }: Input, filter: FlowFilter): Promise<FlowPage> {
  const page = (after: FlowCursor | null): Promise<FlowPage> =>
    store.searchFlows(filter, { limit: LOOKED_AT_MAX, sort: 'latest', after }, signal)
  const present: FlowCursor = { rank: 0, lastAt: timestampOf(now), correlationKey: '' }
  const first = await page(null)
  if (first.next === null || compareTimestamps(first.next.lastAt, present.lastAt) <= 0) return first
  const { flows, next } = await page(present)
  return { flows: [...first.flows, ...flows], next }
}

async function evaluateGroups({ by, params }: Of<'newGroup'>, input: Input): Promise<Evaluation> {
  const { memory, now, store, signal } = input
  const field = by === 'exception' ? 'exceptionGroup' : 'template'
  const filter = logsOf(input, 'application', params)
  const from = later(memory.floor, timestampOf(now - GROUPS_FROM_MS))
  const limits = { groupsMax: LOOKED_AT_MAX, bucketsMax: 1 }
  const { groups, more } = await store.groups({ ...filter, from }, field, limits, signal)
  // The most recently started groups come first, as any new group is among them.
  const candidates = groups
    .filter(({ value }) => !memory.told.includes(value))
    .toSorted((a, b) => compareTimestamps(b.firstAt, a.firstAt))
    .slice(0, GROUPS_SEARCHED_MAX)
  const fresh: typeof candidates = []
  for (const group of candidates) {
    const before = { ...filter, [field]: group.value, to: memory.floor }
    const page = { limit: 1, order: 'desc', after: null, form: 'row' } as const
    const { entries } = await store.search(before, page, signal)
    if (entries.length === 0) fresh.push(group)
  }
  return {
    match: matchOf(
      fresh.length,
      fresh.map(({ value, sample }) => groupText(field, sample)?.label ?? value),
    ),
    memory: remember(
      memory,
      candidates.map(({ value }) => value),
      // Groups beyond the memory's limit are recognised by their earlier logs.
      memory.told.length + candidates.length > TOLD_MAX ? timestampOf(now - GROUPS_SETTLED_MS) : memory.floor,
    ),
    ...(more && { problem: TOO_MANY_GROUPS }),
  }
}

const TOO_MANY_GROUPS = `There are more than ${LOOKED_AT_MAX} groups within the last hour, and the rare ones were not looked at. Narrow the search of the watch.`

/** Everything evaluated counts as known from now on. */
function remember(memory: Memory, marks: readonly string[], floor: string): Memory {
  const added = marks.filter((mark) => !memory.told.includes(mark))
  if (added.length === 0 && memory.hasLooked && floor === memory.floor) return memory
  const kept = memory.told.filter((mark) => !marks.includes(mark))
  return { ...memory, hasLooked: true, told: [...kept, ...marks].slice(-TOLD_MAX), floor }
}

/** Short, because hundreds are remembered and correlationKeys may be long. */
const markOf = (correlationKey: string): string => hash('sha256', correlationKey, 'base64url').slice(0, 12)

const matchOf = (count: number, names: readonly string[]): Match | null =>
  count === 0 ? null : { count, samples: names.slice(0, SAMPLES_MAX).map((name) => cut(name, SAMPLE_LENGTH_MAX).text) }
