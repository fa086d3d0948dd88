import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  DOCUMENTED_TABLES,
  errorsTable,
  metricsTable,
  settingsTable,
  withTable,
} from '../../../../deploy/cli/tables.ts'
import { ERRORS } from '../../../../shared/contract/errors.ts'
import { SETTINGS } from '../../../../shared/runtime/config-schema.ts'
import { METRICS } from '../../../../shared/runtime/metrics.ts'
import { cliOnMemory } from '../../../support/cli.ts'

const SECRET = 'a-secret-of-more-than-32-characters!'
const env = { PORT: '9000', SESSION_SECRET: SECRET }

describe('config print', () => {
  test('shows every setting, those that differ with their default, and no secret', async () => {
    const { code, stdout } = await cliOnMemory({ env }).run('config', 'print')
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(Object.keys(SETTINGS).length)
    expect(stdout).toMatch(/^PORT +9000 +default: 8080$/m)
    expect(stdout).toMatch(/^HOST +127\.0\.0\.1$/m)
    expect(stdout).toMatch(/^SESSION_SECRET +\[redacted\] +default: \(unset\)$/m)
    expect(stdout).not.toContain(SECRET)
  })

  test('--json gives value, default and help of each', async () => {
    const { stdout } = await cliOnMemory({ env }).run('config', 'print', '--json')
    const settings = JSON.parse(stdout)
    expect(Object.keys(settings)).toEqual(Object.keys(SETTINGS))
    expect(settings.PORT).toEqual({ value: '9000', default: '8080', help: SETTINGS.PORT.help })
    expect(stdout).not.toContain(SECRET)
  })

  test('--markdown gives the table of the documentation, whatever the environment', async () => {
    const { code, stdout } = await cliOnMemory({ env: { PORT: 'x' } }).run('config', 'print', '--markdown')
    expect([code, stdout]).toEqual([0, `${settingsTable()}\n`])
  })
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

  test.each(DOCUMENTED_TABLES)(
    '$document has the $name as they are; `npm run docs` writes them',
    ({ document, name, table }) => {
      const text = readFileSync(join(import.meta.dirname, '../../../..', document), 'utf8')
      expect(withTable(text, name, table())).toBe(text)
    },
  )

  test('a document keeps what stands around its table, and must have a place for it', () => {
    const document = 'before\n<!-- x -->\nold\n<!-- /x -->\nafter'
    const filled = withTable(document, 'x', 'new')
    expect(filled).toBe('before\n<!-- x -->\nnew\n<!-- /x -->\nafter')
    expect(withTable(filled, 'x', 'new')).toBe(filled)
    expect(() => withTable(document, 'y', 'new')).toThrow('no place between <!-- y --> and <!-- /y -->')
  })
})
