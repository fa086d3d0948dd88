import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { runSluice, type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const folder = temporaryFolder()
const DATA = { DATA_DIR: join(folder.path, 'data') }
let server: SluiceProcess
let settings: Record<string, string>

beforeAll(async () => {
  const file = join(import.meta.dirname, '../../deploy/canary/registry.yaml')
  expect(await runSluice(['registry', 'apply', file], DATA)).toMatchObject({ code: 0 })
  const { stdout } = await runSluice(['registry', 'rotate-key', 'sluice-canary', '--json'], DATA)
  server = await startSluice(DATA)
  settings = { GATEWAY_URL: server.url, CANARY_API_KEY: JSON.parse(stdout).key }
})

afterAll(async () => {
  server.kill('SIGKILL')
  await server.exited
  folder.remove()
})

/** The output of the image's health check. */
const checkHealth = async (env: Record<string, string>): Promise<string> => {
  const file = join(import.meta.dirname, '../../deploy/health-check.ts')
  const args = ['--disable-warning=ExperimentalWarning', file]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env }).catch((error) => error)
  return stdout
}

test('the health check lists wrong settings, without a stack', async () => {
  expect(await checkHealth({ PORT: 'x' })).toMatch(/^the configuration has 1 problem:\n {2}- PORT must be [^\n]*\n$/)
})

test('the health check asks this machine, whatever proxy is set for others', async () => {
  const proxied = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9' }
  expect(await checkHealth({ ...proxied, PORT: new URL(server.url).port })).toMatch(/^200 \{"ready":true/)
})

test('one round finds what it wrote', async () => {
  const { code, stdout, stderr } = await runSluice(['canary', '--once'], settings)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const hop of ['accepted', 'event-logs', 'application-logs', 'flows', 'found']) expect(stdout).toContain(hop)
})

test('the process counts its rounds, tells of nothing that it has not, and ends with 0', async () => {
  const canary = await startSluice({ ...settings, CANARY_INTERVAL_MS: '1000' }, [], { command: 'canary' })
  try {
    const text = await eventually(async () => {
      const metrics = await (await fetch(`${canary.url}/metrics`)).text()
      expect(metrics).toMatch(/^sluice_canary_rounds_total\{outcome="found"\} [1-9]/m)
      return metrics
    })
    expect(text).toMatch(/^sluice_canary_seconds_count\{hop="flows"\} [1-9]/m)
    expect(text).toMatch(/^sluice_canary_rounds_total\{outcome="not_searchable"\} 0$/m)
    expect(text).toMatch(/^sluice_build_info\{version="\d[^"]*",role="canary"\} 1$/m)
    expect(text).not.toContain('sluice_registry_ready')
    expect(await (await fetch(`${canary.url}/health/ready`)).json()).toMatchObject({ ready: true })
    // The port of metrics is its only one, and has no base path.
    const { port } = new URL(canary.url)
    expect(await checkHealth({ METRICS_PORT: port, PORT: '1', BASE_PATH: '/logs' })).toMatch(/^200 \{"ready":true/)
  } finally {
    canary.kill('SIGTERM')
  }
  expect(await canary.exited).toBe(0)
})
