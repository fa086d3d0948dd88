import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { partitionOf } from '../../shared/contract/partitioner.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { createClient } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { API_KEY, type FullStack, PROJECT, startFullStack, withOperator } from '../support/full-stack.ts'
import { caughtUp, flowsOf, metricOf, prove, storedOf } from '../support/full-stack-ledger.ts'

const PATIENCE_MS = 240_000 * FAULT_SCALE
const ADDED = 6
const PRELOAD = join(import.meta.dirname, '../support/full-stack-preload.ts')

await describeWithBackends(
  'topics that are read again or grow, full stack',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let stack: FullStack
    /** The items that were stored before all faults, none of which may change them. */
    let before: Awaited<ReturnType<typeof shown>>
    const shown = async () => ({ entries: await storedOf(stack, 'before'), flows: await flowsOf(stack, 'before') })
    beforeAll(async () => {
      stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
      await prove(stack, 'before', async () => {})
      before = await shown()
    }, PATIENCE_MS)
    afterAll(() => stack?.stop(), 60_000)

    test(
      'every view reads its topics again from the first record, and nothing changes',
      async () => {
        await prove(stack, 'replay', async () => {
          expect(await stack.consumers.end('SIGTERM')).toBe(0)
          await withOperator(kafka.brokers, ({ forgetPositions }) => forgetPositions(stack.topicPrefix))
          await stack.consumers.start()
        })
        expect(await shown()).toEqual(before)
        const url = stack.consumers.url()
        const duplicates = await metricOf(url, 'sluice_consumer_records_total', 'outcome="duplicate"')
        expect(duplicates).toBeGreaterThanOrEqual(before.entries.length)
      },
      PATIENCE_MS,
    )

    test(
      'indices that are lost come back from the topics',
      async () => {
        await prove(stack, 'lost indices', async () => {
          expect(await stack.consumers.end('SIGTERM')).toBe(0)
          const { elasticsearchUrl: url, indexPrefix } = stack
          const resolved = await (
            await fetch(`${url}/_resolve/index/${indexPrefix}-event-logs-*,${indexPrefix}-flows-*`)
          ).json()
          const lost = (resolved as { indices: { name: string }[] }).indices.map(({ name }) => name)
          expect(lost).toContain(`${indexPrefix}-flows-v1`)
          expect(lost.length).toBeGreaterThan(1)
          for (const index of lost) expect((await fetch(`${url}/${index}`, { method: 'DELETE' })).status).toBe(200)
          await withOperator(kafka.brokers, ({ forgetPositions }) => forgetPositions(stack.topicPrefix))
          await stack.consumers.start()
        })
        expect(await shown()).toEqual(before)
      },
      PATIENCE_MS,
    )

    test(
      'an index that is lost while all runs is restored from the topics',
      async () => {
        await prove(stack, 'restored index', async () => {
          const { elasticsearchUrl: url, indexPrefix } = stack
          const answer = await fetch(`${url}/_resolve/index/${indexPrefix}-application-logs-*`)
          const { indices } = (await answer.json()) as { indices: { name: string }[] }
          for (const { name } of indices) expect((await fetch(`${url}/${name}`, { method: 'DELETE' })).status).toBe(200)
          expect(await stack.command(['indices', 'apply'])).toMatchObject({ code: 0 })
          const restored = await stack.command(['views', 'rebuild', 'application-logs', '--from', 'topics'])
          expect(restored).toMatchObject({ code: 0, stderr: '' })
          expect(restored.stdout).toMatch(/^[1-9]\d* written, \d+ were there, 0 cannot be shown/)
        })
        expect(await shown()).toEqual(before)
      },
      PATIENCE_MS,
    )

    test(
      'views are rebuilt, killed at any moment, and rebuilt to the end',
      async () => {
        const { elasticsearchUrl: url, indexPrefix } = stack
        const has = async (path: string, text: string): Promise<boolean> =>
          (await (await fetch(`${url}/${path}`)).text()).includes(text)
        const momentsOf = (view: string) => ({
          copying: () => has(`_resolve/index/${indexPrefix}-${view}-*?filter_path=indices.name`, '-v1.'),
          blocked: () => has(`${indexPrefix}-*/_settings/index.blocks.write`, '"write":"true"'),
        })
        await prove(stack, 'rebuilds', async () => {
          for (const view of PROJECTION_NAMES) {
            const rebuild = ['views', 'rebuild', view, '--from', 'indices', '--take-over']
            for (const [name, killWhen] of Object.entries(momentsOf(view))) {
              const { code, stderr } = await stack.command(rebuild, killWhen)
              expect([view, name, code, stderr]).toEqual([view, name, null, ''])
            }
            const { code, stdout, stderr } = await stack.command(rebuild)
            expect([view, code, stderr]).toEqual([view, 0, ''])
            expect(stdout).toContain(view === 'flows' ? `${indexPrefix}-flows-v1.2` : `${indexPrefix}-${view}-v1.2-`)
          }
        })
        expect(await shown()).toEqual(before)
      },
      PATIENCE_MS,
    )

    test(
      'a request repeated after midnight under its Idempotency-Key is stored once, on the first day',
      async () => {
        const yesterday = await stack.startAnother('gateway', { NODE_OPTIONS: `--import=${PRELOAD}`, DAYS_BACK: '1' })
        const marks = Array.from({ length: 20 }, (_, index) => `midnight:${index}`)
        const logEntries = marks.map((message, index) => ({
          ...{ categoryName: 'Fault', message, level: 'Information', environment: 'midnight' },
          ...(index % 2 === 0 && { correlationKey: `midnight-${index}` }),
        }))
        for (const url of [yesterday.url, stack.gateway.url()]) {
          const body = { uniqueIdentifier: PROJECT, logEntries }
          const headers = { 'idempotency-key': 'once' }
          const answer = await createClient(url, API_KEY).post('/api/ApplicationLogs/batch', body, headers)
          expect(answer).toMatchObject({ success: true, data: { count: marks.length } })
        }
        yesterday.kill('SIGTERM')
        expect(await yesterday.exited).toBe(0)
        await caughtUp(stack)
        const stored = await storedOf(stack, 'midnight')
        expect(stored.map(({ message }) => message).sort()).toEqual(marks.sort())
        // The days really differ: the topic holds each entry twice.
        const days = new Set<string>()
        for await (const { value } of stack.journal.scan(topicName(stack.topicPrefix, 'application-logs'))) {
          const { environment, receivedAt } = JSON.parse(String(value))
          if (environment === 'midnight') days.add(receivedAt.slice(0, 10))
        }
        expect(days.size).toBe(2)
      },
      PATIENCE_MS,
    )

    test(
      'partitions are added to a topic that is in use',
      async () => {
        const topic = topicName(stack.topicPrefix, 'application-logs')
        const before = await stack.journal.partitionCount(topic)
        await prove(stack, 'partitions added', async (load) => {
          await withOperator(kafka.brokers, ({ addPartitions }) => addPartitions(topic, before, ADDED))
          // Nothing is restarted: the gateway that runs learns of them.
          await eventually(async () => {
            const positions = await stack.journal.positions(topic, 'any')
            expect(positions.slice(before).map(({ endPosition }) => endPosition > 0)).toEqual(Array(ADDED).fill(true))
          }, 60_000)
          expect(load.failures).toEqual(new Map())
          await load.answeredMore(300)
          // Every record with a key stands where its hash said before, or says now.
          for await (const { key, partition } of stack.journal.scan(topic)) {
            if (key === null) continue
            const places = [before, before + ADDED].map((count) => partitionOf(String(key), count))
            expect(places).toContain(partition)
          }
        })
      },
      PATIENCE_MS,
    )
  },
)
