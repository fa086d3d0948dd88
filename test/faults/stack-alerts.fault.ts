import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { CANARY_EVENT, CANARY_PROJECT } from '../../deploy/canary/round.ts'
import { ALERTS } from '../../deploy/monitoring/alerts.ts'
import { ruleGroups } from '../../deploy/monitoring/render.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { createClient } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import {
  API_KEY,
  blockWrites,
  type FullStack,
  floodOf,
  PROJECT,
  startFullStack,
  TEAM,
  withOperator,
} from '../support/full-stack.ts'
import { KEYS, type Load } from '../support/load.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'
import type { SluiceProcess } from '../support/sluice-process.ts'
import { attempt, notProved, prepareInstalled } from '../support/toolchains.ts'

/** The rules' times are shortened by this factor: a minute of theirs is three seconds here. */
const FASTER = 20
const FIRES_WITHIN_MS = 180_000
/** The budgets of failures look back for half an hour. */
const SILENT_WITHIN_MS = 300_000
const PATIENCE_MS = FIRES_WITHIN_MS + SILENT_WITHIN_MS
const READ_EVERY_MS = 100
const FLOOD = 150
/** Longer than a confirmation may take. */
const SLOW_MS = 400
const PRELOAD = `--import=${join(import.meta.dirname, '../support/full-stack-preload.ts')}`

const REGISTRY = `teams: [{ id: ${TEAM}, name: Orders, apiKeys: ["${API_KEY}"] }]
events:
  - { identifier: order-placed, team: ${TEAM}, name: Order placed }
  - { identifier: ${CANARY_EVENT}, team: ${TEAM}, name: Canary }
steps: [{ identifier: order-placed.pay, team: ${TEAM}, event: order-placed, name: Pay, order: 1 }]
projects: [{ id: ${PROJECT}, team: ${TEAM}, name: Checkout API }, { id: ${CANARY_PROJECT}, team: ${TEAM}, name: Canary }]
`

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
const shortened = (duration: string): string => {
  const unit = duration.slice(-1) as keyof typeof SECONDS
  return `${(Number(duration.slice(0, -1)) * SECONDS[unit]) / FASTER}s`
}

/** The rules of the product with shorter windows; of their limits, those of a lag and of the registry's delay are durations too. */
const hastened = (): string =>
  stringify({
    groups: ruleGroups().map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({
        ...rule,
        expr: rule.expr
          .replace(/(?<=[[:])\d+[smhd](?=[\]:])/g, shortened)
          .replace(/(?<=(?:lag_seconds|applied_timestamp_seconds)\b.* [<>] )(?:60|300|3600)\b/g, (text) =>
            String(Number(text) / FASTER),
          ),
        ...(rule.for !== undefined && { for: shortened(rule.for) }),
      })),
    })),
  })

const PAGES = ALERTS.filter(({ rules }) => rules.some(({ severity }) => severity === 'page')).map(({ name }) => name)

