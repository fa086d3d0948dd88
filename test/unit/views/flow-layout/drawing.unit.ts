import { describe, expect, test } from 'vitest'
import type { Level } from '../../../../shared/contract/levels.ts'
import { drawFlow, MARKS_MAX, THREAD_MAX } from '../../../../views/flow-layout/drawing.ts'
import type { FlowLog } from '../../../../views/flow-layout/flow-log.ts'
import { findGaps, segmentsOf } from '../../../../views/flow-layout/gaps.ts'
import { rowsOf } from '../../../../views/flow-layout/rows.ts'
import { createTimeScale } from '../../../../views/flow-layout/time-scale.ts'
import { visitsOf } from '../../../../views/flow-layout/visits.ts'
import type { Entry } from '../../../../views/schemas/answers.ts'
import { minimapPaths } from '../../../../views/web/flow/minimap.ts'
import { neighbourOf } from '../../../../views/web/flow/navigation.ts'
import { logWords, markWords } from '../../../../views/web/flow/words.ts'
import * as fc from '../../../support/fast-check.ts'
import { appEntry, eventEntry, expected, iso, logsOf, MINUTE, SECOND, stepEntry } from '../web/flow/flow-fixture.ts'

function draw(entries: readonly Entry[], shown: (log: FlowLog) => boolean = () => true, width = 1_000) {
  const logs = logsOf(...entries)
  const times = logs.map(({ at }) => at)
  const rows = rowsOf(logs, expected('order', 'pay', 'ship'), new Set(), new Set())
  const scale = createTimeScale(segmentsOf(times[0]!, times.at(-1)!, findGaps(times)), width)
  const visible = new Set(logs.filter(shown))
  return { logs, rows, scale, visible, drawing: drawFlow(rows, visitsOf(logs), scale, visible) }
}

describe('the drawing', () => {
  test('has a mark for each log, in its row and at its time', () => {
    const { drawing, rows, scale, logs } = draw([
      stepEntry(0, 'pay'),
      appEntry(30 * SECOND),
      stepEntry(MINUTE, 'pay', 'Error'),
    ])
    expect(drawing.marks).toHaveLength(3)
    const mark = drawing.markOf.get(logs[2]!)
    const row = rows.find(({ id }) => id === 'step:order.pay event:order')!
    expect(mark).toMatchObject({ rank: 4, y: row.top + row.height / 2, logs: [logs[2]] })
    expect(mark!.x).toBeCloseTo(scale.project(logs[2]!.at), 0)
  })

  test('leaves out what is not shown, but keeps its lanes', () => {
    const { drawing, rows, logs } = draw(
      [stepEntry(0, 'pay'), stepEntry(MINUTE, 'refund', 'Error')],
      ({ rank }) => rank > 3,
    )
    expect(drawing.marks.map((mark) => mark.logs)).toEqual([[logs[1]]])
    expect(rows.map(({ label }) => label)).toContain('pay')
  })

  test('joins the marks in order of time, up to where nobody could follow', () => {
    const zigzag = (count: number) =>
      Array.from({ length: count }, (_, index) => stepEntry(index * SECOND, index % 2 === 0 ? 'pay' : 'ship'))
    expect(draw(zigzag(3)).drawing.thread).toMatch(/^M[\d.]+ [\d.]+C[\d. ]+C[\d. ]+$/)
    expect(draw(zigzag(THREAD_MAX)).drawing.thread).not.toBe('')
    expect(draw(zigzag(THREAD_MAX + 1)).drawing.thread).toBe('')
  })

  test('joins the logs of a visit and of a group', () => {
    const { drawing } = draw([
      stepEntry(0, 'pay'),
      stepEntry(10 * SECOND, 'pay'),
      stepEntry(MINUTE, 'ship'),
      appEntry(MINUTE),
    ])
    expect(drawing.stays.match(/M/g)).toHaveLength(1)
    expect(drawing.spans.match(/M/g)).toHaveLength(1)
    expect(drawing.lasting).toBe('')
  })

  test('draws a duration to the time at which it was told', () => {
    const lasting = eventEntry(MINUTE, 'order', 'ship', { payload: '{"durationMs":20000}' })
    const { drawing, scale, logs } = draw([stepEntry(0, 'pay'), lasting])
    const [from, , to] = drawing.lasting.match(/[\d.]+/g)!.map(Number)
    expect(from).toBeCloseTo(scale.project(logs[1]!.at - 20 * SECOND), 0)
    expect(to).toBeCloseTo(scale.project(logs[1]!.at), 0)
  })

  test('of five thousand logs in forty lanes stays small, and still shows every one', () => {
    const levels: readonly Level[] = ['Information', 'Warning', 'Error']
    const entries = Array.from({ length: 5_000 }, (_, index) =>
      stepEntry(((index * 7_919) % 5_000) * 100, `step-${index % 40}`, levels[index % 3]),
    )
    const { drawing, rows, scale, visible } = draw(entries, () => true, 4_000)
    expect(drawing.marks.length).toBeLessThanOrEqual(MARKS_MAX)
    expect(drawing.markOf.size).toBe(5_000)
    const { others, errors } = minimapPaths(rows, scale, visible, 36)
    expect(errors.match(/v/g)!.length).toBeGreaterThan(1_000)
    expect(others).not.toContain('v')
  })

  test('shows every log once whatever they are', () => {
    const logs = fc.array(fc.record({ ms: fc.nat(10_000_000), step: fc.constantFrom('pay', 'ship', 'refund', '') }), {
      minLength: 1,
      maxLength: 120,
    })
    fc.assert(
      fc.property(logs, (list) => {
        const entries = list.map(({ ms, step }) => (step === '' ? appEntry(ms) : stepEntry(ms, step)))
        const shown = draw(entries).drawing.marks.flatMap((mark) => mark.logs)
        expect(shown).toHaveLength(entries.length)
        expect(new Set(shown).size).toBe(entries.length)
      }),
    )
  })
})

