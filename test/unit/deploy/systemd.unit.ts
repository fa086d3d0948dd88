import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GRPC_CONNECTIONS_SHARE } from '../../../deploy/http/http2.ts'
import { loadConfig } from '../../../shared/runtime/config.ts'
import { temporaryFolder } from '../../support/sluice-process.ts'

const ROOT = new URL('../../../', import.meta.url).pathname
const UNIT = readFileSync(join(ROOT, 'deploy/systemd/sluice.service'), 'utf8')
const settingOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1] ?? ''

test('the unit gives a server the time to drain, and files for all connections', () => {
  const { DRAIN_TIMEOUT_MS, MAX_CONNECTIONS } = loadConfig({})
  expect(Number(settingOf('TimeoutStopSec')) * 1_000).toBeGreaterThan(DRAIN_TIMEOUT_MS)
  expect(Number(settingOf('LimitNOFILE'))).toBeGreaterThan(2 * MAX_CONNECTIONS * (1 + GRPC_CONNECTIONS_SHARE))
})

test.runIf(existsSync('/usr/bin/systemd-analyze'))('systemd finds nothing wrong with the unit', () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'sluice.service')
  const here = UNIT.replace('/opt/sluice/node_modules/.bin/node', process.execPath).replaceAll('/opt/sluice', ROOT)
  writeFileSync(file, here)
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  folder.remove()
  // It warns about unknown settings, and of other units of the machine.
  expect([status, stderr.split('\n').filter((line) => line.includes('sluice.service'))]).toEqual([0, []])
})
