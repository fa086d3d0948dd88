import { describe, expect, test } from 'vitest'
import { settingsTable } from '../../../../deploy/cli/config-commands.ts'
import { SETTINGS } from '../../../../shared/runtime/config-schema.ts'
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
