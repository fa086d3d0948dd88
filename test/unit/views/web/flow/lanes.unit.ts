import { describe, expect, test } from '@jest/globals'
import { flowLogOf } from '../../../../../views/web/flow/flow-log.ts'
import { CATEGORY_LANES_MAX, groupLanes, visitsOf } from '../../../../../views/web/flow/lanes.ts'
import { heightOf, rowsOf } from '../../../../../views/web/flow/rows.ts'
import { appLog, eventEntry, expected, stepLog } from './flow-fixture.ts'

const NONE = { toggled: new Set<string>(), optional: new Set<string>() }

describe('lanes', () => {
  test('stand in groups, both by their first log', () => {
    const logs = [
      appLog(0),
      stepLog(1, 'ship'),
      stepLog(2, 'pay'),
      stepLog(3, 'refund', 'Error', 'return'),
      stepLog(4, 'ship'),
    ]
    const groups = groupLanes(logs, [])
    expect(groups.map(({ id, kind, lanes }) => [id, kind, lanes.map(({ label }) => label)])).toEqual([
      ['project:p', 'project', ['Billing']],
      ['event:order', 'event', ['ship', 'pay']],
      ['event:return', 'event', ['refund']],
    ])
    expect(groups[1]?.lanes[0]?.logs).toEqual([logs[1], logs[4]])
  })

  test('of Steps not seen follow in their Event, in its order', () => {
    const groups = groupLanes(
      [stepLog(0, 'pay')],
      [...expected('order', 'validate', 'pay', 'ship'), ...expected('other', 'x')],
    )
    expect(groups).toHaveLength(1)
    expect(groups[0]?.lanes.map(({ label, logs }) => [label, logs.length])).toEqual([
      ['pay', 1],
      ['validate', 0],
      ['ship', 0],
    ])
  })

  test('of Steps that stand alone make a group of their own', () => {
    const alone = flowLogOf(eventEntry(0, null, 'audit'))
    const steps = expected('order', 'pay').map((step) => ({ ...step, event: null }))
    expect(groupLanes([alone], steps)).toMatchObject([{ kind: 'steps', lanes: [{ id: 'step:audit' }] }])
  })

  test('leave what addressed the Event itself to its heading', () => {
    const own = flowLogOf(eventEntry(0, 'order', null))
    const [group] = groupLanes([own, stepLog(1, 'pay')], [])
    expect(group?.own).toEqual([own])
    expect(group?.lanes.map(({ id }) => id)).toEqual(['step:order.pay'])
  })

  test('of categories are bounded: the smallest share one', () => {
    const logs = Array.from({ length: 3 * CATEGORY_LANES_MAX }, (_, index) =>
      appLog(index, `Acme.C${index % (2 * CATEGORY_LANES_MAX)}`),
    )
    const [group] = groupLanes(logs, [])
    expect(group?.lanes).toHaveLength(CATEGORY_LANES_MAX)
    expect(group?.lanes.at(-1)?.label).toBe(`${CATEGORY_LANES_MAX + 1} more categories`)
    expect(group?.lanes.flatMap((lane) => lane.logs).toSorted((a, b) => a.written - b.written)).toEqual(logs)
  })
})

describe('rows', () => {
  const logs = [flowLogOf(eventEntry(0, 'order', null)), stepLog(1, 'pay'), appLog(2, 'A.B'), appLog(3, 'A.C')]
  const groups = groupLanes(logs, expected('order', 'pay', 'ship'))
  const show = (options: Partial<typeof NONE>) =>
    rowsOf(groups, { ...NONE, ...options }).map(({ label, logs: own, open }) => [label, own.length, open])

  test('show the Steps of an Event and keep a Project together', () => {
    expect(show({})).toEqual([
      ['order', 1, true],
      ['pay', 1, undefined],
      ['ship', 0, undefined],
      ['Checkout API', 2, false],
    ])
  })

  test('fold an Event and unfold a Project when asked; what is folded is drawn on the heading', () => {
    expect(show({ toggled: new Set(['event:order', 'project:p']) })).toEqual([
      ['order', 2, false],
      ['Checkout API', 0, true],
      ['B', 1, undefined],
      ['C', 1, undefined],
    ])
  })

  test('leave Steps that were not seen out where they are optional', () => {
    expect(show({ optional: new Set(['event:order']) }).map(([label]) => label)).toEqual([
      'order',
      'pay',
      'Checkout API',
    ])
  })

  test('stand one below the other', () => {
    const rows = rowsOf(groups, NONE)
    expect(rows.map(({ top }) => top)).toEqual([0, ...rows.slice(0, -1).map(({ top, height }) => top + height)])
    expect(heightOf(rows)).toBe(rows.reduce((total, { height }) => total + height, 0))
    expect(heightOf([])).toBe(0)
  })
})

describe('visits', () => {
  test('join the logs of a Step until another Step of its Event logs', () => {
    const logs = [stepLog(0, 'pay'), stepLog(5, 'pay'), stepLog(7, 'ship'), stepLog(9, 'pay')]
    expect(visitsOf(logs, 'written').map(({ lane, from, to }) => [lane, to - from])).toEqual([
      ['step:order.pay', 5],
      ['step:order.ship', 0],
      ['step:order.pay', 0],
    ])
  })

  test('are not interrupted by other Events, Projects or the Event itself', () => {
    const logs = [
      stepLog(0, 'pay'),
      appLog(1),
      stepLog(2, 'refund', 'Information', 'return'),
      flowLogOf(eventEntry(3, 'order', null)),
      stepLog(4, 'pay'),
    ]
    expect(visitsOf(logs, 'written').map(({ lane, from, to }) => [lane, to - from])).toEqual([
      ['step:order.pay', 4],
      ['step:return.refund', 0],
    ])
  })
})
