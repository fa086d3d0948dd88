import type { FlowDelta } from '../../shared/contract/documents.ts'
import { type Level, levelRank } from '../../shared/contract/levels.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { earlier, later, laterOf } from '../../shared/contract/timestamp.ts'
import { commonFields, identifier } from './entries.ts'

/** The contribution of one entry to its flow; null if it has no correlationKey. */
export function flowFact(entry: EntryRecord): FlowDelta | null {
  const { team, correlationKey, environment, level, timestamp, receivedAt } = commonFields(entry)
  if (correlationKey === null) return null
  const isEvent = entry.kind === 'event'
  const isError = levelRank(level) >= levelRank('Error')
  return {
    team,
    correlationKey,
    firstAt: timestamp,
    lastAt: timestamp,
    days: [receivedAt.slice(0, 10)],
    lastReceivedAt: receivedAt,
    worstLevel: level,
    lastErrorAt: isError ? timestamp : null,
    lastProgressAt: isEvent && !isError ? timestamp : null,
    environments: [environment],
    events: present(isEvent ? identifier(entry.event) : null),
    steps: present(isEvent ? identifier(entry.step) : null),
    projects: isEvent ? [] : [entry.project],
  }
}

/** One delta per flow. Every fact is a minimum, a maximum or a set, so order, grouping and repetition do not matter. */
export function foldFlows(facts: Iterable<FlowDelta>): readonly FlowDelta[] {
  const flows = new Map<string, FlowDelta>()
  for (const fact of facts) {
    // A Team's id contains no line break.
    const flow = `${fact.team}\n${fact.correlationKey}`
    const known = flows.get(flow)
    flows.set(flow, known === undefined ? fact : merge(known, fact))
  }
  return [...flows.values()]
}

const merge = (a: FlowDelta, b: FlowDelta): FlowDelta => ({
  team: a.team,
  correlationKey: a.correlationKey,
  firstAt: earlier(a.firstAt, b.firstAt),
  lastAt: later(a.lastAt, b.lastAt),
  days: union(a.days, b.days),
  lastReceivedAt: later(a.lastReceivedAt, b.lastReceivedAt),
  worstLevel: worse(a.worstLevel, b.worstLevel),
  lastErrorAt: laterOf(a.lastErrorAt, b.lastErrorAt),
  lastProgressAt: laterOf(a.lastProgressAt, b.lastProgressAt),
  environments: union(a.environments, b.environments),
  events: union(a.events, b.events),
  steps: union(a.steps, b.steps),
  projects: union(a.projects, b.projects),
})

const present = (text: string | null): readonly string[] => (text === null ? [] : [text])

const worse = (a: Level, b: Level): Level => (levelRank(a) >= levelRank(b) ? a : b)

/** Sorted, so that the same facts make the same text. A new text is put in its place, as thousands may come one at a time. */
const union = (a: readonly string[], b: readonly string[]): readonly string[] =>
  b.reduce(
    (all, text) => (all.includes(text) ? all : all.toSpliced(all.findLastIndex((other) => other < text) + 1, 0, text)),
    a,
  )
