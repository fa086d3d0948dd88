import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SIGNALS = join(import.meta.dirname, '../../../../deploy/server/signals.ts')

/** The output of a process of its own: signals to this one would end the run. */
const run = (script: string): string =>
  execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', `import { onSignals } from ${JSON.stringify(SIGNALS)}\n${script}`],
    { encoding: 'utf8', timeout: 30_000 },
  ).trim()

const SAY = 'const say = (what) => () => { console.log(what); process.exit() }\nsetInterval(() => {}, 1_000)\n'

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('%s does what was said last', (signal) => {
  expect(run(`${SAY}onSignals(say('first')); onSignals(say('second')); process.kill(process.pid, '${signal}')`)).toBe(
    'second',
  )
})

test('a signal that has come, but was not handed over yet when something else was said, is not lost', () => {
  expect(run(`${SAY}onSignals(say('first')); process.kill(process.pid, 'SIGTERM'); onSignals(say('second'))`)).toBe(
    'second',
  )
})