async function withAlerts(): Promise<void> {
  const needs = { kafka: { brokers: 1 }, elasticsearch: {} } as const
  await describeWithBackends('alerts that page, full stack', needs, ({ kafka, elasticsearch }) => {
    let stack: FullStack
    let prometheus: Prometheus
    let canary: SluiceProcess
    let load: Load
    const others: SluiceProcess[] = []
    const over = new AbortController()
    const fired = new Set<string>()

    const watch = (): void =>
      prometheus.read([
        ...[stack.gateway, stack.consumers, stack.views].map((part) => part.url()),
        ...[canary, ...others].map(({ url }) => url),
      ])
    const pages = async (): Promise<readonly string[]> => {
      const found = await prometheus.firing()
      const names = found.filter(({ severity }) => severity === 'page').map(({ name }) => name)
      for (const name of names) fired.add(name)
      return names
    }
    const fires = (...names: readonly string[]): Promise<unknown> =>
      eventually(async () => {
        await pages()
        expect([...fired]).toEqual(expect.arrayContaining([...names]))
      }, FIRES_WITHIN_MS)
    /** Repairs the fault whether or not the alerts have fired. */
    const firesUntil = async (repair: () => Promise<unknown>, ...names: readonly string[]): Promise<void> => {
      try {
        await fires(...names)
      } finally {
        await repair()
      }
    }
    const silent = (): Promise<unknown> => eventually(async () => expect(await pages()).toEqual([]), SILENT_WITHIN_MS)
    const another = async (settings: Record<string, string>, role: 'gateway' | 'views'): Promise<SluiceProcess> => {
      const server = await stack.startAnother(role, settings)
      others.push(server)
      watch()
      return server
    }
    const end = async (server: SluiceProcess): Promise<void> => {
      server.kill('SIGTERM')
      await server.exited
      others.splice(others.indexOf(server), 1)
      watch()
    }

    beforeAll(async () => {
      const { brokers } = kafka
      stack = await startFullStack({ brokers, elasticsearchUrl: elasticsearch.url, registry: REGISTRY })
      const [GATEWAY_URL, VIEWS_URL] = [stack.gateway.url(), stack.views.url()]
      const settings = { GATEWAY_URL, VIEWS_URL, CANARY_API_KEY: API_KEY, CANARY_INTERVAL_MS: '1000' }
      canary = await stack.startCanary(settings)
      prometheus = await startPrometheus(hastened())
      watch()
      load = stack.startLoad('alerts')
      await load.answeredMore(500)
      void readOn(stack, over.signal)
      await silent()
    }, PATIENCE_MS)

    afterAll(async () => {
      over.abort()
      await load?.stop()
      await prometheus?.stop()
      canary?.kill('SIGKILL')
      await stack?.stop()
    }, 120_000)

    test(
      'brokers that do not answer',
      async () => {
        await kafka.pause(1)
        const names = ['SluiceAcceptBudgetBurn', 'SluiceBreakerOpen', 'SluiceCanaryFails']
        await firesUntil(() => kafka.resume(1), ...names)
        await silent()
      },
      PATIENCE_MS,
    )

    test(
      'brokers that confirm slowly',
      async () => {
        const firing = fires('SluiceConfirmBudgetBurn')
        let isOver = false
        void firing.catch(() => undefined).then(() => (isOver = true))
        while (!isOver) {
          await kafka.pause(1)
          await delay(SLOW_MS)
          await kafka.resume(1)
          await delay(SLOW_MS)
        }
        await firing
        await silent()
      },
      PATIENCE_MS,
    )

    test(
      'an Elasticsearch that takes no writes',
      async () => {
        // The times of senders count, so that a gateway whose clock is set back makes old records.
        await withOperator(kafka.brokers, ({ setConfig }) =>
          setConfig(topicName(stack.topicPrefix, 'event-logs'), 'message.timestamp.type', 'CreateTime'),
        )
        const early = await another({ NODE_OPTIONS: PRELOAD, DAYS_BACK: '4' }, 'gateway')
        const { post } = createClient(early.url, API_KEY)
        await load.stop()
        await blockWrites(stack, true)
        try {
          // Entries of four days ago are the first to wait in their partitions.
          for (let flow = 0; flow < KEYS; flow += 1) {
            const entry = { uniqueIdentifier: 'order-placed', payload: 'late', level: 'Information' }
            const answer = await post('/api/ExternalLogs', { ...entry, correlationKey: `early-${flow}` })
            expect(answer).toMatchObject({ success: true })
          }
          await end(early)
          load = stack.startLoad('alerts again')
          await fires('SluiceStoreBlocked', 'SluiceLagGrowing', 'SluiceLagNearRetention')
        } finally {
          await blockWrites(stack, null)
        }
        await fires('SluiceFreshBudgetBurn')
        await silent()
      },
      2 * PATIENCE_MS,
    )

    test(
      'an Elasticsearch that does not answer',
      async () => {
        await elasticsearch.pause(1)
        await firesUntil(() => elasticsearch.resume(1), 'SluiceReadBudgetBurn')
        await silent()
      },
      PATIENCE_MS,
    )

    test(
      'a flood of poison, and consumers that are gone',
      async () => {
        const topic = topicName(stack.topicPrefix, 'event-logs')
        await stack.journal.append({ topic, partition: 0, records: floodOf(FLOOD) })
        await fires('SluiceViewHalted')
        await stack.consumers.end('SIGKILL')
        await fires('SluiceViewAbsent')
        await stack.consumers.start({ DEAD_LETTER_RUN_MAX: '1000000', DEAD_LETTER_PERCENT_MAX: '100' })
        watch()
        await silent()
      },
      2 * PATIENCE_MS,
    )

    test(
      'a process that is cut off from the brokers while a key is changed',
      async () => {
        const CUT_OFF_PORTS = kafka.brokers.map((broker) => broker.split(':').at(-1)).join(',')
        const cutOff = await another({ NODE_OPTIONS: PRELOAD, CUT_OFF_PORTS }, 'gateway')
        cutOff.kill('SIGUSR2')
        expect(await stack.command(['registry', 'rotate-key', TEAM])).toMatchObject({ code: 0 })
        await fires('SluiceRegistryBehind')
        cutOff.kill('SIGUSR2')
        await silent()
        await end(cutOff)
      },
      PATIENCE_MS,
    )

    test(
      'gateways and views that are gone',
      async () => {
        const parts = [stack.gateway, stack.views]
        await Promise.all(parts.map((part) => part.end('SIGTERM')))
        await fires('SluiceRoleAbsent')
        await Promise.all(parts.map((part) => part.start()))
        canary.kill('SIGTERM')
        watch()
        await silent()
      },
      PATIENCE_MS,
    )

    test('every alert that pages has been made to fire', () => {
      expect([...fired].sort()).toEqual(PAGES.toSorted())
    })
  })
}

async function readOn({ client }: FullStack, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await client()
      .get('/api/event-logs?limit=5')
      .catch(() => undefined)
    await delay(READ_EVERY_MS)
  }
}

const found = await attempt(() => prepareInstalled('prometheus'))
if ('missing' in found) {
  describe('alerts that page', () => {
    notProved('each fires by its fault', found.missing, process.env['REQUIRE_MONITORING'] === '1')
  })
} else await withAlerts()
