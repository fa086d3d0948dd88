import { isDeepStrictEqual } from 'node:util'
import type { FlowDelta } from '../../contract/documents.ts'
import { levelOf, levelRank } from '../../contract/levels.ts'
import { compareTimestamps, toNanos } from '../../contract/timestamp.ts'
import { mergeDeltas } from '../flow-deltas.ts'

/** A flow as stored: the values that find it, and the days of its entries. Counts are taken from the entries when it is read. */
export interface FlowSummary
  extends Omit<FlowDelta, 'lastReceivedAt' | 'worstLevel' | 'lastErrorAt' | 'lastProgressAt'> {
  readonly keyFolded: string
  readonly lastDay: string
  /** A level's rank. */
  readonly worstLevel: number
  /** As in `FlowDelta`; missing in a summary from an earlier release, as are the two below. */
  readonly lastErrorAt?: string | null
  readonly lastProgressAt?: string | null
  /** From the first to the last entry, in milliseconds. */
  readonly duration?: number
  /** Whether an error ended the flow, as defined by `FLOW_STATES`. */
  readonly failed?: boolean
}

/** Case folding for finding part of a key. */
export const foldKey = (key: string): string => key.toLowerCase()

/** A flow's summary merged with new facts (`mergeDeltas`). Returns `known` itself if nothing is new. */
export function foldFlow(known: FlowSummary | undefined, delta: FlowDelta): FlowSummary {
  const folded = summaryOf(known === undefined ? delta : mergeDeltas(factsOf(known), delta))
  return known !== undefined && isDeepStrictEqual(known, folded) ? known : folded
}

function summaryOf(delta: FlowDelta): FlowSummary {
  const { lastReceivedAt: _, worstLevel, ...facts } = delta
  return {
    ...facts,
    keyFolded: foldKey(facts.correlationKey),
    lastDay: facts.days.at(-1) ?? '',
    worstLevel: levelRank(worstLevel),
    duration: Number((toNanos(facts.lastAt) - toNanos(facts.firstAt)) / NANOS_OF_A_MS),
    failed: hasFailed(delta),
  }
}

const NANOS_OF_A_MS = 1_000_000n

function hasFailed({ lastAt, worstLevel, lastErrorAt, lastProgressAt }: FlowDelta): boolean {
  // Earlier releases kept no time of an error.
  if (lastErrorAt === null) return levelRank(worstLevel) >= levelRank('Error') && lastProgressAt === null
  return compareTimestamps(lastErrorAt, lastProgressAt ?? lastAt) >= 0
}

/** The facts that a summary holds; one of an earlier release lacks the times of errors and progress. */
export const factsOf = (summary: FlowSummary): FlowDelta => ({
  team: summary.team,
  correlationKey: summary.correlationKey,
  firstAt: summary.firstAt,
  lastAt: summary.lastAt,
  days: summary.days,
  lastReceivedAt: `${summary.lastDay}T23:59:59.999Z`,
  worstLevel: levelOf(summary.worstLevel),
  lastErrorAt: summary.lastErrorAt ?? null,
  lastProgressAt: summary.lastProgressAt ?? null,
  environments: summary.environments,
  events: summary.events,
  steps: summary.steps,
  projects: summary.projects,
})
