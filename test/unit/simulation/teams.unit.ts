import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, '../../simulation/main.ts')

test('changes of Teams that were answered with success stand, whatever 200 schedules have happen', async () => {
  const args = ['--disable-warning=ExperimentalWarning', MAIN, '--of', 'teams', '--schedules', '200']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toMatch(/^200 schedules from seed 1: \d+ steps, nothing found\n$/)
})
