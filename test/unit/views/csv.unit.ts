import { describe, expect, test } from 'vitest'
import { createCsvTable, csvColumnsOf } from '../../../views/api/csv.ts'
import { itemOf } from '../../../views/api/items.ts'
import type { Names } from '../../../views/api/names.ts'
import * as fc from '../../support/fast-check.ts'
import { applicationLog, eventLog } from '../../support/views-fixture.ts'

const names: Names = {
  event: (identifier) => ({ identifier, name: `name of ${identifier}` }),
  step: (identifier) => ({ identifier, name: null }),
  project: (id) => ({ id, name: 'Checkout' }),
  inQuery: (query) => query,
  stepsOf: () => [],
  processes: () => [],
}

const payloadCell = (payload: string): string | undefined => {
  const line = createCsvTable(['event']).line(itemOf(eventLog({ payload }), names))
  return parseCsv(line)[0]?.at(-1)
}

/** Reads RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

describe('CSV', () => {
  test('begins with a byte order mark and a header row', () => {
    expect(createCsvTable(['event']).head).toBe(
      '\uFEFFid,kind,receivedAt,timestamp,level,environment,correlationKey,' +
        'event.identifier,event.name,step.identifier,step.name,payload\r\n',
    )
  })

  test('has one cell a column, empty where there is no value', () => {
    const both = createCsvTable(['event', 'application'])
    const columns = both.head.slice(1, -2).split(',')
    const [cells = []] = parseCsv(both.line(itemOf(eventLog({ id: 'x', payload: 'p' }), names)))
    const row = Object.fromEntries(columns.map((column, index) => [column, cells[index]]))
    expect(cells).toHaveLength(columns.length)
    expect(row).toMatchObject({
      id: 'x',
      'event.name': 'name of order',
      'step.identifier': '',
      message: '',
      eventId: '',
    })
  })

  test('gives scopeData as JSON text and numbers as they are', () => {
    const { head, line } = createCsvTable(['application'])
    const entry = applicationLog({ eventId: -5, scopeData: { a: [1, 'x,"y"'] } })
    const columns = head.slice(1, -2).split(',')
    const [cells = []] = parseCsv(line(itemOf(entry, names)))
    expect(cells[columns.indexOf('eventId')]).toBe('-5')
    expect(cells[columns.indexOf('scopeData')]).toBe('{"a":[1,"x,\\"y\\""]}')
  })

  test('has the columns that were chosen, in their order, values among them', () => {
    const { head, line } = createCsvTable(['event'], csvColumnsOf('event', 'payload.=x,level,payload.a"b,id'))
    const fields = { 'payload.=x': '=1+1' }
    expect(head).toBe('\uFEFFpayload.=x,level,"payload.a""b",id\r\n')
    expect(line(itemOf({ ...eventLog({ id: 'x', level: 'Error' }), fields }, names))).toBe("'=1+1,Error,,x\r\n")
  })

  test.each([
    ...[
      '=1+1',
      '+1',
      '-1+1',
      '-1\n',
      '- 1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      '=HYPERLINK("http://x";"y")',
      ' =1',
      '\u3000 @x',
      '\0=1',
    ],
    ...['\u200b=1', '＝1+1', '＋1', '－1', '＠SUM(A1)', ' ＝1', '"=1+1"', "'=1+1", '\ttext'],
  ])('escapes the formula %j', (formula) => {
    expect(payloadCell(formula)).toBe(`'${formula}`)
  })

  test.each(['a;=1+1', 'a\t=1+1', 'a\u2028=1', 'a,b', 'a\nb', '"', 'a\rb'])(
    'quotes %j, whatever a locale separates by',
    (text) => {
      const line = createCsvTable(['event']).line(itemOf(eventLog({ payload: text }), names))
      expect(line).toContain(`,"${text.replaceAll('"', '""')}"\r\n`)
    },
  )

  test.each(['-1', '-20.5', '-1e-7', 'text', "it's", "'quoted'", ' a = b', '1-1', 'größe'])(
    'leaves %j as it is',
    (text) => {
      const line = createCsvTable(['event']).line(itemOf(eventLog({ payload: text }), names))
      expect(line.endsWith(`,${text}\r\n`)).toBe(true)
    },
  )

  test('quotes so that every text comes back but for an apostrophe, and none begins a formula', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[=+\-@,;"'\t\r\n a＝]{0,8}$/))
    fc.assert(
      fc.property(texts, texts, (text, other) => {
        const cell = payloadCell(text)
        expect(cell === text || cell === `'${text}`).toBe(true)
        if (Number.isNaN(Number(text))) expect(cell).not.toMatch(/^[\s"]*[=+\-@＝＋－＠]|^[\t\r\n]/)
        if (text !== other) expect(payloadCell(other)).not.toBe(cell)
      }),
    )
  })
})
