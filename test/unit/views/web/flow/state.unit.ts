import { describe, expect, test } from '@jest/globals'
import { guessState, RUNNING_MS } from '../../../../../views/web/flow/state.ts'
import { HOUR, iso, MINUTE, START, summary } from './flow-fixture.ts'

const CHARGE = [{ identifier: 'order.charge', name: 'Charge' }]
const LATER = START + MINUTE + 3 * HOUR
const guess = (more: Parameters<typeof summary>[0], now = LATER) => guessState(summary(more), now)

describe('the state of a flow', () => {
  test('is failed where no Event or Step logged after an error', () => {
    expect(guess({ lastErrorAt: iso(MINUTE), lastProgressAt: iso(0), nextSteps: CHARGE })).toEqual({
      state: 'failed',
      reason: 'No Event or Step logged anything after the error 3 h ago.',
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
      reason: 'Every Event reached its last Step; the last log is from 1 ms ago.',
    })
  })

  test('is running while it logs, and stalled when a Step is due and it does not', () => {
    const last = START + MINUTE
    expect(guess({ nextSteps: CHARGE }, last + RUNNING_MS - 1).state).toBe('running')
    expect(guess({ nextSteps: CHARGE }, last + RUNNING_MS)).toEqual({
      state: 'stalled',
      reason: 'The next Step would be Charge, but the last log is from 5 m ago.',
    })
  })

  test('is finished where nothing is expected and it no longer logs, and says so', () => {
    const apps = { steps: [], events: [], lastProgressAt: null }
    expect(guess(apps, START + 2 * MINUTE).state).toBe('running')
    expect(guess(apps)).toEqual({ state: 'finished', reason: 'No Step is expected, and the last log is from 3 h ago.' })
  })

  test('of a reader whose clock is behind is told all the same', () => {
    expect(guess({ nextSteps: CHARGE }, START - HOUR)).toEqual({
      state: 'running',
      reason: 'The last log is from 0 ms ago.',
    })
  })
})
