import type { FlowDelta } from '../contract/documents.ts'
import { levelRank } from '../contract/levels.ts'
import { earlier, later, laterOf } from '../contract/timestamp.ts'

/** The facts of two deltas of one flow. Each is a minimum, a maximum or a set, so neither order nor repetition matters. */
export const mergeDeltas = (a: FlowDelta, b: FlowDelta): FlowDelta => ({
  team: a.team,
  correlationKey: a.correlationKey,
  firstAt: earlier(a.firstAt, b.firstAt),
  lastAt: later(a.lastAt, b.lastAt),
  days: union(a.days, b.days),
  lastReceivedAt: later(a.lastReceivedAt, b.lastReceivedAt),
  worstLevel: levelRank(a.worstLevel) >= levelRank(b.worstLevel) ? a.worstLevel : b.worstLevel,
  lastErrorAt: laterOf(a.lastErrorAt, b.lastErrorAt),
  lastProgressAt: laterOf(a.lastProgressAt, b.lastProgressAt),
  environments: joinFlowValues(a.environments, b.environments),
  events: joinFlowValues(a.events, b.events),
  steps: joinFlowValues(a.steps, b.steps),
  projects: joinFlowValues(a.projects, b.projects),
})

/** The ids of 455 Projects, or of twice as many Events: enough for every flow, and few enough to be written again with each of its logs. */
const CHARACTERS_MAX = 16_384

/**
 * Joins two lists of the values by which a flow is found, such as its Events, the first of them sorted: each value once, in order, up to the
 * one that reaches a limit of all characters. That one is kept, so that what comes after it stays cut off whatever is joined later: neither
 * order nor repetition matters.
 */
export function joinFlowValues(sorted: readonly string[], others: readonly string[]): readonly string[] {
  const values = union(sorted, others)
  let [characters, end] = [0, 0]
  while (end < values.length && characters < CHARACTERS_MAX) characters += values[end++]?.length ?? 0
  return end === values.length ? values : values.slice(0, end)
}

/** Sorted, so that the same facts make the same text. A new text is put in its place, as thousands may come one at a time. */
const union = (sorted: readonly string[], others: readonly string[]): readonly string[] =>
  others.reduce(
    (all, text) => (all.includes(text) ? all : all.toSpliced(all.findLastIndex((other) => other < text) + 1, 0, text)),
    sorted,
  )
