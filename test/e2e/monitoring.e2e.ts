import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { CANARY_EVENT, CANARY_PROJECT } from '../../deploy/canary/round.ts'
import { ROWS } from '../../deploy/monitoring/dashboard.ts'
import { ruleGroups } from '../../deploy/monitoring/render.ts'
import { freePorts } from '../stack/ports.ts'
import { createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { notProved } from '../support/not-proved.ts'
import { startSluice, temporaryFolder } from '../support/sluice-process.ts'
import { attempt, prepareInstalled, type Toolchain } from '../support/toolchains.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '../../deploy/monitoring')
const PATIENCE_MS = 240_000
const KEY = 'monitoring-e2e-key-0123456789abcdef012345'
const REGISTRY = `teams: [{ id: shop, name: Shop, apiKeys: ["${KEY}"] }]
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

/** Without Elasticsearch there are no bulks, and nothing to count of them. */
const NEEDS_ELASTICSEARCH = ['sluice_store_bulk']

describeWith('prometheus', prometheus, () => {
  test(
    'every query of a panel has an answer, and no alert fires, once the program has taken and shown a log',
    async () => {
      const folder = temporaryFolder()
      writeFileSync(join(folder.path, 'registry.yaml'), REGISTRY)
      const settings = { DATA_DIR: join(folder.path, 'data'), REGISTRY_FILE: join(folder.path, 'registry.yaml') }
      const server = await startSluice(settings)
      const forCanary = { GATEWAY_URL: server.url, CANARY_API_KEY: KEY, CANARY_INTERVAL_MS: '1000' }
      const canary = await startSluice(forCanary, [], { command: 'canary' })
      const [port = 0] = await freePorts(1)
      const targets = [server, canary].map(({ url }) => new URL(url).host)
      const config = {
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [join(FOLDER, 'rules.yaml')],
        scrape_configs: [{ job_name: 'sluice', static_configs: [{ targets }] }],
      }
      writeFileSync(join(folder.path, 'prometheus.yaml'), JSON.stringify(config))
      const args = [
        `--config.file=${join(folder.path, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder.path, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]
      const child = spawn('prometheus', args, { stdio: 'ignore' })
      const ended = once(child, 'exit')
      try {
        const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()
        const client = createClient(server.url, KEY)
        const unanswered = async () => {
          const entry = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information', correlationKey: 'a' }
          await client.post('/api/ExternalLogs', entry)
          await client.post('/api/ExternalLogs', { ...entry, level: 'Loud' })
          await client.post('/api/ExternalLogs', '{')
          await fetch(`${server.url}/api/event-logs`, { headers: { 'x-api-key': KEY } })
          const queries = Object.values(ROWS)
            .flat()
            .flatMap((panel) => Object.values(panel.queries))
            .filter((query) => !NEEDS_ELASTICSEARCH.some((name) => query.includes(name)))
          const answers = await Promise.all(
            queries.map(async (query) => ({ query, ...(await ask(`query?query=${encodeURIComponent(query)}`)) })),
          )
          return answers.filter(({ data }) => !(data?.result.length > 0)).map(({ query }) => query)
        }
        await eventually(async () => expect(await unanswered()).toEqual([]), 60_000)
        const { data } = await ask('alerts')
        expect(data.alerts.filter(({ state }: { state: string }) => state === 'firing')).toEqual([])
      } finally {
        child.kill('SIGTERM')
        canary.kill('SIGTERM')
        server.kill('SIGTERM')
        await Promise.all([ended, canary.exited, server.exited])
        folder.remove()
      }
    },
    PATIENCE_MS,
  )
})
