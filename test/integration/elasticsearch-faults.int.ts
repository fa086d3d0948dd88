import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import type { ElasticsearchLogStore } from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import { StoreHaltError, type TailCursor, type WriteOutcome } from '../../shared/log-store/log-store.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventDocument } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { serverFolder, startSluice } from '../support/sluice-process.ts'
import {
  ask,
  documentOf,
  documents,
  EVERYTHING,
  never,
  openStore,
  removeAll,
  storedIds,
  TEAM,
  TODAY,
  uniquePrefix,
  uuid,
} from './elasticsearch-support.ts'

const isBulk = ({ path }: { path: string }): boolean => path.startsWith('/_bulk')

/** Lets only the first requests of a kind meet a fault. */
function first(times: number): () => boolean {
  let left = times
  return () => left-- > 0
}

await describeWithBackends('Elasticsearch that fails', { elasticsearch: 'shared' }, ({ elasticsearch }) => {
  let proxy: FaultProxy
  let prefix: string
  let store: ElasticsearchLogStore
  let metrics: Metrics

  beforeEach(async () => {
    proxy = await startFaultProxy(elasticsearch.url)
    prefix = uniquePrefix()
    const opened = openStore(proxy.url, prefix, { bulkDocumentsMax: 50, requestTimeoutMs: 5_000 })
    store = opened.store
    metrics = opened.metrics
    await store.indices.apply()
  })

  afterEach(async () => {
    await store.close()
    await proxy.close()
    await removeAll(elasticsearch.url, prefix)
  })

  /** Written ⊆ stored, each exactly once, nothing else stored. */
  async function expectLedger(written: readonly EntryDocument[], outcomes: readonly WriteOutcome[]): Promise<void> {
    expect(outcomes.filter(({ outcome }) => outcome === 'refused')).toEqual([])
    expect(outcomes).toHaveLength(written.length)
    const expected = written.map(({ id }) => id).sort()
    await eventually(async () => expect((await storedIds(store)).sort()).toEqual(expected))
  }

  const counted = async (outcome: string): Promise<number> => {
    const { values } = await metrics.counter('sluice_store_bulk_items_total').get()
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
  }

  test('429 on 30 % of the items, twenty rounds: each rejected item is sent again, the others are not', async () => {
    let seen = 0
    let rejected = 0
    const chosen = (): boolean => {
      const isChosen = (seen++ * 7) % 10 < 3
      if (isChosen) rejected += 1
      return isChosen
    }
    const rounds = first(20)
    proxy.inject((request) => (isBulk(request) && rounds() ? { fault: 'reject-items', chosen } : undefined))
    const written = documents(1_000)
    const outcomes = await store.write(written, never)
    expect(outcomes.every(({ outcome }) => outcome === 'stored')).toBe(true)
    expect(rejected).toBeGreaterThan(50)
    expect(await counted('retried')).toBe(rejected)
    await expectLedger(written, outcomes)
  })

  test.each([429, 502, 503, 504])('whole requests answered %i are repeated', async (status) => {
    const down = first(3)
    proxy.inject((request) =>
      isBulk(request) && down() ? { fault: 'answer', status, body: '{"error":"upstream"}' } : undefined,
    )
    const written = documents(120)
    await expectLedger(written, await store.write(written, never))
    expect(await counted('retried')).toBeGreaterThan(0)
  })

  test('a connection that breaks before the request arrives costs nothing', async () => {
    const down = first(3)
    proxy.inject((request) => (isBulk(request) && down() ? { fault: 'cut' } : undefined))
    const written = documents(120)
    await expectLedger(written, await store.write(written, never))
  })

  test('an answer lost after the bulk was carried out leads to no second copy', async () => {
    const lost = first(4)
    proxy.inject((request) => (isBulk(request) && lost() ? { fault: 'lose-answer' } : undefined))
    const written = documents(200)
    const outcomes = await store.write(written, never)
    expect(outcomes.some(({ outcome }) => outcome === 'duplicate')).toBe(true)
    await expectLedger(written, outcomes)
  })

  test('an answer with fewer outcomes than documents is not believed', async () => {
    const garbled = first(2)
    const body = '{"items":[{"create":{"status":201}}]}'
    proxy.inject((request) => (isBulk(request) && garbled() ? { fault: 'garble', body } : undefined))
    const written = documents(100)
    await expectLedger(written, await store.write(written, never))
  })

  test('a request that is too large is halved until it passes; one document that alone is too large waits', async () => {
    const tooLarge = first(3)
    proxy.inject((request) => (isBulk(request) && tooLarge() ? { fault: 'answer', status: 413, body: '' } : undefined))
    const written = documents(40)
    const outcomes = await store.write(written, never)
    proxy.inject((request) => (isBulk(request) ? { fault: 'answer', status: 413, body: '' } : undefined))
    const waiting = documents(2, 100)
    const writing = store.write(waiting, never)
    await eventually(async () => expect((await store.health()).reason).toContain('413 for one document'))
    proxy.inject(() => undefined)
    await expectLedger([...written, ...waiting], [...outcomes, ...(await writing)])
  })

  test.each<[string, string, unknown, string]>([
    ['a full disk', 'index.blocks.read_only_allow_delete', true, ': disk usage exceeded flood-stage watermark)'],
    ['a read-only index', 'index.blocks.write', true, ': index write (api))'],
    ['a pipeline that is missing', 'index.final_pipeline', 'gone', 'pipeline'],
  ])('%s: documents wait, health says so, and all arrive once it is lifted', async (_, setting, block, reason) => {
    const index = `/${prefix}-application-logs-v1-${TODAY.replaceAll('-', '.')}/_settings`
    await ask(elasticsearch.url, 'PUT', index, { [setting]: block })
    const written = documents(120)
    const writing = store.write(written, never)
    await eventually(async () => expect((await store.health()).reason).toContain(reason))
    expect(await metrics.registry.metrics()).toContain('sluice_store_blocked 1')
    await ask(elasticsearch.url, 'PUT', index, { [setting]: null })
    await expectLedger(written, await writing)
    expect(await store.health()).toMatchObject({ ready: true })
    expect(await metrics.registry.metrics()).toContain('sluice_store_blocked 0')
  })

  test('a mapping that was made strict by hand: documents wait until `indices apply`', async () => {
    const mapping = `/${prefix}-application-logs-v1-${TODAY.replaceAll('-', '.')}/_mapping`
    await ask(elasticsearch.url, 'PUT', mapping, { dynamic: 'strict' })
    const written = documents(20)
    const writing = store.write(written, never)
    await eventually(async () => expect((await store.health()).reason).toContain('a mapping changed by hand'))
    await store.indices.apply()
    await expectLedger(written, await writing)
  })

  /** The contribution of one entry to the flow `order-1`. */
  const factAt = (second: number): FlowDelta => {
    const at = `${TODAY}T10:00:0${second}.000Z`
    const errors = { worstLevel: 'Debug', lastErrorAt: null, lastProgressAt: at } as const
    const sets = { days: [TODAY], lastReceivedAt: at, environments: [], events: [], steps: [], projects: [] }
    return { team: TEAM, correlationKey: 'order-1', firstAt: at, lastAt: at, ...errors, ...sets }
  }

  test('a closed index of flows: a flow that has to be read waits, health says so, and it is written once it is open', async () => {
    await ask(elasticsearch.url, 'POST', `/${prefix}-flows-v1/_close`)
    const merging = store.mergeFlows([factAt(1)], never)
    await eventually(async () =>
      expect((await store.health()).reason).toContain(`index_closed_exception (${prefix}-flows-v1)`),
    )
    expect(await metrics.registry.metrics()).toContain('sluice_store_blocked 1')
    await ask(elasticsearch.url, 'POST', `/${prefix}-flows-v1/_open`)
    await merging
    expect(await store.health()).toMatchObject({ ready: true })
    expect(await metrics.registry.metrics()).toContain('sluice_store_blocked 0')
  })

  test('an index that hides its metadata takes only its own live tail with it', async () => {
    const application = documentOf(1)
    const event = eventDocument({ team: TEAM, id: uuid(7, 2), receivedAt: application.receivedAt })
    const tailOf = async (kind: EntryDocument['kind'], cursor: TailCursor | null = null) =>
      store.tail({ ...EVERYTHING, kinds: [kind] }, cursor, 10)
    const settings = `/${prefix}-application-logs-v1-2026.01.31/_settings`
    const { cursor } = await tailOf('application')
    await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.metadata': true })
    expect(await store.indices.apply()).toEqual([])
    expect(await store.indices.prepareDays()).toEqual([])
    await store.measureShards()
    const open = await tailOf('event')
    await store.write([application, event], never)
    await eventually(async () => {
      const { entries } = await tailOf('event', open.cursor)
      expect(entries.map(({ entry }) => entry.id)).toEqual([event.id])
    })
    await expect(tailOf('application')).rejects.toThrow('shards that do not tell yet how far they have come: 1')
    const meanwhile = await tailOf('application', cursor)
    expect(meanwhile.entries).toEqual([])
    await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.metadata': null })
    await eventually(async () => {
      const { entries } = await tailOf('application', meanwhile.cursor)
      expect(entries.map(({ entry }) => entry.id)).toEqual([application.id])
    })
  })

  test('an index of flows that hides its metadata: `indices apply` names the block, and how to remove it', async () => {
    const index = `${prefix}-flows-v1`
    await ask(elasticsearch.url, 'PUT', `/${index}/_settings`, { 'index.blocks.metadata': true })
    await expect(store.indices.apply()).rejects.toThrow(
      `the index ${index} has a block of metadata (index.blocks.metadata), so Elasticsearch tells nothing of it: ` +
        `remove the block (PUT /${index}/_settings {"index.blocks.metadata":null}), and try again`,
    )
    await ask(elasticsearch.url, 'PUT', `/${index}/_settings`, { 'index.blocks.metadata': null })
    expect(await store.indices.apply()).toEqual([])
  })

  test('`indices apply` looks for lost aliases once', async () => {
    let looks = 0
    proxy.inject(({ path }) => {
      if (path.startsWith(`/${prefix}-event-logs-v1.*`)) looks += 1
      return undefined
    })
    expect(await store.indices.apply()).toEqual([])
    expect(looks).toBe(1)
  })

  const blockReads = (read: true | null) => ['PUT', '_settings', { 'index.blocks.read': read }] as const
  test.each([
    ['closed', ['POST', '_close'], ['POST', '_open'], 'index_closed_exception (PREFIX-application-logs-v1-2026.01.30)'],
    [
      'blocked',
      blockReads(true),
      blockReads(null),
      'cluster_block_exception (PREFIX-application-logs-v1-2026.01.30: index read (api))',
    ],
  ] as const)(
    'a repeat under an Idempotency-Key waits for a day nearby that is %s, where the entry may be, and is stored once',
    async (_, act, undo, reason) => {
      const [first, repeat] = ['2026-01-30', TODAY].map((day) =>
        documentOf(0, { id: uuid(8, 1), receivedAt: `${day}T00:00:00.000Z` }),
      ) as [EntryDocument, EntryDocument]
      await store.write([first], never)
      const day = `/${prefix}-application-logs-v1-2026.01.30`
      await ask(elasticsearch.url, act[0], `${day}/${act[1]}`, act[2])
      const writing = store.write([repeat], never)
      const told = `writes are blocked: 503 ${reason.replace('PREFIX', prefix)}`
      await eventually(async () => expect((await store.health()).reason).toBe(told))
      await ask(elasticsearch.url, undo[0], `${day}/${undo[1]}`, undo[2])
      expect(await writing).toEqual([{ outcome: 'duplicate' }])
      expect(await storedIds(store)).toEqual([first.id])
    },
  )

  test('old flows that a full disk keeps are removed once it has room, and hold up no other removal', async () => {
    const settings = `/${prefix}-flows-v1/_settings`
    await store.mergeFlows([factAt(1)], never)
    await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.read_only_allow_delete': true })
    await expect(store.removeBefore('2026-02-05')).rejects.toThrow('takes no writes: cluster_block_exception')
    await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.read_only_allow_delete': null })
    await store.removeBefore('2026-02-05')
    await store.indices.prepareDays()
    expect(await store.flow(TEAM, 'order-1')).toBeUndefined()
  })

  test('old flows whose index is gone by the time of their removal hold up no other removal', async () => {
    await store.mergeFlows([factAt(1)], never)
    const isFirst = first(1)
    proxy.inject((request) => {
      if (!isBulk(request) || !isFirst()) return undefined
      return { fault: 'hold', until: ask(elasticsearch.url, 'DELETE', `/${prefix}-flows-v1`) }
    })
    expect(await store.removeBefore('2026-02-05')).toBe(0)
  })

  test('flows that may not be read halt', async () => {
    const body = '{"docs":[{"error":{"type":"security_exception","reason":"no"}}]}'
    proxy.inject(({ path }) => (path.startsWith('/_mget') ? { fault: 'answer', status: 200, body } : undefined))
    const merging = store.mergeFlows([factAt(1)], never)
    await expect(merging).rejects.toThrow(StoreHaltError)
    await expect(merging).rejects.toThrow('the lookup of flows answered 403 security_exception (docs/elasticsearch.md')
  })

  test('a login that is refused for a while: documents wait, health says so, and all arrive', async () => {
    const body = '{"error":{"type":"security_exception","reason":"no"},"status":401}'
    proxy.inject(({ path }) => (/^.(_bulk|_mget)/.test(path) ? { fault: 'answer', status: 401, body } : undefined))
    const written = documents(3)
    const writing = store.write(written, never)
    const merging = store.mergeFlows([factAt(1)], never)
    await eventually(async () => expect((await store.health()).reason).toContain('401 security_exception'))
    expect(await metrics.registry.metrics()).toContain('sluice_store_blocked 1')
    proxy.inject(() => undefined)
    await expectLedger(written, await writing)
    await merging
    expect(await store.health()).toMatchObject({ ready: true })
  })

  test.each([403, 404])('a proxy that answers %i by itself is waited for, and halts nothing', async (status) => {
    proxy.inject(() => ({ fault: 'answer', status, body: '{"ok":false,"message":"Unknown resource."}' }))
    const written = documents(3)
    const writing = store.write(written, never)
    const merging = store.mergeFlows([factAt(1)], never)
    await eventually(async () => expect((await store.health()).reason).toContain(`writes are blocked: ${status}`))
    proxy.inject(() => undefined)
    await expectLedger(written, await writing)
    await merging
    expect(await store.health()).toMatchObject({ ready: true })
  })

  test('a cluster that has no shards left for the next day keeps no process from starting', async () => {
    const reason =
      'Validation Failed: 1: this action would add [1] shards, but this cluster currently has [5]/[5] maximum normal shards open;'
    const body = JSON.stringify({ error: { type: 'validation_exception', reason }, status: 400 })
    proxy.inject(({ method, path }) =>
      method === 'PUT' && /-logs-v1-\d/.test(path) ? { fault: 'answer', status: 400, body } : undefined,
    )
    const { settings, ...folder } = serverFolder('teams: [{ id: ops }]')
    const server = await startSluice({ ...settings, ELASTICSEARCH_URL: proxy.url, INDEX_PREFIX: prefix })
    try {
      expect(server.printed()).toContain('no shards left')
      await eventually(async () => expect((await fetch(`${server.url}/health/ready`)).status).toBe(200))
    } finally {
      server.kill('SIGTERM')
      await server.exited
      folder.remove()
    }
  })

  test('a missing privilege halts, and does not cost a document', async () => {
    const body = '{"error":{"type":"security_exception","reason":"no"},"status":403}'
    proxy.inject((request) => (isBulk(request) ? { fault: 'answer', status: 403, body } : undefined))
    await expect(store.write(documents(3), never)).rejects.toThrow(StoreHaltError)
    proxy.inject(() => undefined)
    const written = documents(3)
    await expectLedger(written, await store.write(written, never))
  })

  test('a write that is aborted rejects with the reason of the signal and can be repeated', async () => {
    proxy.inject((request) => (isBulk(request) ? { fault: 'answer', status: 503, body: '{}' } : undefined))
    const stop = new AbortController()
    const written = documents(300)
    const writing = store.write(written, stop.signal)
    await eventually(async () => expect(await counted('retried')).toBeGreaterThan(0))
    stop.abort(new Error('shutting down'))
    await expect(writing).rejects.toThrow('shutting down')
    proxy.inject(() => undefined)
    await expectLedger(written, await store.write(written, never))
  })

  test.each([
    ['both records are', [0, 1]],
    ["the earlier day's record alone is", [0]],
    ["the later day's record alone is", [1]],
  ])('a writer that ended before its second look leaves no second copy once %s read again', async (_, again) => {
    const id = uuid(8, 1)
    const both = ['2026-01-30T23:59:59.000Z', '2026-01-31T00:00:01.000Z'].map((receivedAt) =>
      documentOf(1, { id, receivedAt }),
    )
    const looks = first(1)
    proxy.inject(({ path }) =>
      path.startsWith('/_mget') && !looks() ? { fault: 'answer', status: 503, body: '{}' } : undefined,
    )
    const stop = new AbortController()
    const writing = store.write(both, stop.signal)
    await eventually(async () => expect(await storedIds(store)).toEqual([id, id]))
    stop.abort(new Error('the partitions moved'))
    await expect(writing).rejects.toThrow('the partitions moved')
    proxy.inject(() => undefined)
    const read = again.map((at) => both[at] as EntryDocument)
    expect(await store.write(read, never)).toEqual(read.map(() => ({ outcome: 'duplicate' })))
    await eventually(async () => expect(await storedIds(store)).toEqual([id]))
    expect(await store.search(EVERYTHING, { limit: 2, order: 'asc', after: null })).toMatchObject({
      entries: [{ receivedAt: '2026-01-30T23:59:59.000Z' }],
    })
  })

  test('a document that Elasticsearch cannot parse is refused without a word of it, and spoils no other', async () => {
    const bad = { ...documentOf(1), timestamp: 'secret words' }
    const outcomes = await store.write([documentOf(0), bad, documentOf(2)], never)
    expect(outcomes).toEqual([
      { outcome: 'stored' },
      { outcome: 'refused', reason: 'Elasticsearch answered 400 document_parsing_exception for the field timestamp' },
      { outcome: 'stored' },
    ])
  })

  test('a long entry outlasts a shard that turns its reader away', async () => {
    const message = 'x '.repeat(10_000)
    await store.write([documentOf(1, { message })], never)
    await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
    const isFirst = first(2)
    const body = '{"docs":[{"error":{"type":"es_rejected_execution_exception"}}]}'
    proxy.inject(({ path }) =>
      path.startsWith('/_mget') && isFirst() ? { fault: 'answer', status: 200, body } : undefined,
    )
    expect(await store.search(EVERYTHING, { limit: 2, order: 'asc', after: null })).toMatchObject({
      entries: [{ message }],
    })
  })

  test('a long entry is asked for three times in all while Elasticsearch fails', async () => {
    await store.write([documentOf(1, { message: 'x '.repeat(10_000) })], never)
    await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
    let asked = 0
    proxy.inject(({ path }) => {
      if (!path.startsWith('/_mget')) return undefined
      asked += 1
      return { fault: 'answer', status: 503, body: '{}' }
    })
    await expect(store.search(EVERYTHING, { limit: 2, order: 'asc', after: null })).rejects.toThrow('503')
    expect(asked).toBe(3)
  })

  test('reads outlast a failure that passes', async () => {
    const written = documents(3)
    await expectLedger(written, await store.write(written, never))
    const down = first(2)
    proxy.inject(() => (down() ? { fault: 'cut' } : undefined))
    expect(await storedIds(store)).toHaveLength(3)
  })

  test('a flow is read once by the process that writes it, and once more after an answer that was lost', async () => {
    let reads = 0
    let isLost = false
    proxy.inject((request) => {
      if (request.path.startsWith('/_mget')) reads += 1
      if (!isLost || !isBulk(request)) return undefined
      isLost = false
      return { fault: 'lose-answer' }
    })
    const merge = (second: number): Promise<void> => store.mergeFlows([factAt(second)], never)
    await merge(2)
    await merge(3)
    expect(reads).toBe(1)
    isLost = true
    await merge(4)
    expect(reads).toBe(2)
    await ask(elasticsearch.url, 'POST', `/${prefix}-flows-v1/_refresh`)
    expect(await ask(elasticsearch.url, 'GET', `/${prefix}-flows-v1/_search`)).toMatchObject({
      hits: { hits: [{ _source: { firstAt: `${TODAY}T10:00:02.000Z`, lastAt: `${TODAY}T10:00:04.000Z` } }] },
    })
  })
})
