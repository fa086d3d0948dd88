import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createCsvTable } from '../../../views/api/csv.ts'
import { itemOf } from '../../../views/api/items.ts'
import type { Names } from '../../../views/api/names.ts'
import { applicationLog, eventLog } from '../../support/views-fixture.ts'

const names: Names = {
  event: (identifier) => ({ identifier, name: `name of ${identifier}` }),
  step: (identifier) => ({ identifier, name: null }),
  project: (id) => ({ id, name: 'Checkout' }),
  stepsOf: () => [],
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

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '=HYPERLINK("http://x";"y")'])(
    'escapes the formula %j',
    (formula) => {
      expect(payloadCell(formula)).toBe(`'${formula}`)
    },
  )

  test('quotes so that every text comes back, and none begins a formula', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[=+\-@,"\r\n a]{0,8}$/))
    fc.assert(
      fc.property(texts, (text) => {
        const cell = payloadCell(text)
        expect(cell === text || cell === `'${text}`).toBe(true)
        expect(cell).not.toMatch(/^[=+\-@\t\r\n]/)
      }),
    )
  })
})
