import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { drawFlow } from '../../../../../views/web/flow/drawing.ts'
import { type FlowLog, flowLogOf } from '../../../../../views/web/flow/flow-log.ts'
import { findGaps, segmentsOf } from '../../../../../views/web/flow/gaps.ts'
import { groupLanes, visitsOf } from '../../../../../views/web/flow/lanes.ts'
import { rowsOf } from '../../../../../views/web/flow/rows.ts'
import { escapeXml, svgText } from '../../../../../views/web/flow/svg-text.ts'
import { ticksOf } from '../../../../../views/web/flow/ticks.ts'
import { createTimeScale } from '../../../../../views/web/flow/time-scale.ts'
import { eventEntry, expected, HOUR, SECOND, stepLog } from './flow-fixture.ts'

const PALETTE = {
  back: '#fff',
  band: '#eee',
  line: '#ddd',
  text: '#111',
  muted: '#555',
  levels: ['#1', '#2', '#3', '#4', '#5', '#6'],
}

function fileOf(logs: readonly FlowLog[], title = 'order-4711'): string {
  const times = logs.map(({ written }) => written)
  const rows = rowsOf(groupLanes(logs, expected('order', 'pay', 'ship')), { toggled: new Set(), optional: new Set() })
  const scale = createTimeScale(
    segmentsOf(times[0]!, times.at(-1)!, findGaps(times), () => true),
    800,
  )
  return svgText({
    title,
    subtitle: '3 logs',
    rows,
    drawing: drawFlow({ rows, visits: visitsOf(logs, 'written'), scale, order: 'written', shown: () => true }),
    scale,
    ticks: ticksOf(scale, true),
    palette: PALETTE,
    foldLabel: () => '2 h idle',
  })
}

/** Every tag is closed, every attribute is quoted and nothing else is markup; enough for a text this program makes itself. */
function expectWellFormed(xml: string): void {
  const open: string[] = []
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z-]+="[^"<]*")*) *(\/?)>/g,
    (_all, close, name, _attributes, self) => {
      if (close === '/') expect(open.pop()).toBe(name)
      else if (self === '') open.push(name)
      return ''
    },
  )
  expect(open).toEqual([])
  expect(rest).not.toMatch(/[<>]/)
}

describe('the file', () => {
  test('holds the lanes, the marks, the fold and the Step that was not seen', () => {
    const logs = [
      stepLog(0, 'pay'),
      stepLog(SECOND, 'pay', 'Error'),
      stepLog(2 * SECOND, 'pay'),
      stepLog(2 * HOUR, 'pay'),
    ]
    const file = fileOf(logs)
    expectWellFormed(file)
    for (const text of ['order-4711', '3 logs', 'pay', 'ship', 'not seen', '2 h idle', 'Error: done'])
      expect(file).toContain(text)
  })

  test('stands alone: no script, no style sheet, no address but the name space', () => {
    const file = fileOf([stepLog(0, 'pay')])
    expect(file.match(/[a-z]+:\/\/[^"]*/g)).toEqual(['http://www.w3.org/2000/svg'])
    expect(file).not.toMatch(/<(?:script|style|image|use|foreignObject)|\son[a-z]+=/i)
  })

  test('takes hostile text as text', () => {
    const payload = '</title><script>alert(1)</script>"\u0000\u202e\ud800'
    const file = fileOf([flowLogOf(eventEntry(0, 'order', 'pay', { payload }))], payload)
    expectWellFormed(file)
    expect(file).not.toContain('<script')
    expect(file.isWellFormed()).toBe(true)
  })

  test('is well-formed whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(escapeXml(text)).not.toMatch(/[<>"']|&(?!#\d+;)/)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 forbids
        expect(escapeXml(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/)
      }),
    )
  })
})
