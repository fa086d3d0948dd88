import { describe, expect, test } from 'vitest'
import { RUNNING_MS, stateOf } from '../../../views/api/flow-state.ts'
import type { EntityRef } from '../../../views/schemas/answers.ts'
import { HOUR, iso, MINUTE, START } from './web/flow/flow-fixture.ts'

const CHARGE = [{ identifier: 'order.charge', name: 'Charge' }]
const LATER = START + MINUTE + 3 * HOUR
const FINISHED = {
  lastAt: iso(MINUTE),
  lastErrorAt: null,
  lastProgressAt: iso(MINUTE),
  nextSteps: [],
  events: [{ identifier: 'order', name: 'Order' }],
  steps: [{ identifier: 'order.validate', name: 'Validate' }],
}
const guess = (more: Partial<Parameters<typeof stateOf>[0]>, now = LATER, waits = new Map<string, number>()) =>
  stateOf({ ...FINISHED, ...more }, now, waits)

describe('the state of a flow', () => {
  test('is failed where no Event or Step logged after an error', () => {
    expect(guess({ lastErrorAt: iso(MINUTE), lastProgressAt: iso(0), nextSteps: CHARGE })).toEqual({
      state: 'failed',
      reason: 'No Event or Step logged anything after the last error.',
    })
    expect(guess({ lastErrorAt: iso(0), lastProgressAt: iso(MINUTE), nextSteps: CHARGE }).state).toBe('stalled')
  })

  test('of application logs alone is failed where the last one is an error', () => {
    const apps = { steps: [], events: [], lastProgressAt: null }
    expect(guess({ ...apps, lastErrorAt: iso(MINUTE) }).state).toBe('failed')
    expect(guess({ ...apps, lastErrorAt: iso(0) }).state).toBe('finished')
  })

  test('is finished where every Event reached its last Step, however lately', () => {
    expect(guess({}).state).toBe('finished')
    expect(guess({}, START + MINUTE + 1)).toEqual({
      state: 'finished',
      reason: 'Every Event reached its last Step.',
    })
  })

  test('is running while it logs, and stalled when a Step is due and it does not', () => {
    const last = START + MINUTE
    expect(guess({ nextSteps: CHARGE }, last + RUNNING_MS - 1).state).toBe('running')
    expect(guess({ nextSteps: CHARGE }, last + RUNNING_MS)).toEqual({
      state: 'stalled',
      reason: 'The next Step would be Charge, but nothing was logged for more than 5 minutes.',
    })
  })

  test('follows the waits that are known of the next Steps, the shortest first', () => {
    const last = START + MINUTE
    const ship = { identifier: 'order.ship', name: null }
    const waits = new Map([
      ['order.charge', 90 * MINUTE],
      ['order.ship', 70_000],
    ])
    const told = (nextSteps: readonly EntityRef[], silent: number) => guess({ nextSteps }, last + silent, waits)
    expect(told(CHARGE, 90 * MINUTE - 1)).toEqual({
      state: 'running',
      reason: 'The last log is less than 1 h 30 m old.',
    })
    expect(told(CHARGE, 90 * MINUTE)).toEqual({
      state: 'stalled',
      reason:
        'The next Step would be Charge, but nothing was logged for more than 1 h 30 m, longer than such flows take.',
    })
    expect(told([...CHARGE, ship], 69_999)).toEqual({
      state: 'running',
      reason: 'The last log is less than 1 m 10 s old.',
    })
    expect(told([...CHARGE, ship], 70_000)).toEqual({
      state: 'stalled',
      reason:
        'The next Step would be order.ship, but nothing was logged for more than 1 m 10 s, longer than such flows take.',
    })
  })

  test('is finished where nothing is expected and it no longer logs, and says so', () => {
    const apps = { steps: [], events: [], lastProgressAt: null }
    expect(guess(apps, START + 2 * MINUTE).state).toBe('running')
    expect(guess(apps)).toEqual({
      state: 'finished',
      reason: 'No Step is expected, and nothing was logged for more than 5 minutes.',
    })
  })

  test('of Steps that stand alone is running while it logs: no Event tells which Step is the last', () => {
    expect(guess({ events: [] }, START + 2 * MINUTE).state).toBe('running')
    expect(guess({ events: [] })).toEqual({
      state: 'finished',
      reason: 'No Step is expected, and nothing was logged for more than 5 minutes.',
    })
  })

  test('of a reader whose clock is behind is told all the same', () => {
    expect(guess({ nextSteps: CHARGE }, START - HOUR)).toEqual({
      state: 'running',
      reason: 'The last log is less than 5 minutes old.',
    })
  })
})
