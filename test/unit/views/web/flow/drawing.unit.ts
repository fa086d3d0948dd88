import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Level } from '../../../../../shared/contract/levels.ts'
import { drawFlow, MARKS_MAX, THREAD_MAX } from '../../../../../views/web/flow/drawing.ts'
import { type FlowLog, flowLogOf, sortLogs } from '../../../../../views/web/flow/flow-log.ts'
import { findGaps, segmentsOf } from '../../../../../views/web/flow/gaps.ts'
import { groupLanes, visitsOf } from '../../../../../views/web/flow/lanes.ts'
import { rowsOf } from '../../../../../views/web/flow/rows.ts'
import { createTimeScale } from '../../../../../views/web/flow/time-scale.ts'
import { appLog, eventEntry, expected, MINUTE, SECOND, stepLog } from './flow-fixture.ts'

function draw(unsorted: readonly FlowLog[], shown: (log: FlowLog) => boolean = () => true, width = 1_000) {
  const logs = sortLogs(unsorted, 'written')
  const times = logs.map(({ written }) => written)
  const rows = rowsOf(groupLanes(logs, expected('order', 'pay', 'ship')), { toggled: new Set(), optional: new Set() })
  const scale = createTimeScale(
    segmentsOf(times[0]!, times.at(-1)!, findGaps(times), () => true),
    width,
  )
  return { rows, scale, drawing: drawFlow({ rows, visits: visitsOf(logs, 'written'), scale, order: 'written', shown }) }
}

describe('the drawing', () => {
  test('has a mark for each log, in its row and at its time', () => {
    const logs = [stepLog(0, 'pay'), stepLog(MINUTE, 'pay', 'Error'), appLog(30 * SECOND)]
    const { drawing, rows, scale } = draw(logs)
    expect(drawing.marks).toHaveLength(3)
    const mark = drawing.markOf.get(logs[1]!)
    const row = rows.find(({ id }) => id === 'step:order.pay')!
    expect(mark).toMatchObject({ rank: 4, y: row.top + row.height / 2, logs: [logs[1]] })
    expect(mark!.x).toBeCloseTo(scale.project(logs[1]!.written), 0)
  })

  test('leaves out what is not shown, but keeps its lanes', () => {
    const logs = [stepLog(0, 'pay'), stepLog(MINUTE, 'refund', 'Error')]
    const { drawing, rows } = draw(logs, ({ rank }) => rank > 3)
    expect(drawing.marks.map((mark) => mark.logs)).toEqual([[logs[1]]])
    expect(rows.map(({ label }) => label)).toContain('pay')
  })

  test('joins the marks in order of time, up to where nobody could follow', () => {
    const zigzag = (count: number) =>
      Array.from({ length: count }, (_, index) => stepLog(index * SECOND, index % 2 === 0 ? 'pay' : 'ship'))
    expect(draw(zigzag(3)).drawing.thread).toMatch(/^M[\d.]+ [\d.]+C[\d. ]+C[\d. ]+$/)
    expect(draw(zigzag(THREAD_MAX)).drawing.thread).not.toBe('')
    expect(draw(zigzag(THREAD_MAX + 1)).drawing.thread).toBe('')
  })

  test('bars join the logs of a visit, and a duration is drawn to its end', () => {
    const { drawing } = draw([stepLog(0, 'pay'), stepLog(10 * SECOND, 'pay'), stepLog(MINUTE, 'ship')])
    expect(drawing.visits.match(/M/g)).toHaveLength(1)
    expect(drawing.lasting).toBe('')
    const lasting = flowLogOf(eventEntry(MINUTE, 'order', 'ship', { payload: '{"durationMs":20000}' }))
    const { drawing: other, scale } = draw([stepLog(0, 'pay'), lasting])
    const [from, to] = other.lasting
      .match(/[\d.]+/g)!
      .map(Number)
      .filter((_, index) => index !== 1)
    expect(from).toBeCloseTo(scale.project(lasting.written - 20 * SECOND), 0)
    expect(to).toBeCloseTo(scale.project(lasting.written), 0)
  })

  test('of five thousand logs in forty lanes stays small, and still shows every one', () => {
    const levels: readonly Level[] = ['Information', 'Warning', 'Error']
    const logs = Array.from({ length: 5_000 }, (_, index) =>
      stepLog(((index * 7_919) % 5_000) * 100, `step-${index % 40}`, levels[index % 3]),
    )
    const { drawing } = draw(logs, () => true, 4_000)
    expect(drawing.marks.length).toBeLessThanOrEqual(MARKS_MAX)
    expect(drawing.markOf.size).toBe(5_000)
  })

  test('shows every log once whatever they are', () => {
    const logs = fc.array(fc.record({ ms: fc.nat(10_000_000), step: fc.constantFrom('pay', 'ship', 'refund', '') }), {
      minLength: 1,
      maxLength: 120,
    })
    fc.assert(
      fc.property(logs, (list) => {
        const all = list.map(({ ms, step }) => (step === '' ? appLog(ms) : stepLog(ms, step)))
        const shown = draw(all).drawing.marks.flatMap((mark) => mark.logs)
        expect(shown).toHaveLength(all.length)
        expect(new Set(shown)).toEqual(new Set(all))
      }),
    )
  })
})
