import type { SQLOutputValue } from 'node:sqlite'
import type { FlowDelta } from '../../contract/documents.ts'
import type { Database } from './database.ts'
import { type FlowSummary, mergeSummaries, summaryOf } from './flow-summary.ts'
import { setBytes, setMembers } from './leaf-bytes.ts'

export interface FlowWriter {
  /** Folds the deltas into the summaries, in one transaction. */
  mergeFlows(deltas: readonly FlowDelta[]): void
}

const SELECT = `SELECT CAST(first_at AS TEXT) AS first_at, CAST(last_at AS TEXT) AS last_at, last_day, worst_level,
  environments, events, steps, projects FROM flows WHERE team = ? AND key = ?`
const COLUMNS = 'first_at, last_at, last_day, worst_level, environments, events, steps, projects'
const UPSERT = `INSERT INTO flows (team, key, key_lower, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (team, key) DO UPDATE SET (${COLUMNS}) =
    (${COLUMNS.split(', ')
      .map((column) => `excluded.${column}`)
      .join(', ')})`

export function createFlowWriter(database: Database): FlowWriter {
  const merge = (delta: FlowDelta): void => {
    const { team, correlationKey: key } = delta
    const row = database.prepare(SELECT).get(team, key)
    const told = summaryOf(delta)
    const flow = row === undefined ? told : mergeSummaries(fromRow(row), told)
    const sets = [flow.environments, flow.events, flow.steps, flow.projects].map(setBytes)
    database
      .prepare(UPSERT)
      .run(team, key, key.toLowerCase(), flow.firstAt, flow.lastAt, flow.lastDay, flow.worstLevel, ...sets)
  }
  return {
    mergeFlows: (deltas) => {
      if (deltas.length > 0) database.write(() => deltas.forEach(merge))
    },
  }
}

function fromRow(row: Record<string, SQLOutputValue>): FlowSummary {
  const members = (column: string): readonly string[] => setMembers(row[column] as Uint8Array)
  return {
    firstAt: BigInt(String(row['first_at'])),
    lastAt: BigInt(String(row['last_at'])),
    lastDay: String(row['last_day']),
    worstLevel: Number(row['worst_level']),
    environments: members('environments'),
    events: members('events'),
    steps: members('steps'),
    projects: members('projects'),
  }
}
