import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { endsOf, stateOf } from '../../../../../shared/log-store/sqlite/flow-reader.ts'
import { SCHEMA } from '../../../../../shared/log-store/sqlite/schema.ts'

const STATES = {
  lately: '2026-01-01T00:00:00.000Z',
  ends: [{ event: 'order', steps: ['ship'] }],
  waits: [{ event: 'order', lately: '2026-01-01T00:00:00.000Z', places: [] }],
}

test('a flow is not compared with every Event of its Team: the Events that it has are looked up', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(SCHEMA)
  const [ends, state] = [endsOf(STATES), stateOf(STATES)]
  const plan = database
    .prepare(`EXPLAIN QUERY PLAN ${ends.text} SELECT ${state.text} FROM flows`)
    .all(...ends.values, ...state.values)
    .map(({ detail }) => String(detail))
  expect(plan.filter((line) => /^SEARCH ends /.test(line)).length).toBeGreaterThan(0)
  // The contents of the two tables are read once.
  expect(plan.filter((line) => /^SCAN (ends|other|places)\b/.test(line) && !line.includes('VIRTUAL TABLE'))).toEqual([
    'SCAN places',
  ])
  database.close()
})
