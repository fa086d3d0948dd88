import { expect, test } from 'vitest'
import { type BulkLimits, createBulk } from '../../../../../shared/log-store/elasticsearch/bulk.ts'
import type { Connection, ElasticsearchRequest } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { ElasticsearchError } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import type { BulkItem } from '../../../../../shared/log-store/elasticsearch/outcome.ts'
import { StoreHaltError } from '../../../../../shared/log-store/log-store.ts'
import { createLogger } from '../../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../../shared/runtime/metrics.ts'
import type { Tracer } from '../../../../../shared/runtime/tracing.ts'
import { createMemoryTracer } from '../../../../support/memory-tracer.ts'

const never = new AbortController().signal
const LIMITS: BulkLimits = { bulkBytesMax: 1_000_000, bulkDocumentsMax: 3, bulksInFlightMax: 2 }

/** A bulk whose requests are answered by `answer`; an item is one line here. */
function bulkOver(
  answer: (lines: readonly string[]) => readonly BulkItem[] | Promise<never>,
  limits = LIMITS,
  tracer?: Tracer,
) {
  const requests: string[][] = []
  const queries: ElasticsearchRequest['query'][] = []
  const metrics = createMetrics()
  let running = 0
  let runningMost = 0
  const connection: Connection = {
    async send<Answer>({ lines = '', query }: ElasticsearchRequest) {
      queries.push(query)
      const place = requests.push([]) - 1
      runningMost = Math.max(runningMost, ++running)
      await new Promise(setImmediate)
      running -= 1
      // Read late, as a network does: the body must be what it was.
      const sent = String(lines).split('\n').slice(0, -1)
      requests[place] = sent
      const items = await answer(sent)
      return { items: items.map((create) => ({ create })) } as Answer
    },
    close: async () => undefined,
  }
  const bulk = createBulk({
    connection,
    limits,
    logger: createLogger('silent', 'test'),
    metrics,
    tracer,
  })
  const run = (items: readonly string[], signal = never) => bulk.run(items, (one) => [one, '\n'], signal)
  return { bulk, run, requests, queries, metrics, runningMost: () => runningMost }
}

const stored = (lines: readonly string[]): readonly BulkItem[] => lines.map(() => ({ status: 201 }))

test('Elasticsearch gives up a missing shard before the request ends, and so says what is missing', async () => {
  const { run, queries } = bulkOver(stored)
  await run(['item'])
  expect(queries).toMatchObject([{ timeout: '20s' }])
})

test('requests keep to the limits of documents, bytes and requests in flight', async () => {
  const items = Array.from({ length: 20 }, (_, at) => `item-${at}`)
  const byCount = bulkOver(stored)
  expect(await byCount.run(items)).toEqual(items.map(() => ({ outcome: 'stored' })))
  expect(byCount.requests.map((sent) => sent.length)).toEqual([3, 3, 3, 3, 3, 3, 2])
  expect(byCount.runningMost()).toBe(2)
  const byBytes = bulkOver(stored, { ...LIMITS, bulkDocumentsMax: 100, bulkBytesMax: 20 })
  await byBytes.run(['1234567', 'ä23456', '1234567', 'x'.repeat(50), 'y'])
  expect(byBytes.requests).toEqual([['1234567', 'ä23456'], ['1234567'], ['x'.repeat(50)], ['y']])
})

test('outcomes come back in the order of the documents', async () => {
  const status = (line: string): number => ({ a: 201, b: 409, c: 400 })[line[0] ?? ''] ?? 201
  const { run } = bulkOver((lines) => lines.map((line) => ({ status: status(line) })))
  const outcomes = await run(['a1', 'b1', 'c1', 'b2', 'a2'])
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['stored', 'duplicate', 'refused', 'duplicate', 'stored'])
})

test('every outcome is counted from 0 on, as an alert compares what is turned away with what is stored', async () => {
  const { metrics } = bulkOver(stored)
  const [counter] = await metrics.registry
    .getMetricsAsJSON()
    .then((all) => all.filter(({ name }) => name === 'sluice_store_bulk_items_total'))
  const outcomes = ['stored', 'duplicate', 'refused', 'retried']
  expect(counter?.values).toEqual(outcomes.map((outcome) => ({ labels: { outcome }, value: 0 })))
})