describe('the overview', () => {
  test('points at errors and keeps what is drawn on one another once', () => {
    const { rows, scale, visible } = draw([
      stepEntry(0, 'pay'),
      stepEntry(1, 'pay'),
      stepEntry(MINUTE, 'pay', 'Critical'),
    ])
    const { others, errors } = minimapPaths(rows, scale, visible, 36)
    expect(others.match(/M/g)).toHaveLength(1)
    expect(errors.match(/v/g)).toHaveLength(1)
    expect(minimapPaths(rows, scale, new Set(), 36)).toEqual({ others: '', errors: '' })
  })
})

describe('the arrow keys', () => {
  const { drawing } = draw([
    stepEntry(0, 'pay'),
    stepEntry(30 * SECOND, 'pay'),
    stepEntry(MINUTE, 'pay'),
    appEntry(MINUTE - 1),
  ])

  test('lead along a lane and to the nearest mark of the next one', () => {
    const to = (at: number, key: string) => neighbourOf(drawing.marks, at, key)
    expect(drawing.marks.map(({ row }) => row.label)).toEqual(['pay', 'pay', 'pay', 'Checkout API'])
    expect([to(0, 'ArrowRight'), to(1, 'ArrowLeft'), to(1, 'ArrowDown'), to(3, 'ArrowUp')]).toEqual([1, 0, 3, 2])
  })

  test('lead nowhere at the ends', () => {
    for (const [at, key] of [
      [0, 'ArrowLeft'],
      [0, 'ArrowUp'],
      [2, 'ArrowRight'],
      [3, 'ArrowDown'],
      [0, 'a'],
      [9, 'ArrowLeft'],
    ] as const)
      expect(neighbourOf(drawing.marks, at, key)).toBeUndefined()
  })
})

describe('the words', () => {
  test('of a log tell its time, place, level, distance from the start and text', () => {
    const { logs } = draw([stepEntry(0, 'validate'), stepEntry(123_000, 'charge', 'Error')])
    expect(logWords(logs[1]!, true)).toBe('09:32:03.000, order > charge, error, +2 m 3 s: done')
  })

  test('of a cluster tell how many, where, when and the worst', () => {
    const { drawing } = draw([stepEntry(0, 'pay'), stepEntry(1, 'pay', 'Warning'), stepEntry(MINUTE, 'ship')])
    expect(markWords(drawing.marks[0]!, true)).toBe('2 logs, pay, 09:30:00.000 to 09:30:00.001, at worst warning')
    expect(markWords(drawing.marks[1]!, true)).toContain(iso(MINUTE).slice(11, 23))
  })
})
