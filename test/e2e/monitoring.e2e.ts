import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { CANARY_EVENT, CANARY_PROJECT } from '../../deploy/canary/round.ts'
import { ROWS } from '../../deploy/monitoring/dashboard.ts'
import { ruleGroups, rulesFile } from '../../deploy/monitoring/render.ts'
import { createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { serverFolder, startSluice } from '../support/sluice-process.ts'
import { attempt, notProved, prepareInstalled, type Toolchain } from '../support/toolchains.ts'
import { startTraceReceiver } from '../support/trace-receiver.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '../../deploy/monitoring')
const PATIENCE_MS = 240_000
const KEY = 'monitoring-e2e-key-0123456789abcdef012345'
const REGISTRY = `teams: [{ id: shop, name: Shop, apiKeys: ["${KEY}"], limits: { entriesPerSecond: 1, burstSeconds: 1, shadow: true } }]
events:
  - { identifier: order-placed, team: shop, name: Order placed }
  - { identifier: ${CANARY_EVENT}, team: shop, name: Canary }
projects: [{ id: ${CANARY_PROJECT}, team: shop, name: Canary }]
`

const toolOf = (program: string): Promise<Toolchain> => attempt(() => prepareInstalled(program))
const [promtool, amtool, prometheus] = await Promise.all([toolOf('promtool'), toolOf('amtool'), toolOf('prometheus')])

/** Tests with a program of Prometheus; where it is not installed, that is told. `REQUIRE_MONITORING=1` makes it a failure. */
function describeWith(program: string, found: Toolchain, tests: () => void): void {
  const name = `monitoring with ${program}`
  if ('missing' in found) notProved(name, found.missing, process.env['REQUIRE_MONITORING'] === '1')
  else describe(name, tests)
}

describeWith('promtool', promtool, () => {
  test('the rules are rules of Prometheus', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', 'rules.yaml'], { cwd: FOLDER })
    expect(stdout).toContain(`SUCCESS: ${ruleGroups().flatMap(({ rules }) => rules).length} rules found`)
  })

  test(
    'each alert fires and is silent when it should',
    async () => {
      const { stdout } = await run('promtool', ['test', 'rules', 'rules-test.yaml'], { cwd: FOLDER })
      expect(stdout).toContain('SUCCESS')
    },
    PATIENCE_MS,
  )
})

describeWith('amtool', amtool, () => {
  test('the example is a configuration of Alertmanager', async () => {
    const { stdout } = await run('amtool', ['check-config', 'alertmanager.example.yaml'], { cwd: FOLDER })
    expect(stdout).toContain('SUCCESS')
  })

  test.each([
    ['page', 'pages'],
    ['ticket', 'tickets'],
  ])('a %s goes to %s', async (severity, receiver) => {
    const args = ['config', 'routes', 'test', '--config.file=alertmanager.example.yaml', `severity=${severity}`]
    expect((await run('amtool', args, { cwd: FOLDER })).stdout.trim()).toBe(receiver)
  })
})

/** More entries in a second than the quota of the registry allows, which only counts them. */
const BEYOND_QUOTA = 5
const TRACED = { OTEL_TRACES_SAMPLER_ARG: '1', WATCH_INTERVAL_MS: '1000', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }

/** Without Elasticsearch there are no bulks, and nothing to count of them. */
const NEEDS_ELASTICSEARCH = ['sluice_store_bulk']

describeWith('prometheus', prometheus, () => {
  test(
    'every query of a panel has an answer, and no alert fires, once the program has taken and shown a log',
    async () => {
      const { settings, ...folder } = serverFolder(REGISTRY)
      const traces = await startTraceReceiver()
      const server = await startSluice({ ...settings, ...TRACED, OTEL_EXPORTER_OTLP_ENDPOINT: traces.url })
      const forCanary = { GATEWAY_URL: server.url, CANARY_API_KEY: KEY, CANARY_INTERVAL_MS: '1000' }
      const canary = await startSluice(forCanary, [], { command: 'canary' })
      const prometheus = await startPrometheus(rulesFile())
      prometheus.read([server.url, canary.url])
      try {
        const client = createClient(server.url, KEY)
        const condition = { type: 'count', list: 'event-logs', params: { level: 'Error' }, more: 2, minutes: 5 }
        const webhook = { url: traces.url, format: 'json' }
        expect(await client.post('/api/team/watches', { name: 'Errors', condition, webhook })).toMatchObject({
          success: true,
        })
        const unanswered = async () => {
          const entry = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information', correlationKey: 'a' }
          for (let count = 0; count < BEYOND_QUOTA; count++) await client.post('/api/ExternalLogs', entry)
          await client.post('/api/ExternalLogs', { ...entry, level: 'Loud' })
          await client.post('/api/ExternalLogs', '{')
          await fetch(`${server.url}/api/event-logs`, { headers: { 'x-api-key': KEY } })
          const queries = Object.values(ROWS)
            .flat()
            .flatMap((panel) => Object.values(panel.queries))
            .filter((query) => !NEEDS_ELASTICSEARCH.some((name) => query.includes(name)))
          const answered = await Promise.all(queries.map((query) => prometheus.answers(query)))
          return queries.filter((_, index) => !answered[index])
        }
        await eventually(async () => expect(await unanswered()).toEqual([]), 60_000)
        expect(await prometheus.firing()).toEqual([])
      } finally {
        canary.kill('SIGTERM')
        server.kill('SIGTERM')
        await Promise.all([prometheus.stop(), canary.exited, server.exited])
        await traces.close()
        folder.remove()
      }
    },
    PATIENCE_MS,
  )
})
