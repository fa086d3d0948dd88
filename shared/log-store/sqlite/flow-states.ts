import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { FlowStates } from '../log-store.ts'
import { type Sql, sql } from './sql.ts'

/** The ends and places of Events as memberNeedle bytes, for the conditions below: a WITH clause. */
export const endsOf = ({ ends, waits }: FlowStates): Sql =>
  sql(
    `WITH ends (event, step) AS MATERIALIZED (
      SELECT ${needle("ends.value ->> 'event'")}, ${needle('steps.value')}
      FROM json_each(?) AS ends, json_each(ends.value, '$.steps') AS steps),
    places (event, number, step, lately) AS MATERIALIZED (
      SELECT ${needle("waits.value ->> 'event'")}, places.key, coalesce(${needle("places.value ->> 'step'")}, x''),
        CAST(places.value ->> 'lately' AS INTEGER)
      FROM json_each(?) AS waits, json_each(waits.value, '$.places') AS places)`,
    JSON.stringify(ends),
    JSON.stringify(waits.map(({ event, lately, places }) => ({ event, places: [{ lately }, ...places].map(inNanos) }))),
  )

const needle = (text: string): string => `CAST(char(0) || (${text}) || char(0) AS BLOB)`

const inNanos = <Place extends { readonly lately: string }>(place: Place) => ({
  ...place,
  lately: String(toNanos(place.lately)),
})

const FAILED = `worst_level >= ${levelRank('Error')}
  AND coalesce(last_error_at >= coalesce(last_progress_at, last_at), last_progress_at IS NULL)`

/**
 * The Events of a flow, in the form of `memberNeedle`. The rows of `ends` are looked up by them, as a Team may have a thousand Events, and
 * comparing a flow with each took longer than all else.
 */
const MEMBERS = `WITH RECURSIVE members (event, rest) AS (
    SELECT x'', flows.events
    UNION ALL SELECT substr(rest, 1, instr(substr(rest, 2), x'00') + 1), substr(rest, instr(substr(rest, 2), x'00') + 1)
    FROM members WHERE instr(substr(rest, 2), x'00') > 0)`

/** The rows of `ends` for Events that a flow is in and has not ended. */
const EXPECTED = `${MEMBERS} SELECT 1 FROM members CROSS JOIN ends ON ends.event = members.event WHERE NOT EXISTS
  (SELECT 1 FROM ends AS other WHERE other.event = members.event AND instr(flows.steps, other.step) > 0)`

/** Whether one of these Events has places: the first of them has an empty needle, which is in every set. */
const KNOWN = `EXISTS (${EXPECTED} AND members.event IN (SELECT event FROM places))`
const OVERDUE = `EXISTS (${EXPECTED} AND last_at <= (SELECT lately FROM places
  WHERE places.event = members.event AND instr(flows.steps, places.step) > 0 ORDER BY number DESC LIMIT 1))`

/** The state of a flow, one of `FLOW_STATES`, from its row in `flows` and `endsOf`. Few flows are so recent that their places matter. */
export function stateOf({ lately, waits }: FlowStates): Sql {
  const times = [{ lately }, ...waits, ...waits.flatMap(({ places }) => places)].map((one) => toNanos(one.lately))
  const first = times.reduce((a, b) => (a < b ? a : b))
  const last = times.reduce((a, b) => (a > b ? a : b))
  return sql(
    `CASE
      WHEN ${FAILED} THEN 'failed'
      WHEN EXISTS (${EXPECTED}) THEN CASE
        WHEN last_at <= ? THEN 'stalled'
        WHEN last_at > ? THEN 'running'
        WHEN ${OVERDUE} THEN 'stalled'
        WHEN ${KNOWN} OR last_at > ? THEN 'running'
        ELSE 'stalled' END
      WHEN length(events) = 0 OR length(steps) = 0 THEN iif(last_at > ?, 'running', 'finished')
      ELSE 'finished'
    END`,
    first,
    last,
    toNanos(lately),
    toNanos(lately),
  )
}