test('a document that a pipeline drops, and one whose outcome has no status, are sent again instead of counting as written', async () => {
  const answers = [{ status: 200, result: 'noop' }, {} as BulkItem, { status: 201 }]
  const { run, requests, queries } = bulkOver(() => [answers[requests.length - 1] as BulkItem])
  expect(await run(['item'])).toEqual([{ outcome: 'stored' }])
  expect(requests).toHaveLength(3)
  expect(queries[0]?.['filter_path']).toContain('items.*.result')
})

test('only what was turned away is sent again', async () => {
  let first = true
  const { run, requests } = bulkOver((lines) => {
    const items = lines.map((line) => ({ status: first && line === 'b' ? 429 : 201 }))
    first = false
    return items
  })
  await run(['a', 'b', 'c'])
  expect(requests).toEqual([['a', 'b', 'c'], ['b']])
})

test('a body is not written over while its request is on its way or comes back', async () => {
  const seen = new Map<string, number>()
  const { run } = bulkOver(
    (lines) =>
      lines.map((line) => {
        const times = (seen.get(line) ?? 0) + 1
        seen.set(line, times)
        return { status: times === 1 && line.endsWith('7') ? 429 : 201 }
      }),
    { bulkBytesMax: 1_000_000, bulkDocumentsMax: 5, bulksInFlightMax: 3 },
  )
  const writes = Array.from({ length: 6 }, (_, write) =>
    Array.from({ length: 40 }, (_, at) => `write ${write} item ${at}`),
  )
  await Promise.all(writes.map((items) => run(items)))
  const times = writes.flat().map((line) => seen.get(line))
  expect(times).toEqual(writes.flat().map((line) => (line.endsWith('7') ? 2 : 1)))
  expect(seen.size).toBe(240)
})

test('one item that halts ends all of the write', async () => {
  const { run, requests } = bulkOver((lines) =>
    lines.map((line) => ({ status: line === 'bad' ? 404 : 201, error: {} })),
  )
  const items = ['bad', ...Array.from({ length: 100 }, () => 'good')]
  await expect(run(items)).rejects.toThrow(StoreHaltError)
  expect(requests.length).toBeLessThan(10)
})

test('a document that spoils a request is found by halving, and it alone is refused', async () => {
  const spoils = (): Promise<never> =>
    Promise.reject(new ElasticsearchError('no', 400, { type: 'action_request_validation_exception' }))
  const { run } = bulkOver((lines) => (lines.includes('bad') ? spoils() : stored(lines)), {
    ...LIMITS,
    bulkDocumentsMax: 10,
  })
  const outcomes = await run(['a', 'b', 'c', 'bad', 'd', 'e', 'f'])
  expect(outcomes.map(({ outcome }) => outcome)).toEqual([
    'stored',
    'stored',
    'stored',
    'refused',
    'stored',
    'stored',
    'stored',
  ])
})

test('what blocks is told while it blocks', async () => {
  let blocks = true
  const { bulk, run } = bulkOver((lines) => {
    const items = lines.map(() =>
      blocks ? { status: 403, error: { type: 'cluster_block_exception' } } : { status: 201 },
    )
    if (!blocks) expect(bulk.problem()).toBe('cluster_block_exception')
    blocks = false
    return items
  })
  await run(['a'])
  expect(blocks).toBe(false)
  expect(bulk.problem()).toBeNull()
})

test('nothing to write needs no request', async () => {
  const { run, requests } = bulkOver(stored)
  expect(await run([])).toEqual([])
  expect(requests).toEqual([])
})

test('requests are traced as parts of a traced write, failed ones too, and not otherwise', async () => {
  const tracer = createMemoryTracer()
  const { run } = bulkOver(
    (lines) => (lines[0] === 'bad' ? lines.map(() => ({ status: 400 })) : stored(lines)),
    LIMITS,
    tracer,
  )
  await run(['a'])
  expect(tracer.spans).toEqual([])
  const chunk = tracer.start('chunk', { kind: 'consumer', attributes: {} })
  await tracer.within(chunk, () => run(['a', 'b']))
  const refused = new ElasticsearchError('an id', 400, { type: 'action_request_validation_exception' })
  const { run: runRefused } = bulkOver(() => Promise.reject(refused), LIMITS, tracer)
  await tracer.within(chunk, () => runRefused(['a']))
  expect(tracer.spans.slice(1)).toMatchObject([
    {
      name: 'bulk',
      kind: 'client',
      parent: chunk.traceparent,
      attributes: { 'db.operation.batch.size': 2 },
      failure: undefined,
    },
    { name: 'bulk', parent: chunk.traceparent, ended: true, failure: 'split' },
  ])
})
