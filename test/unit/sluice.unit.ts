import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Runs the launcher on this Node, which says that it is of another version, and where compiled code is kept. */
function runAs(version: string) {
  const pretend = `import { getCompileCacheDir } from 'node:module'
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
    process.on('exit', () => console.error(getCompileCacheDir()))`
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--import',
    `data:text/javascript,${encodeURIComponent(pretend)}`,
  ]
  return spawnSync(process.execPath, [...flags, 'sluice.js', 'help'], { cwd: ROOT, encoding: 'utf8', env: {} })
}

test.each(['20.19.0', '24.5.0'])('Node %s is told that it is too old, with its path and the way out', (version) => {
  const { status, stdout, stderr } = runAs(version)
  expect(status).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(`Sluice needs Node 24.6 or newer. This is Node ${version}`)
  expect(stderr).toContain(process.execPath)
  expect(stderr).toContain('npm ci')
})

test.each(['24.6.0', '24.21.0', '25.0.0', '100.1.0'])(
  'on Node %s the program runs, and keeps its compiled code',
  (version) => {
    const { status, stdout, stderr } = runAs(version)
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: sluice COMMAND')
    expect(stderr).toContain(join(ROOT, 'node_modules/.cache/compiled'))
  },
)

test.each(['--jitless', '--no-experimental-strip-types'])('with %s in NODE_OPTIONS it names the option', (option) => {
  const env = { NODE_OPTIONS: option }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['sluice.js', 'help'], {
    cwd: ROOT,
    encoding: 'utf8',
    env,
  })
  expect([status, stdout, stderr]).toEqual([1, '', expect.stringContaining(`NODE_OPTIONS is "${option}"`)])
})

/** Runs Node with these arguments and its standard output at a file. */
function runInto(output: string, ...args: readonly string[]) {
  const to = openSync(output, 'w')
  const node = ['--disable-warning=ExperimentalWarning', ...args]
  const ran = spawnSync(process.execPath, node, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', to, 'pipe'],
    timeout: 20_000,
  })
  closeSync(to)
  return ran
}

/** Linux has a file of which every write fails as on a full disk. */
const FULL = '/dev/full'

test.skipIf(!existsSync(FULL))('a command whose output cannot be written says so', () => {
  const { status, stderr } = runInto(FULL, 'sluice.js', 'help')
  expect([status, stderr]).toEqual([
    1,
    'sluice: the output cannot be written: ENOSPC: no space left on device, write\n',
  ])
})

const LOGGER = `
  process.stdout.on('error', () => undefined)
  const { createLogger } = await import('./shared/runtime/logger.ts')
  const logger = createLogger('info', 'test')`

test.skipIf(!existsSync(FULL)).each(['', 'process.exit()'])(
  'log lines that cannot be written do not end the process, which does not wait for them: %s',
  (end) => {
    const program = `${LOGGER}
    for (const turn of [1, 2, 3]) {
      logger.info({ turn }, 'a line')
      await new Promise(setImmediate)
    }
    console.error('still here')
    ${end}`
    const { status, stderr } = runInto(FULL, '--input-type=module', '-e', program)
    expect([status, stderr]).toEqual([0, 'still here\n'])
  },
)

test.each(['', 'process.exit()'])(
  'a process does not wait for a reader of its log that stands still: %s',
  async (end) => {
    const program = `${LOGGER}
    for (let turn = 0; turn < 500; turn += 1) logger.info({ text: 'x'.repeat(1_000) }, 'a line')
    ${end}`
    const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
    const child = spawn(process.execPath, node, { cwd: ROOT })
    child.stdout.pause()
    const [status] = await once(child, 'exit')
    expect(status).toBe(0)
  },
)

test('a command ends as usual when nobody reads its output any more', async () => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'sluice.js', 'help'], { cwd: ROOT })
  child.stdout.destroy()
  const [[status], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('package.json and .nvmrc ask for the same Node', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } }
  const least = /NODE_MIN = '(\d+\.\d+)'/.exec(readFileSync(join(ROOT, 'sluice.js'), 'utf8'))?.[1]
  expect(engines.node).toBe(`>=${least}`)
  expect(readFileSync(join(ROOT, '.nvmrc'), 'utf8').trim()).toBe(least?.split('.')[0])
})
