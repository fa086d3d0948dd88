import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settingsTable } from '../../../../deploy/cli/config-commands.ts'
import { GENERATED, tableIn } from '../../../../deploy/docs/generated.ts'
import { errorsTable, metricsTable } from '../../../../deploy/docs/tables.ts'
import { ERRORS } from '../../../../shared/contract/errors.ts'
import { SETTINGS } from '../../../../shared/runtime/config-schema.ts'
import { METRICS } from '../../../../shared/runtime/metrics.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../../..', file), 'utf8')

test.each(GENERATED)('%s is what the code makes it: `npm run docs`', (file, make) => {
  // Of JSON the formatter decides where lines end.
  const form = (text: string): unknown => (file.endsWith('.json') ? JSON.parse(text) : text)
  expect(form(make(read(file)))).toEqual(form(read(file)))
})

describe('the tables of the documentation', () => {
  test.each([
    ['settings', settingsTable(), SETTINGS],
    ['metrics', metricsTable(), METRICS],
    ['errors', errorsTable(), ERRORS],
  ])('%s: a row for each, as wide as its head', (_name, table, catalogue) => {
    const rows = table.split('\n').map((row) => row.replaceAll('\\|', '').split('|').length)
    expect(rows).toHaveLength(Object.keys(catalogue).length + 2)
    expect(new Set(rows).size).toBe(1)
    for (const name of Object.keys(catalogue)) expect(table).toContain(`| \`${name}\` |`)
  })

  test('a secret says that it may be a file', () => {
    expect(settingsTable()).toContain('`SESSION_SECRET_FILE`')
  })

  test('a document keeps what stands around its table, and must have a place for it', () => {
    const document = 'before\n<!-- x -->\nold\n<!-- /x -->\nafter'
    const filled = tableIn('x', () => 'new')(document)
    expect(filled).toBe('before\n<!-- x -->\nnew\n<!-- /x -->\nafter')
    expect(() => tableIn('y', () => 'new')(document)).toThrow('no place between <!-- y --> and <!-- /y -->')
  })
})
