import type { FlowDelta } from '../../shared/contract/documents.ts'
import { levelRank } from '../../shared/contract/levels.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { mergeDeltas } from '../../shared/log-store/flow-deltas.ts'
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

/** One delta per flow. Order, grouping and repetition of the facts do not matter. */
export function foldFlows(facts: Iterable<FlowDelta>): readonly FlowDelta[] {
  const flows = new Map<string, FlowDelta>()
  for (const fact of facts) {
    // A Team's id contains no line break.
    const flow = `${fact.team}\n${fact.correlationKey}`
    const known = flows.get(flow)
    flows.set(flow, known === undefined ? fact : mergeDeltas(known, fact))
  }
  return [...flows.values()]
}

const present = (text: string | null): readonly string[] => (text === null ? [] : [text])
