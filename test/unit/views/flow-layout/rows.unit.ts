import { describe, expect, test } from 'vitest'
import { heightOf, LANES_MAX, rowsOf } from '../../../../views/flow-layout/rows.ts'
import { visitsOf } from '../../../../views/flow-layout/visits.ts'
import type { Entry } from '../../../../views/schemas/answers.ts'
import { appEntry, applicationEntry, eventEntry, expected, logsOf, stepEntry } from '../web/flow/flow-fixture.ts'

const NONE = new Set<string>()

const labels = (rows: ReturnType<typeof rowsOf>) =>
  rows.map(({ kind, label }) => (kind === 'lane' ? `- ${label}` : label))

describe('rows', () => {
  test('are groups and their lanes, both by their first log', () => {
    const logs = logsOf(
      appEntry(0),
      stepEntry(1, 'ship'),
      stepEntry(2, 'pay'),
      stepEntry(3, 'refund', 'Error', 'return'),
      stepEntry(4, 'ship'),
    )
    const rows = rowsOf(logs, [], NONE, NONE)
    expect(labels(rows)).toEqual(['Checkout API', 'order', '- ship', '- pay', 'return', '- refund'])
    expect(rows[2]?.logs).toEqual([logs[1], logs[4]])
    expect(rows.map(({ open }) => open)).toEqual([false, true, undefined, undefined, true, undefined])
  })

  test('of Steps not seen follow in their Event, in its order, up to a limit', () => {
    const steps = [...expected('order', 'validate', 'pay', 'ship'), ...expected('other', 'x')]
    const rows = rowsOf(logsOf(stepEntry(0, 'pay')), steps, NONE, NONE)
    expect(rows.map(({ label, all, unseen }) => [label, all.length, unseen])).toEqual([
      ['order', 1, 2],
      ['pay', 1, undefined],
      ['validate', 0, undefined],
      ['ship', 0, undefined],
    ])
    const many = expected('order', ...Array.from({ length: 500 }, (_, index) => `s${index}`))
    expect(rowsOf(logsOf(stepEntry(0, 'pay')), many, NONE, NONE)).toHaveLength(2 + LANES_MAX)
  })

  test('leave Steps that were not seen out where they are optional, and still say how many', () => {
    const rows = rowsOf(logsOf(stepEntry(0, 'pay')), expected('order', 'pay', 'ship'), NONE, new Set(['event:order']))
    expect(rows.map(({ label, unseen }) => [label, unseen])).toEqual([
      ['order', 1],
      ['pay', undefined],
    ])
  })

  test('of Steps that stand alone make a group of their own, which expects none', () => {
    const steps = expected('order', 'pay').map((step) => ({ ...step, event: null }))
    const rows = rowsOf(logsOf(eventEntry(0, null, 'audit')), steps, NONE, NONE)
    expect(labels(rows)).toEqual(['Steps without an Event', '- audit'])
  })

  test('draw what addressed the Event itself on its heading, and everything where it is folded', () => {
    const logs = logsOf(eventEntry(0, 'order', null), stepEntry(1, 'pay'), appEntry(2, 'A.B'), appEntry(3, 'A.C'))
    const show = (toggled: ReadonlySet<string>) =>
      rowsOf(logs, [], toggled, NONE).map(({ label, logs: own, all }) => [label, own.length, all.length])
    expect(show(NONE)).toEqual([
      ['order', 1, 2],
      ['pay', 1, 1],
      ['Checkout API', 2, 2],
    ])
    expect(show(new Set(['event:order', 'project:p']))).toEqual([
      ['order', 2, 2],
      ['Checkout API', 0, 2],
      ['A.B', 1, 1],
      ['A.C', 1, 1],
    ])
  })

  test('of categories are bounded: the smallest share one', () => {
    const logs = logsOf(
      ...Array.from({ length: 6 * LANES_MAX }, (_, index) => appEntry(index, `Acme.C${index % (2 * LANES_MAX)}`)),
    )
    const [project, ...lanes] = rowsOf(logs, [], new Set(['project:p']), NONE)
    expect(lanes).toHaveLength(LANES_MAX)
    expect(lanes.at(-1)?.label).toBe(`${LANES_MAX + 1} more categories`)
    expect(lanes.flatMap((lane) => lane.logs).toSorted((a, b) => a.at - b.at)).toEqual(project?.all)
  })

  test('have ids of their own where several Projects have very many categories', () => {
    const logs = logsOf(
      ...['p', 'q'].flatMap((id) =>
        Array.from({ length: 2 * LANES_MAX }, (_, index) =>
          applicationEntry(index, `Acme.C${index}`, { project: { id, name: id } }),
        ),
      ),
    )
    const ids = rowsOf(logs, [], new Set(['project:p', 'project:q']), NONE).map(({ id }) => id)
    expect(new Set(ids).size).toBe(2 * (1 + LANES_MAX))
  })

  test('have ids of their own where a Step was moved to another Event, and bars in the row of each', () => {
    const moved = { identifier: 'pay', name: 'Pay' }
    const logs = logsOf(
      ...[0, 5].map((ms) => eventEntry(ms, null, 'pay', { step: moved })),
      ...[10, 30].map((ms) => eventEntry(ms, 'order', 'pay', { step: moved })),
    )
    const rows = rowsOf(logs, [], NONE, NONE)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(4)
    expect(visitsOf(logs).map(({ lane }) => rows.findIndex(({ id }) => id === lane))).toEqual([1, 3])
    expect(logs.map(({ sincePrevious }) => sincePrevious)).toEqual([undefined, 5, undefined, 20])
  })

  test('stand one below the other', () => {
    const rows = rowsOf(logsOf(stepEntry(0, 'pay'), appEntry(1)), expected('order', 'pay', 'ship'), NONE, NONE)
    expect(rows.map(({ top }) => top)).toEqual([0, ...rows.slice(0, -1).map(({ top, height }) => top + height)])
    expect(heightOf(rows)).toBe(rows.reduce((total, { height }) => total + height, 0))
    expect(heightOf([])).toBe(0)
  })
})

describe('visits', () => {
  const lengths = (...entries: readonly Entry[]) =>
    visitsOf(logsOf(...entries)).map(({ lane, from, to }) => [lane, to - from])

  test('join the logs of a Step until another Step of its Event logs', () => {
    expect(lengths(stepEntry(0, 'pay'), stepEntry(5, 'pay'), stepEntry(7, 'ship'), stepEntry(9, 'pay'))).toEqual([
      ['step:order.pay event:order', 5],
      ['step:order.ship event:order', 0],
      ['step:order.pay event:order', 0],
    ])
  })

  test('are not interrupted by other Events, Projects or the Event itself', () => {
    const others = [appEntry(1), stepEntry(2, 'refund', 'Information', 'return'), eventEntry(3, 'order', null)]
    expect(lengths(stepEntry(0, 'pay'), ...others, stepEntry(4, 'pay'))).toEqual([
      ['step:order.pay event:order', 4],
      ['step:return.refund event:return', 0],
    ])
  })
})
