import type { FlowDelta } from '../../contract/documents.ts'
import { levelRank } from '../../contract/levels.ts'
import { compareTimestamps } from '../../contract/timestamp.ts'

/** A flow as stored: what finds it, and on which days its entries are. Counts are taken from the entries when it is read. */
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
  readonly environments: readonly string[]
  readonly events: readonly string[]
  readonly steps: readonly string[]
  readonly projects: readonly string[]
}

/**
 * A flow is found by so many values of each field at most, the first ones in order: so a key used for everything stays a document,
 * and which values are kept does not depend on the order of folding.
 */
const VALUES_MAX = 500

/** Case folding for finding part of a key. */
export const foldKey = (key: string): string => key.toLowerCase()

/**
 * A flow's summary merged with new facts: only minima, maxima and unions, so that neither order nor repetition
 * matters. Returns `known` itself where nothing is new.
 */
export function foldFlow(known: FlowSummary | undefined, delta: FlowDelta): FlowSummary {
  const days = union(known?.days, delta.days, Number.POSITIVE_INFINITY)
  const folded: FlowSummary = {
    team: delta.team,
    correlationKey: delta.correlationKey,
    keyFolded: foldKey(delta.correlationKey),
    firstAt: known && compareTimestamps(known.firstAt, delta.firstAt) <= 0 ? known.firstAt : delta.firstAt,
    lastAt: known && compareTimestamps(known.lastAt, delta.lastAt) >= 0 ? known.lastAt : delta.lastAt,
    days,
    lastDay: days.at(-1) ?? '',
    worstLevel: Math.max(known?.worstLevel ?? 0, levelRank(delta.worstLevel)),
    environments: union(known?.environments, delta.environments, VALUES_MAX),
    events: union(known?.events, delta.events, VALUES_MAX),
    steps: union(known?.steps, delta.steps, VALUES_MAX),
    projects: union(known?.projects, delta.projects, VALUES_MAX),
  }
  return known !== undefined && isSame(known, folded) ? known : folded
}

/** Sorted; the known list itself where nothing is added. */
function union(known: readonly string[] | undefined, learnt: readonly string[], max: number): readonly string[] {
  const values = [...new Set([...(known ?? []), ...learnt])].sort().slice(0, max)
  const isKnown = values.length === known?.length && values.every((value, index) => value === known[index])
  return isKnown ? known : values
}

const isSame = (known: FlowSummary, folded: FlowSummary): boolean =>
  known.firstAt === folded.firstAt &&
  known.lastAt === folded.lastAt &&
  known.worstLevel === folded.worstLevel &&
  known.days === folded.days &&
  known.environments === folded.environments &&
  known.events === folded.events &&
  known.steps === folded.steps &&
  known.projects === folded.projects
