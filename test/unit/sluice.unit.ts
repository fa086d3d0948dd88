import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Runs the launcher on this Node, which says that it is of another version. */
function runAs(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const flags = ['--disable-warning=ExperimentalWarning', '--import', `data:text/javascript,${pretend}`]
  return spawnSync(process.execPath, [...flags, 'sluice.js', 'help'], { cwd: ROOT, encoding: 'utf8' })
}

test.each(['20.19.0', '24.5.0'])('Node %s is told that it is too old, with its path and the way out', (version) => {
  const { status, stdout, stderr } = runAs(version)
  expect(status).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(`Sluice needs Node 24.6 or newer. This is Node ${version}`)
  expect(stderr).toContain(process.execPath)
  expect(stderr).toContain('npm ci')
})

test.each(['24.6.0', '24.21.0', '25.0.0', '100.1.0'])('on Node %s the program runs', (version) => {
  const { status, stdout } = runAs(version)
  expect(status).toBe(0)
  expect(stdout).toContain('Usage: sluice COMMAND')
})

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
