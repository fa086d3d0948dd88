import { levelRank } from '../../shared/contract/levels.ts'
import type { EntityRef, Entry, FlowSummary } from '../schemas/answers.ts'
import { payloadLine } from './payload.ts'

/** One log of a flow with the data for the drawing and the list. Times and distances are in milliseconds. */
export interface FlowLog {
  readonly entry: Entry
  /** The time by the chosen clock, in milliseconds since 1970 with a fraction. */
  readonly at: number
  readonly sinceStart: number
  /** From the previous log in its lane; undefined for the first. */
  readonly sincePrevious: number | undefined
  /** How far its timestamp is ahead of its receipt because the sender's clock is fast; 0 if it is not ahead, or only slightly. */
  readonly skew: number
  /** The duration that it reports, if any; the reported work ended when the log was written. */
  readonly duration: number | undefined
  /** Severity, 0 to 5. */
  readonly rank: number
  /** Its Event, its Project, or `steps` for Steps without an Event. */
  readonly group: string
  /** Its Step or its category; the group if it was addressed to the Event itself. */
  readonly lane: string
  /** The names of its group and lane. */
  readonly where: readonly string[]
}

/** The clock that orders logs: the sender's or the gateway's. */
type TimeOrder = 'timestamp' | 'receivedAt'

/** A smaller clock skew is ignored: the gateway's own clock may be as far off. */
export const SKEW_MIN_MS = 3_000

/** The logs ordered by the chosen time, then by arrival, then by id, so that every reader sees the same order. */
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

/**
 * Makes entries as small as a drawing allows: of their texts, it shows the durations that they report, and a Project is one row. Those that
 * name the same Event or Step share the name.
 */
export function createTextRemoval(): (entry: Entry) => Entry {
  const looks = { left: LOOKS_MAX }
  const refs = new Map<string, EntityRef>()
  const shared = (ref: EntityRef | null): EntityRef | null => {
    if (ref !== null && !refs.has(ref.identifier)) refs.set(ref.identifier, ref)
    return ref && (refs.get(ref.identifier) ?? ref)
  }
  return (entry) => {
    const { id, receivedAt, timestamp, level } = entry
    const kept = { id, receivedAt, timestamp, level, environment: '', correlationKey: null }
    const durationMs = durationOf(entry, looks)
    const reported = durationMs === undefined ? null : { durationMs }
    if (entry.kind === 'event') {
      const payload = reported === null ? '' : JSON.stringify(reported)
      return { ...kept, kind: 'event', event: shared(entry.event), step: shared(entry.step), payload }
    }
    const texts = { categoryName: '', eventId: 0, eventName: '', message: '', exception: null }
    return { ...kept, ...texts, kind: 'application', project: entry.project, scopeData: reported }
  }
}

function read(entry: Entry, order: TimeOrder, looks: Looks): Omit<FlowLog, 'sinceStart' | 'sincePrevious'> {
  const ahead = epochMs(entry.timestamp) - epochMs(entry.receivedAt)
  return {
    entry,
    at: epochMs(entry[order]),
    skew: ahead > SKEW_MIN_MS ? ahead : 0,
    duration: durationOf(entry, looks),
    rank: levelRank(entry.level),
    ...placeOf(entry),
  }
}

/** Maximum length of a log's text on one line. */
const LINE_MAX = 300

/** The lines of entries: thousands of marks are named by them whenever a drawing is moved. */
const lines = new WeakMap<Entry, string>()

/** The beginning of a log's text, on one line. */
export function lineOf(entry: Entry): string {
  const known = lines.get(entry)
  if (known !== undefined) return known
  const text = entry.kind === 'application' ? entry.message : payloadLine(entry.payload)
  const line = text.slice(0, LINE_MAX).replaceAll(/\s+/g, ' ').trim()
  lines.set(entry, line)
  return line
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
    : { group, lane: laneOf(group, step), where: [where, nameOf(step)] }
}

export const groupOf = (event: EntityRef | null): string => (event === null ? 'steps' : `event:${event.identifier}`)
/** A Step has a lane in each group, as it may have been moved from one Event to another. */
export const laneOf = (group: string, step: EntityRef): string => `step:${step.identifier} ${group}`
export const nameOf = ({ name, identifier }: EntityRef): string => name ?? identifier

/** The Steps that a flow waits for: one that failed has no next Step. */
export const awaitedSteps = ({ state, nextSteps }: FlowSummary): readonly EntityRef[] =>
  state === 'failed' ? [] : nextSteps

/** Converts a canonical timestamp to milliseconds since 1970, with the finer digits as a fraction. */
export const epochMs = (timestamp: string): number =>
  Date.parse(`${timestamp.slice(0, 23)}Z`) + Number(`.${timestamp.slice(23, -1)}0`)

/** The remaining number of scope data names to search for durations. */
interface Looks {
  left: number
}

/** The budget of scope data names for all entries: ten each at the maximum number of drawn entries. */
const LOOKS_MAX = 50_000
/** Characters of a payload that are searched for a duration, and the length that a duration's name stays below. */
const PAYLOAD_LOOKED_AT = 4_096
const NAME_MAX = 32

/** Common names of durations in loggers and frameworks: `durationMs`, `elapsed_ms`, `ElapsedMilliseconds`. */
const DURATION = /"(?:duration|elapsed)[-_.]?(?:ms|milliseconds)" ?: ?(\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?=[^\d.e])/i

function durationOf(entry: Entry, looks: Looks): number | undefined {
  if (entry.kind === 'application') return durationIn(entry.scopeData, looks)
  const { payload } = entry
  return payload.startsWith('{') ? durationFrom(payload.slice(0, PAYLOAD_LOOKED_AT)) : undefined
}

function durationFrom(json: string): number | undefined {
  const ms = Number(DURATION.exec(json)?.[1])
  return ms > 0 && ms < Number.POSITIVE_INFINITY ? ms : undefined
}

/** The first number with a duration's name, in JSON order. */
function durationIn(value: unknown, looks: Looks): number | undefined {
  if (typeof value !== 'object' || value === null || looks.left <= 0) return undefined
  const names = Object.keys(value)
  looks.left -= names.length
  for (const name of names) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    // A number that keeps its digits is an object, with the digits as its only member.
    const digits =
      typeof member === 'number' ? member : (member as Readonly<Record<string, unknown>> | null)?.['rawJSON']
    const isNamed = digits !== undefined && name.length < NAME_MAX
    const found = isNamed ? durationFrom(`"${name}":${digits},`) : durationIn(member, looks)
    if (found !== undefined) return found
  }
  return undefined
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
