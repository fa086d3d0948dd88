import { describe, expect, test } from 'vitest'
import type { FlowGroup } from '../../../shared/log-store/log-store.ts'
import { RUNNING_MS } from '../../../views/api/flow-state.ts'
import { stepsOf, summaryOf } from '../../../views/api/flow-summary.ts'
import type { Names } from '../../../views/api/names.ts'
import { at } from '../../support/views-fixture.ts'

const named = (identifier: string) => ({ identifier, name: null })
const names: Names = {
  event: named,
  step: named,
  project: (id) => ({ id, name: null }),
  inQuery: (query) => query,
  stepsOf: (event) =>
    ['validate', 'pay', 'ship'].map((identifier, index) => {
      return { kind: 'step', identifier: `${event}.${identifier}`, team: 'a', name: '', event, order: index + 1 }
    }),
  processes: () => [],
}

const group = (fields: Partial<FlowGroup>): FlowGroup => ({
  event: null,
  step: null,
  project: null,
  level: 'Information',
  count: 1,
  firstAt: at(0),
  lastAt: at(0),
  ...fields,
})

const flow = (...groups: FlowGroup[]) => ({ correlationKey: 'k', firstAt: at(0), lastAt: at(9), groups })

const NOW = Date.parse(at(9)) + RUNNING_MS
const NOTHING_LEARNT = new Map<string, number>()

describe('the summary of a flow', () => {
  test('counts by level, names the worst, and lists what was touched by first appearance', () => {
    const summary = summaryOf(
      flow(
        group({ event: 'b', step: 'b.pay', level: 'Error', count: 2, firstAt: at(5), lastAt: at(6) }),
        group({ event: 'a', firstAt: at(1), lastAt: at(9), count: 3 }),
        group({ project: 'p', level: 'Warning', firstAt: at(2), lastAt: at(2) }),
        group({ event: 'b', step: 'b.pay', firstAt: at(4), lastAt: at(4) }),
      ),
      names,
      NOW,
      NOTHING_LEARNT,
    )
    expect(summary).toEqual({
      correlationKey: 'k',
      firstAt: at(0),
      lastAt: at(9),
      total: 7,
      levels: { Error: 2, Information: 4, Warning: 1 },
      worstLevel: 'Error',
      events: [named('a'), named('b')],
      steps: [named('b.pay')],
      projects: [{ id: 'p', name: null }],
      nextSteps: [named('a.validate'), named('b.ship')],
      lastErrorAt: at(6),
      lastProgressAt: at(9),
      state: 'stalled',
      reason: 'The next Step would be a.validate, b.ship, but nothing was logged for more than 5 minutes.',
    })
  })

  test('names what comes next: the Step after the furthest one seen, of every Event that is not at its last', () => {
    const nextOf = (...groups: FlowGroup[]) => summaryOf(flow(...groups), names, NOW, NOTHING_LEARNT).nextSteps
    const step = (event: string, name: string) => group({ event, step: `${event}.${name}` })
    expect(nextOf(step('order', 'validate'))).toEqual([named('order.pay')])
    expect(nextOf(step('order', 'pay'))).toEqual([named('order.ship')])
    expect(nextOf(step('order', 'ship'))).toEqual([])
    expect(nextOf(step('order', 'ship'), step('order', 'validate'), step('refund', 'pay'))).toEqual([
      named('refund.ship'),
    ])
    expect(nextOf(group({ project: 'p' }), group({ step: 'audit' }))).toEqual([])
  })

  test('tells the last error, and the last progress of an Event or Step: neither an error nor an application log is any', () => {
    const timesOf = (...groups: FlowGroup[]) => {
      const { lastErrorAt, lastProgressAt } = summaryOf(flow(...groups), names, NOW, NOTHING_LEARNT)
      return [lastErrorAt, lastProgressAt]
    }
    const ended = { event: 'order', lastAt: at(3) }
    expect(timesOf(group({ project: 'p', lastAt: at(5) }))).toEqual([null, null])
    expect(timesOf(group(ended), group({ project: 'p', level: 'Critical', lastAt: at(5) }))).toEqual([at(5), at(3)])
    expect(timesOf(group({ ...ended, level: 'Error' }), group({ project: 'p', lastAt: at(5) }))).toEqual([at(3), null])
    expect(timesOf(group({ ...ended, level: 'Warning' }), group({ step: 'audit', lastAt: at(4) }))).toEqual([
      null,
      at(4),
    ])
  })
})

describe('the Steps of a flow', () => {
  test('are all of every Event touched, in order, seen or not', () => {
    const steps = stepsOf(
      flow(
        group({ event: 'order', step: 'order.pay', level: 'Error', firstAt: at(3), lastAt: at(4), count: 2 }),
        group({ event: 'order', step: 'order.pay', firstAt: at(2), lastAt: at(2) }),
        group({ event: 'order', firstAt: at(1) }),
      ),
      names,
    )
    const unseen = { seen: false, firstAt: null, lastAt: null, duration: null, count: 0, worstLevel: null }
    expect(steps).toEqual([
      { event: named('order'), step: named('order.validate'), ...unseen },
      {
        event: named('order'),
        step: named('order.pay'),
        seen: true,
        firstAt: at(2),
        lastAt: at(4),
        duration: 1_000,
        count: 3,
        worstLevel: 'Error',
      },
      { event: named('order'), step: named('order.ship'), ...unseen },
    ])
  })

  test('that the registry no longer has come after those it has, and those that stand alone at the end', () => {
    const steps = stepsOf(
      flow(
        group({ step: 'audit', firstAt: at(0) }),
        group({ event: 'order', step: 'order.gone', firstAt: at(1) }),
        group({ event: 'refund', firstAt: at(2) }),
        group({ project: 'p' }),
      ),
      names,
    )
    expect(steps.map(({ event, step, seen }) => [event?.identifier ?? null, step.identifier, seen])).toEqual([
      ['order', 'order.validate', false],
      ['order', 'order.pay', false],
      ['order', 'order.ship', false],
      ['order', 'order.gone', true],
      ['refund', 'refund.validate', false],
      ['refund', 'refund.pay', false],
      ['refund', 'refund.ship', false],
      [null, 'audit', true],
    ])
  })

  test('are none where the flow has application logs only', () => {
    expect(stepsOf(flow(group({ project: 'p' })), names)).toEqual([])
  })
})

describe('archived Steps', () => {
  const archived: Names = {
    ...names,
    stepsOf: (event) => names.stepsOf(event).map((step) => (step.order === 2 ? { ...step, archivedAt: at(0) } : step)),
  }
  const validated = group({ event: 'a', step: 'a.validate' })
  const paid = group({ event: 'a', step: 'a.pay' })
  const steps = (...groups: FlowGroup[]) => stepsOf(flow(...groups), archived).map(({ step }) => step.identifier)

  test('are not waited for', () => {
    expect(summaryOf(flow(validated), archived, NOW, NOTHING_LEARNT).nextSteps).toEqual([named('a.ship')])
    expect(steps(validated)).toEqual(['a.validate', 'a.ship'])
  })

  test('stay in their place where they were seen', () => {
    expect(steps(paid, validated)).toEqual(['a.validate', 'a.pay', 'a.ship'])
  })
})
