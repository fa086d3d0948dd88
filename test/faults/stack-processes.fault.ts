import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import type { Health } from '../../shared/runtime/lifecycle.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { type FullStack, startFullStack } from '../support/full-stack.ts'
import { caughtUp, metricOf, prove } from '../support/full-stack-ledger.ts'

const partsOf = async (url: string): Promise<readonly Health[]> =>
  ((await (await fetch(`${url}/health/ready`)).json()) as { parts: readonly Health[] }).parts

const PATIENCE_MS = 240_000 * FAULT_SCALE
const needs = { kafka: 'shared', elasticsearch: 'shared' } as const

await describeWithBackends('processes that die or join, full stack', needs, ({ kafka, elasticsearch }) => {
  let stack: FullStack
  beforeAll(async () => {
    stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
  }, PATIENCE_MS)
  afterAll(() => stack?.stop(), 60_000)

  test(
    'SIGKILL of the consumers, at random moments',
    async () => {
      await prove(stack, 'consumers killed', async (load) => {
        for (let round = 0; round < FAULT_SCALE; round++) {
          await load.answeredMore(randomInt(800))
          expect(await stack.consumers.end('SIGKILL')).toBeNull()
          await stack.consumers.start()
        }
      })
    },
    PATIENCE_MS,
  )

  test(
    'SIGKILL of the gateway, at random moments',
    async () => {
      await prove(stack, 'gateway killed', async (load) => {
        for (let round = 0; round < 4 * FAULT_SCALE; round++) {
          await load.answeredMore(randomInt(400))
          expect(await stack.gateway.end('SIGKILL')).toBeNull()
          await stack.gateway.start()
        }
      })
    },
    PATIENCE_MS,
  )

  test(
    'a second consumer process joins and leaves while records are being written',
    async () => {
      await prove(stack, 'second consumer', async (load) => {
        for (let round = 0; round < 2 * FAULT_SCALE; round++) {
          const second = await stack.startAnother('consumers')
          const readBySecond = () => metricOf(second.url, 'sluice_consumer_records_total')
          await eventually(async () => expect(await readBySecond()).toBeGreaterThan(100), 90_000)
          await load.answeredMore(randomInt(300))
          second.kill('SIGTERM')
          expect(await second.exited).toBe(0)
        }
      })
      await caughtUp(stack)
    },
    PATIENCE_MS,
  )

  test(
    'consumers of another installation on the same topics: both tell of it, and the views are made whole again',
    async () => {
      await prove(stack, 'divided stores', async (load) => {
        const indexPrefix = `${stack.indexPrefix}-other`
        const other = await stack.startAnother('consumers', { INDEX_PREFIX: indexPrefix })
        for (const [url, store] of [
          [stack.consumers.url(), indexPrefix],
          [other.url, stack.indexPrefix],
        ] as const) {
          await eventually(async () => {
            const parts = await partsOf(url)
            const told = parts.filter(({ reason }) => reason?.includes(`/${store}, as consumers of both`))
            expect(told.map(({ name, ready }) => [name, ready])).toContainEqual(['application-logs consumer', true])
          }, 90_000)
          expect(await metricOf(url, 'sluice_consumer_divided')).toBeGreaterThan(0)
        }
        await load.answeredMore(200)
        other.kill('SIGTERM')
        expect(await other.exited).toBe(0)
        let written = 0
        for (const view of PROJECTION_NAMES) {
          const { code, stdout } = await stack.command(['views', 'rebuild', view, '--from', 'topics'])
          expect([view, code]).toEqual([view, 0])
          written += Number(/^(\d+) written/.exec(stdout)?.[1] ?? 0)
        }
        expect(written).toBeGreaterThan(0)
      })
    },
    PATIENCE_MS,
  )
})
