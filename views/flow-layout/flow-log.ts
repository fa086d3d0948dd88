import { levelRank } from '../../shared/contract/levels.ts'
import type { EntityRef, Entry } from '../schemas/answers.ts'

/** One log of a flow with what the drawing and the list need of it. Times and distances are in milliseconds. */
export interface FlowLog {
  readonly entry: Entry
  /** When it happened, by the time that counts, since 1970 and with a fraction. */
  readonly at: number
  readonly sinceStart: number
  /** From the log before it in its lane; undefined for the first. */
  readonly sincePrevious: number | undefined
  /** How long before it was written it was received: its sender's clock is ahead. 0 where it is not, or not by much. */
  readonly skew: number
  /** How long what it tells of took, where it says so; it ended when the log was written. */
  readonly duration: number | undefined
  /** Severity, 0 to 5. */
  readonly rank: number
  /** Its Event, its Project, or the Steps that belong to no Event. */
  readonly group: string
  /** Its Step or its category; the group where the Event itself was addressed. */
  readonly lane: string
  /** The names of group and lane. */
  readonly where: readonly string[]
  /** The beginning of what it says, on one line. */
  readonly text: string
}

/** The time of a log that counts: its sender's clock or the gateway's. */
export type TimeOrder = 'timestamp' | 'receivedAt'

/** A smaller distance between two clocks is none: the gateway's own may be as far off. */
export const SKEW_MIN_MS = 3_000

/** Most characters of a log's text on one line. */
const LINE_MAX = 300

/** The logs by the time that counts, then by arrival, then by id, so that every reader sees one order. */
export function readLogs(entries: readonly Entry[], order: TimeOrder): readonly FlowLog[] {
  const before = new Map<string, number>()
  const looks = { left: LOOKS_MAX }
  let start: number | undefined
  return entries
    .map((entry) => read(entry, order, looks))
    .sort((a, b) => a.at - b.at || compare(a.entry.receivedAt + a.entry.id, b.entry.receivedAt + b.entry.id))
    .map((log) => {
      const { at, lane } = log
      const previous = before.get(lane)
      before.set(lane, at)
      start ??= at
      return { ...log, sinceStart: at - start, sincePrevious: previous === undefined ? undefined : at - previous }
    })
}

function read(entry: Entry, order: TimeOrder, looks: Looks): Omit<FlowLog, 'sinceStart' | 'sincePrevious'> {
  const ahead = epochMs(entry.timestamp) - epochMs(entry.receivedAt)
  const text = entry.kind === 'application' ? entry.message : entry.payload
  return {
    entry,
    at: epochMs(entry[order]),
    skew: ahead > SKEW_MIN_MS ? ahead : 0,
    duration: durationOf(entry, looks),
    rank: levelRank(entry.level),
    text: text.slice(0, LINE_MAX).replaceAll(/\s+/g, ' ').trim(),
    ...placeOf(entry),
  }
}

function placeOf(entry: Entry): Pick<FlowLog, 'group' | 'lane' | 'where'> {
  if (entry.kind === 'application') {
    const { project, categoryName } = entry
    const group = `project:${project.id}`
    return { group, lane: `${group}:${categoryName}`, where: [project.name ?? project.id, categoryName] }
  }
  const { event, step } = entry
  const group = groupOf(event)
  const where = event === null ? 'Steps without an Event' : nameOf(event)
  return step === null
    ? { group, lane: group, where: [where] }
    : { group, lane: laneOf(step), where: [where, nameOf(step)] }
}

export const groupOf = (event: EntityRef | null): string => (event === null ? 'steps' : `event:${event.identifier}`)
export const laneOf = (step: EntityRef): string => `step:${step.identifier}`
export const nameOf = ({ name, identifier }: EntityRef): string => name ?? identifier

/** Milliseconds since 1970 of a canonical timestamp, with a fraction for the digits below them. */
export const epochMs = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 23)}Z`) + Number(`.${timestamp.slice(23, -1)}0`)

/** How many names of scope data are still looked at for durations. */
interface Looks {
  left: number
}

/** Names of the scope data of all entries together: ten of each where there are as many as can be drawn. */
const LOOKS_MAX = 50_000
/** Characters of a payload that are looked through for a duration, and of a name that may be one's. */
const PAYLOAD_LOOKED_AT = 4_096
const NAME_MAX = 32

/** How loggers and frameworks name a time that something took: `durationMs`, `elapsed_ms`, `ElapsedMilliseconds`. */
const DURATION = /"(?:duration|elapsed)[-_.]?(?:ms|milliseconds)" ?: ?(\d+(?:\.\d+)?)(?=[^\d.])/i

function durationOf(entry: Entry, looks: Looks): number | undefined {
  if (entry.kind === 'application') return durationIn(entry.scopeData, looks)
  const { payload } = entry
  return payload.startsWith('{') ? durationFrom(payload.slice(0, PAYLOAD_LOOKED_AT)) : undefined
}

const durationFrom = (json: string): number | undefined => Number(DURATION.exec(json)?.[1]) || undefined

/** The first number that is named like a duration, in the order in which JSON has them. */
function durationIn(value: unknown, looks: Looks): number | undefined {
  if (typeof value !== 'object' || value === null || looks.left <= 0) return undefined
  const names = Object.keys(value)
  looks.left -= names.length
  for (const name of names) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const isNamed = typeof member === 'number' && name.length < NAME_MAX
    const found = isNamed ? durationFrom(`"${name}":${member},`) : durationIn(member, looks)
    if (found !== undefined) return found
  }
  return undefined
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
