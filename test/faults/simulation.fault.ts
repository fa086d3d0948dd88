import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MUTANTS, type Mutant } from '../simulation/mutants.ts'
import { FAULT_SCALE } from '../support/eventually.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'test/simulation/main.ts')
/** Room for young objects, of which a schedule makes many: a sixth less CPU. */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16']
const SCHEDULES = 1_000 * FAULT_SCALE
const PATIENCE_MS = 300_000 * FAULT_SCALE

interface Simulated {
  readonly code: number
  readonly lines: readonly string[]
}

/** The command as its users run it. */
const simulate = (...options: readonly string[]): Promise<Simulated> =>
  new Promise((resolve) => {
    const args = [...NODE_FLAGS, MAIN, ...options]
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), lines: `${stdout}${stderr}`.trimEnd().split('\n') }),
    )
  })

test.each([
  ['entries', 'an entry that was answered success:true is stored once'],
  ['teams', 'a change that was answered with success stands'],
])(
  'whatever a schedule of %s has happen, %s',
  async (of) => {
    const { code, lines } = await simulate('--of', of, '--schedules', String(SCHEDULES))
    process.stderr.write(`${lines.at(-1)}\n`)
    expect({ code, lines: lines.slice(-40) }).toEqual({
      code: 0,
      lines: [expect.stringMatching(/ steps, nothing found$/)],
    })
  },
  PATIENCE_MS,
)

describe('a fault that is put into the program is found, and its seed repeats the schedule line for line', () => {
  test.each(Object.entries<Mutant>(MUTANTS))(
    '%s',
    async (mutant, { from = 1 }) => {
      const found = await simulate('--schedules', '1000', '--seed', String(from), '--mutant', mutant)
      expect(found.code).toBe(1)
      const seed = /^found by seed (\d+), /.exec(found.lines.at(-1) ?? '')?.[1] ?? ''
      expect(seed, found.lines.join('\n')).not.toBe('')
      // With the first seed, this would be the same command.
      if (seed === String(from)) return
      const again = await simulate('--schedules', '1', '--seed', seed, '--mutant', mutant)
      expect(again.lines.slice(0, -1)).toEqual(found.lines.slice(0, -1))
    },
    PATIENCE_MS,
  )
})

test('docs/faults.md lists them', () => {
  const text = readFileSync(join(ROOT, 'docs/faults.md'), 'utf8')
  expect([...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name)).toEqual(Object.keys(MUTANTS))
})
