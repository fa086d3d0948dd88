import type { FlowDelta } from '../../contract/documents.ts'
import { levelRank } from '../../contract/levels.ts'
import { compareTimestamps, earlier, later, laterOf, toNanos } from '../../contract/timestamp.ts'
import { joinFlowValues } from '../flow-values.ts'

/** A flow as stored: the values that find it, and the days of its entries. Counts are taken from the entries when it is read. */
export interface FlowSummary {
  readonly team: string
  readonly correlationKey: string
  readonly keyFolded: string
  readonly firstAt: string
  readonly lastAt: string
  readonly days: readonly string[]
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
  readonly environments: readonly string[]
  readonly events: readonly string[]
  readonly steps: readonly string[]
  readonly projects: readonly string[]
}

/** Case folding for finding part of a key. */
export const foldKey = (key: string): string => key.toLowerCase()

/**
 * A flow's summary merged with new facts: only minima, maxima and unions, so that neither order nor repetition matters. Returns `known`
 * itself if nothing is new.
 */
export function foldFlow(known: FlowSummary | undefined, delta: FlowDelta): FlowSummary {
  const days = joined(known?.days, delta.days, (one, other) => [...new Set([...one, ...other])].sort())
  const firstAt = known === undefined ? delta.firstAt : earlier(known.firstAt, delta.firstAt)
  const facts = {
    lastAt: known === undefined ? delta.lastAt : later(known.lastAt, delta.lastAt),
    worstLevel: Math.max(known?.worstLevel ?? 0, levelRank(delta.worstLevel)),
    lastErrorAt: laterOf(known?.lastErrorAt ?? null, delta.lastErrorAt),
    lastProgressAt: laterOf(known?.lastProgressAt ?? null, delta.lastProgressAt),
  }
  const folded: FlowSummary = {
    team: delta.team,
    correlationKey: delta.correlationKey,
    keyFolded: foldKey(delta.correlationKey),
    firstAt,
    ...facts,
    duration: Number((toNanos(facts.lastAt) - toNanos(firstAt)) / NANOS_OF_A_MS),
    failed: hasFailed(facts),
    days,
    lastDay: days.at(-1) ?? '',
    environments: joined(known?.environments, delta.environments, joinFlowValues),
    events: joined(known?.events, delta.events, joinFlowValues),
    steps: joined(known?.steps, delta.steps, joinFlowValues),
    projects: joined(known?.projects, delta.projects, joinFlowValues),
  }
  return known !== undefined && isSame(known, folded) ? known : folded
}

const NANOS_OF_A_MS = 1_000_000n

type Facts = Required<Pick<FlowSummary, 'lastAt' | 'worstLevel' | 'lastErrorAt' | 'lastProgressAt'>>

function hasFailed({ lastAt, worstLevel, lastErrorAt, lastProgressAt }: Facts): boolean {
  // Earlier releases kept no time of an error.
  if (lastErrorAt === null) return worstLevel >= levelRank('Error') && lastProgressAt === null
  return compareTimestamps(lastErrorAt, lastProgressAt ?? lastAt) >= 0
}

type Join = (one: readonly string[], other: readonly string[]) => readonly string[]

/** Returns the known list itself if nothing is added. */
function joined(known: readonly string[] | undefined, learnt: readonly string[], join: Join): readonly string[] {
  const values = join(known ?? [], learnt)
  const isKnown = values.length === known?.length && values.every((value, index) => value === known[index])
  return isKnown ? known : values
}

const isSame = (known: FlowSummary, folded: FlowSummary): boolean =>
  known.firstAt === folded.firstAt &&
  known.lastAt === folded.lastAt &&
  known.worstLevel === folded.worstLevel &&
  known.lastErrorAt === folded.lastErrorAt &&
  known.lastProgressAt === folded.lastProgressAt &&
  known.duration === folded.duration &&
  known.days === folded.days &&
  known.environments === folded.environments &&
  known.events === folded.events &&
  known.steps === folded.steps &&
  known.projects === folded.projects
