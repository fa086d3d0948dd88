import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { cliOnMemory } from '../../../support/cli.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../../docs/registry.md'), 'utf8')

const folder = temporaryFolder()
afterAll(() => folder.remove())

/** Keys are random: every one looks like the first, and what is shown of it too. */
const withoutKeys = (text: string): string =>
  text.replaceAll(/sl_[\w-]{32}/g, 'sl_KEY').replaceAll(/sl_[\w-]{3}…/g, 'sl_abc…')

describe('docs/registry.md', () => {
  test('its files and sessions, one after the other, print what it says', async () => {
    let now = Date.parse('2026-03-04T05:06:07.000Z')
    const { run } = cliOnMemory({ clock: { now: () => now } })
    const blocks = [...DOCUMENT.matchAll(/^```(yaml|console)\n(.*?)^```$/gms)]
    expect(blocks.length).toBeGreaterThan(6)
    for (const [, kind, text = ''] of blocks) {
      if (kind === 'yaml') {
        const name = /^# (\S+)\n/.exec(text)?.[1]
        expect(name).toBeDefined()
        writeFileSync(join(folder.path, name!), text)
        continue
      }
      let printed = ''
      for (const [, command = ''] of text.matchAll(/^\$ sluice (.*)$/gm)) {
        const argv = command.split(' ').map((word) => (word.endsWith('.yaml') ? join(folder.path, word) : word))
        const { stdout, stderr } = await run(...argv)
        now += 60_000
        printed += `$ sluice ${command}\n${stdout}${stderr}`.replaceAll(`${folder.path}/`, '')
      }
      expect(withoutKeys(printed)).toBe(withoutKeys(text))
    }
  })
})
