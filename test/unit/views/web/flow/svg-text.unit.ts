import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { rowsOf } from '../../../../../views/web/flow/rows.ts'
import { escapeXml, svgText, zigzag } from '../../../../../views/web/flow/svg-text.ts'
import { expected, logsOf, stepEntry } from './flow-fixture.ts'

const rows = rowsOf(logsOf(stepEntry(0, 'pay')), expected('order', 'pay', 'ship'), new Set(), new Set())

const fileOf = (title: string): string =>
  svgText({
    title,
    subtitle: '1 log',
    rows: rows.map((row) => ({ ...row, label: row.id === 'step:order.pay' ? title : row.label })),
    axis: '<svg xmlns="http://www.w3.org/2000/svg"><text>09:30</text></svg>',
    plot: '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0H9"/></svg>',
    idle: [[100, '2 h <idle>']],
    width: 400,
    style: '.flow-mark { fill: red }\n.flow-a > .flow-b { content: "&" }',
  })

/** Every tag is closed, every attribute is quoted and nothing else is markup; enough for a text this program makes itself. */
function expectWellFormed(xml: string): void {
  const open: string[] = []
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z-]+="[^"<]*")*)(\/?)>/g,
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
  test('holds the lanes by name, the drawing and its rules', () => {
    const file = fileOf('order-4711')
    expectWellFormed(file)
    for (const text of [
      '2 h &#60;idle&#62;',
      'order-4711',
      '1 log',
      'ship',
      '09:30',
      'M0 0H9',
      '.flow-mark { fill: red }',
    ])
      expect(file).toContain(text)
  })

  test('stands alone: no script, no address but the name space', () => {
    const file = fileOf('order-4711')
    expect(new Set(file.match(/[a-z]+:\/\/[^"]*/g))).toEqual(new Set(['http://www.w3.org/2000/svg']))
    expect(file).not.toMatch(/<(?:script|image|use|foreignObject)|\son[a-z]+=/i)
  })

  test('takes hostile text as text', () => {
    const file = fileOf('</title><script>alert(1)</script>"\u0000\u202e\ud800')
    expectWellFormed(file)
    expect(file).not.toContain('<script')
    expect(file.isWellFormed()).toBe(true)
  })

  test('is well-formed whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(escapeXml(text)).not.toMatch(/[<>"]|&(?!#\d+;)/)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 forbids
        expect(escapeXml(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/)
      }),
    )
  })
})

test('torn edges reach to the bottom and stay within their stretch', () => {
  const [left, right] = zigzag(100, 148, 300).split('M').slice(1)
  expect(left).toMatch(/^110 0(?:l4 7l-4 7){22}$/)
  expect(right).toMatch(/^134 0/)
})
