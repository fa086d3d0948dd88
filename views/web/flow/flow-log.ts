import { levelRank } from '../../../shared/contract/levels.ts'
import type { Entry } from '../api/types.ts'
import { durationOf } from './duration.ts'

/** One log of a flow with what the drawing and the list need of it. */
export interface FlowLog {
  readonly entry: Entry
  /** When it was written and when it was received, in milliseconds since 1970 with a fraction. */
  readonly written: number
  readonly received: number
  /** Severity, 0 to 5. */
  readonly rank: number
  /** Its Event, its Project, or the Steps that stand alone. */
  readonly group: string
  /** Its Step or its category; the group where the Event itself was addressed. */
  readonly lane: string
  /** The beginning of what it says, on one line. */
  readonly text: string
  /** How long what it tells of took, where it says so; milliseconds. */
  readonly duration: number | undefined
}

/** Which of a log's two times counts: its sender's clock or the gateway's. */
export type TimeOrder = 'written' | 'received'

/** The group of Steps that belong to no Event. */
export const LONE_STEPS = 'steps'

/** Most characters of a log's text on one line: rows and marks show no more. */
const LINE_MAX = 300

export function flowLogOf(entry: Entry): FlowLog {
  const placed =
    entry.kind === 'application'
      ? { group: `project:${entry.project.id}`, lane: `category:${entry.project.id}:${entry.categoryName}` }
      : placeOf(entry.event?.identifier, entry.step?.identifier)
  return {
    entry,
    written: epochMs(entry.timestamp),
    received: epochMs(entry.receivedAt),
    rank: levelRank(entry.level),
    ...placed,
    text: lineOf(entry.kind === 'application' ? entry.message : entry.payload),
    duration: durationOf(entry),
  }
}

function placeOf(event: string | undefined, step: string | undefined): Pick<FlowLog, 'group' | 'lane'> {
  const group = event === undefined ? LONE_STEPS : groupOfEvent(event)
  return { group, lane: step === undefined ? group : laneOfStep(step) }
}

export const groupOfEvent = (identifier: string): string => `event:${identifier}`
export const laneOfStep = (identifier: string): string => `step:${identifier}`

/** Milliseconds since 1970 of a canonical timestamp, with a fraction for the digits below them. */
export function epochMs(timestamp: string): number {
  const below = timestamp.slice(23, -1)
  return Date.parse(`${timestamp.slice(0, 23)}Z`) + (below === '' ? 0 : Number(`0.${below}`))
}

/** By the time that counts, then by arrival, then by id, so that every reader sees one order. */
export const sortLogs = (logs: readonly FlowLog[], order: TimeOrder): readonly FlowLog[] =>
  logs.toSorted(
    (a, b) =>
      a[order] - b[order] ||
      a.received - b.received ||
      (a.entry.id < b.entry.id ? -1 : a.entry.id > b.entry.id ? 1 : 0),
  )

const lineOf = (text: string): string => text.slice(0, LINE_MAX).replaceAll(/\s+/g, ' ').trim()
