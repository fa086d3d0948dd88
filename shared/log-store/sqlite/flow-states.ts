import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import type { FlowStates } from '../log-store.ts'
import { type Sql, sql } from './sql.ts'

/** The ends of Events in the form of `memberNeedle`, for the condition below: a WITH clause. */
export const endsOf = ({ ends }: FlowStates): Sql =>
  sql(
    `WITH ends (event, step) AS MATERIALIZED (
      SELECT CAST(char(0) || (ends.value ->> 'event') || char(0) AS BLOB), CAST(char(0) || steps.value || char(0) AS BLOB)
      FROM json_each(?) AS ends, json_each(ends.value, '$.steps') AS steps)`,
    JSON.stringify(ends),
  )

const FAILED = `worst_level >= ${levelRank('Error')}
  AND coalesce(last_error_at >= coalesce(last_progress_at, last_at), last_progress_at IS NULL)`

const EXPECTS = `EXISTS (SELECT 1 FROM ends WHERE instr(flows.events, event) > 0 AND NOT EXISTS
  (SELECT 1 FROM ends AS other WHERE other.event = ends.event AND instr(flows.steps, other.step) > 0))`

/** The state of a flow, one of `FLOW_STATES`, by its row in `flows` and `endsOf`. */
export const stateOf = ({ lately }: FlowStates): Sql =>
  sql(
    `CASE
      WHEN ${FAILED} THEN 'failed'
      WHEN ${EXPECTS} THEN iif(last_at > ?, 'running', 'stalled')
      WHEN length(events) = 0 OR length(steps) = 0 THEN iif(last_at > ?, 'running', 'finished')
      ELSE 'finished'
    END`,
    toNanos(lately),
    toNanos(lately),
  )
