import { afterEach, beforeEach, expect, test } from 'vitest'
import { flowFact } from '../../consumers/projections/flows.ts'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import { fromNanos, toNanos } from '../../shared/contract/timestamp.ts'
import { ElasticsearchError } from '../../shared/log-store/elasticsearch/connection.ts'
import type { ElasticsearchLogStore } from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import { flowId } from '../../shared/log-store/elasticsearch/flow-writer.ts'
import { ENTRY_MAPPINGS, FLOW_MAPPINGS } from '../../shared/log-store/elasticsearch/mappings.ts'
import { StoreHaltError } from '../../shared/log-store/log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { flowsOf } from '../contract/log-store-rig.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import {
  ask,
  documentOf,
  documents,
  EVERYTHING,
  makeUnassigned,
  never,
  openStore,
  removeAll,
  storedIds,
  TEAM,
  TODAY,
  uniquePrefix,
  uuid,
} from './elasticsearch-support.ts'

await describeWithBackends('the Elasticsearch log store', { elasticsearch: 'shared' }, ({ elasticsearch }) => {
  let prefix: string
  let store: ElasticsearchLogStore

  let applied: readonly string[]

  beforeEach(async () => {
    prefix = uniquePrefix()
    store = openStore(elasticsearch.url, prefix).store
    applied = await store.indices.apply()
  })

  afterEach(async () => {
    await store.close()
    await removeAll(elasticsearch.url, prefix)
  })

  const dayIndex = (day: string): string => `${prefix}-application-logs-v1-${day.replaceAll('-', '.')}`

  test('templates and indices are made once, and named; a second run changes nothing', async () => {
    expect(applied).toContain(`corrected: index template ${prefix}-flows-v1 is missing`)
    expect(applied.filter((line) => line.startsWith('created: ')).toSorted()).toEqual([
      `created: ${prefix}-application-logs-v1-2026.01.31`,
      `created: ${prefix}-application-logs-v1-2026.02.01`,
      `created: ${prefix}-event-logs-v1-2026.01.31`,
      `created: ${prefix}-event-logs-v1-2026.02.01`,
      `created: ${prefix}-flows-v1`,
    ])
    expect(await store.indices.check()).toEqual([])
    expect(await store.indices.apply()).toEqual([])
    expect(await store.indices.prepareDays()).toEqual([])
    const { indices } = (await ask(elasticsearch.url, 'GET', `/_resolve/index/${prefix}-*`)) as {
      indices: { name: string }[]
    }
    expect(indices.map(({ name }) => name.slice(prefix.length + 1))).toEqual([
      'application-logs-v1-2026.01.31',
      'application-logs-v1-2026.02.01',
      'event-logs-v1-2026.01.31',
      'event-logs-v1-2026.02.01',
      'flows-v1',
    ])
  })

  test('a new cluster without templates: documents wait, nothing is stored unmapped, and all arrive once they are there', async () => {
    const delta = flowFact(JSON.parse(documentOf(1).source)) as FlowDelta
    await store.write([documentOf(1)], never)
    await store.mergeFlows([delta], never)
    await removeAll(elasticsearch.url, prefix)

    const writing = store.write([documentOf(1), documentOf(2)], never)
    const merging = store.mergeFlows([delta], never)
    await eventually(async () => expect((await store.health()).reason).toContain('an index without its template'))
    await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
    const { count } = (await ask(elasticsearch.url, 'GET', `/${prefix}-*/_count`)) as { count: number }
    expect(count).toBe(0)

    const operator = openStore(elasticsearch.url, prefix).store
    await operator.indices.apply()
    expect(await writing).toEqual([{ outcome: 'stored' }, { outcome: 'stored' }])
    await merging
    expect(await operator.indices.check()).toEqual([])
    await eventually(async () => expect(await storedIds(store)).toHaveLength(2))
    await eventually(async () => expect(await store.flow(TEAM, 'flow-1')).toBeDefined())
    await operator.close()
  })

  test('a copy of an index that reads find is told of until it is closed', async () => {
    await store.write([documentOf(1)], never)
    const day = dayIndex(TODAY)
    const block = (blocked: true | null) =>
      ask(elasticsearch.url, 'PUT', `/${day}/_settings`, { 'index.blocks.write': blocked })
    await block(true)
    await ask(elasticsearch.url, 'POST', `/${day}/_clone/${day}-copy`)
    await block(null)
    await eventually(async () => expect(await storedIds(store)).toHaveLength(2))
    expect(await store.indices.apply()).toEqual([expect.stringContaining(`reads find ${day}-copy`)])
    await ask(elasticsearch.url, 'POST', `/${day}-copy/_close`)
    expect(await storedIds(store)).toHaveLength(1)
    expect(await store.indices.apply()).toEqual([])
  })

  test('an index of flows that is closed is named, as reads take it for a missing one', async () => {
    const flows = `${prefix}-flows-v1`
    const read = () => store.searchFlows(flowsOf(TEAM), { limit: 1, sort: 'latest', after: null })
    await ask(elasticsearch.url, 'POST', `/${flows}/_close`)
    await expect(read()).rejects.toThrow('run `sluice indices apply`')
    expect(await store.indices.apply()).toEqual([
      `${flows} is closed, so it is neither read nor written: open it (POST /${flows}/_open)`,
    ])
    await ask(elasticsearch.url, 'POST', `/${flows}/_open`)
    await eventually(async () => expect((await read()).flows).toEqual([]))
    expect(await store.indices.apply()).toEqual([])
  })

  test('an alias of a second index keeps back entries that are looked up, and says so, until it is removed', async () => {
    const day = dayIndex(TODAY)
    const [first, second] = ['v1.2', 'v1.3'].map((version) => day.replace('v1', version))
    await ask(elasticsearch.url, 'DELETE', `/${day}`)
    for (const index of [first, second]) await ask(elasticsearch.url, 'PUT', `/${index}`)
    const aliases = (...actions: readonly object[]) => ask(elasticsearch.url, 'POST', '/_aliases', { actions })
    await aliases({ add: { index: first, alias: day, is_write_index: true } }, { add: { index: second, alias: day } })
    const told = `reads find ${first} and ${second} for ${day}`
    expect(await store.indices.apply()).toEqual([expect.stringContaining(told)])
    const writing = store.write([documentOf(1, { id: uuid(8, 1) })], never)
    await eventually(async () => expect((await store.health()).reason).toContain('an alias of several indices'))
    await aliases({ remove: { index: second, alias: day } })
    expect(await writing).toEqual([{ outcome: 'stored' }])
    expect(await store.health()).toMatchObject({ ready: true })
    expect(await store.indices.apply()).toEqual([])
  })

  test('several processes may prepare the indices at once', async () => {
    await removeAll(elasticsearch.url, prefix)
    const stores = Array.from({ length: 4 }, () => openStore(elasticsearch.url, prefix).store)
    await Promise.all(stores.map(({ indices }) => indices.apply()))
    expect(await store.indices.check()).toEqual([])
    await Promise.all(stores.map((other) => other.close()))
  })

  test('what differs from this release is named, and apply mends it', async () => {
    const template = { priority: 1, index_patterns: [`${prefix}-flows-v1`], composed_of: [`${prefix}-flows-v1`] }
    await ask(elasticsearch.url, 'PUT', `/_index_template/${prefix}-flows-v1`, template)
    expect(await store.indices.check()).toContain(`index template ${prefix}-flows-v1: priority is 1, needed is 500`)
    await store.indices.apply()
    expect(await store.indices.check()).toEqual([])
  })

  test('no index is made while its template is missing: it would take fields of any type', async () => {
    await removeAll(elasticsearch.url, prefix)
    await expect(store.indices.prepareDays()).rejects.toThrow(StoreHaltError)
    const facts = [documentOf(1)].map(({ source }) => flowFact(JSON.parse(source))).filter((fact) => fact !== null)
    for (const write of [() => store.write([documentOf(1)], never), () => store.mergeFlows(facts, never)]) {
      await expect(write()).rejects.toThrow(StoreHaltError)
      await expect(write()).rejects.toThrow(`component template ${prefix}-entries-v1 is missing`)
    }
    expect(await ask(elasticsearch.url, 'GET', `/_resolve/index/${prefix}-*`)).toMatchObject({ indices: [] })
    await store.indices.apply()
    expect(await store.write([documentOf(1)], never)).toEqual([{ outcome: 'stored' }])
  })

  test('a template of a higher priority is noticed as it takes the place of ours', async () => {
    await removeAll(elasticsearch.url, prefix)
    const template = { index_patterns: [`${prefix}-*-logs-*`], priority: 1_000 }
    await ask(elasticsearch.url, 'PUT', `/_index_template/${prefix}-all`, template)
    await expect(store.indices.apply()).rejects.toThrow(
      /mapping of index \S+-logs-v1-\S+: dynamic is not set, needed is false; a template of a higher priority/,
    )
    await ask(elasticsearch.url, 'DELETE', `/_index_template/${prefix}-all`)
    await store.indices.apply()
    expect(await store.indices.check()).toEqual([])
  })

  test('a template that Elasticsearch refuses is told with the reason, as another one of the cluster may be in its way', async () => {
    await removeAll(elasticsearch.url, prefix)
    const template = { index_patterns: [`${prefix}-*`], priority: 500 }
    for (const name of ['event-logs-v1', 'application-logs-v1', 'flows-v1'])
      await ask(elasticsearch.url, 'DELETE', `/_index_template/${prefix}-${name}`)
    await ask(elasticsearch.url, 'PUT', `/_index_template/${prefix}-all`, template)
    await expect(store.indices.apply()).rejects.toThrow('that have the same priority [500]')
    await ask(elasticsearch.url, 'DELETE', `/_index_template/${prefix}-all`)
  })

  test('an index of version 0.2, which has no details, goes on to be searched, and takes them once they are applied', async () => {
    const { details: _, ...properties } = ENTRY_MAPPINGS.properties
    const template = { mappings: { ...ENTRY_MAPPINGS, properties } }
    await ask(elasticsearch.url, 'PUT', `/_component_template/${prefix}-entries-v1`, { template })
    const [before, after] = [1, 2].map((number) => documentOf(number, { receivedAt: '2026-01-20T00:00:00.000Z' }))
    if (before === undefined || after === undefined) throw new Error('there are no documents')
    await store.write([before], never)
    const found = async (text: string): Promise<number> => store.count({ ...EVERYTHING, query: parseQuery(text).query })
    await eventually(async () => expect(await found('entry')).toBe(1))
    expect(await found('flow-1 OR billing* OR "billing prod"*')).toBe(0)
    expect(await found('-flow-1')).toBe(1)
    expect(await store.indices.check()).toContain(
      `mapping of index ${dayIndex('2026-01-20')}: properties.details.type is not set, needed is text`,
    )
    await store.indices.apply()
    await store.write([after], never)
    await eventually(async () => expect(await found('flow-2')).toBe(1))
    expect(await found('entry')).toBe(2)
    expect(await found('correlationKey:flow-1')).toBe(1)
  })

  test('an index of flows as version 0.2 made and wrote it is written and read on, and holds nothing that 0.2 cannot read', async () => {
    const { duration: _, failed: __, ...properties } = FLOW_MAPPINGS.properties
    const index = `/${prefix}-flows-v1`
    await ask(elasticsearch.url, 'DELETE', index)
    await ask(elasticsearch.url, 'PUT', index, { mappings: { dynamic: 'false', properties } })
    const document = documentOf(1)
    const [first, last] = ['2026-01-30T10:00:00.000Z', '2026-01-30T10:00:05.000Z']
    const sets = { environments: ['Test'], events: [], steps: [], projects: [document.project as string] }
    const old = {
      team: TEAM,
      correlationKey: 'flow-1',
      keyFolded: 'flow-1',
      firstAt: first,
      lastAt: last,
      worstLevel: 2,
    }
    const summary = { ...old, days: ['2026-01-30'], lastDay: '2026-01-30', ...sets }
    await ask(elasticsearch.url, 'PUT', `${index}/_doc/${flowId(TEAM, 'flow-1')}`, summary)
    await store.indices.apply()

    await store.write([document], never)
    await store.mergeFlows([flowFact(JSON.parse(document.source)) as FlowDelta], never)
    const page = { limit: 10, sort: 'longest', after: null } as const
    const flows = async () => (await store.searchFlows(flowsOf(TEAM, { environment: 'Test' }), page)).flows
    await eventually(async () =>
      expect(await flows()).toMatchObject([{ correlationKey: 'flow-1', firstAt: first, lastAt: document.timestamp }]),
    )
    const { _source: written } = (await ask(elasticsearch.url, 'GET', `${index}/_doc/${flowId(TEAM, 'flow-1')}`)) as {
      _source: Record<string, unknown>
    }
    const typesOf = (source: object): object =>
      Object.fromEntries(
        Object.entries(source).map(([field, value]) => [field, Array.isArray(value) ? 'list' : typeof value]),
      )
    expect(typesOf(written)).toMatchObject(typesOf(summary))
    expect(written).toMatchObject({ environments: ['Production', 'Test'], days: ['2026-01-30', TODAY], lastDay: TODAY })
  })

  test('the indices of days are made by a write also where the cluster makes no others by itself', async () => {
    const setAutoCreate = (value: string | null) =>
      ask(elasticsearch.url, 'PUT', '/_cluster/settings', { persistent: { 'action.auto_create_index': value } })
    await setAutoCreate(`-${prefix}-*,*`)
    try {
      const written = await store.write([documentOf(1, { receivedAt: '2026-01-05T00:00:00.000Z' })], never)
      expect(written).toEqual([{ outcome: 'stored' }])
    } finally {
      await setAutoCreate(null)
    }
  })

  test("the operator's own component template has the last word", async () => {
    const template = { settings: { 'index.number_of_replicas': 0, 'index.priority': 77 } }
    await ask(elasticsearch.url, 'PUT', `/_component_template/${prefix}-custom`, { template })
    await store.write([documentOf(1, { receivedAt: '2026-01-05T00:00:00.000Z' })], never)
    const answer = await ask(elasticsearch.url, 'GET', `/${dayIndex('2026-01-05')}/_settings?flat_settings=true`)
    expect(JSON.stringify(answer)).toContain('"index.priority":"77"')
    expect(await store.indices.check()).toEqual([])
  })

  test("the operator's component template for the days leaves the flows as they are, as a policy may remove what is old", async () => {
    const template = { settings: { 'index.priority': 77 } }
    await ask(elasticsearch.url, 'PUT', `/_component_template/${prefix}-entries-custom`, { template })
    await store.write([documentOf(1, { receivedAt: '2026-01-05T00:00:00.000Z' })], never)
    await ask(elasticsearch.url, 'DELETE', `/${prefix}-flows-v1`)
    await store.indices.apply()
    const prioritized = await ask(elasticsearch.url, 'GET', `/${prefix}-*/_settings/index.priority?flat_settings=true`)
    expect(prioritized).toEqual({ [dayIndex('2026-01-05')]: { settings: { 'index.priority': '77' } } })
  })

  test('no read counts without the entries of a shard that is missing', async () => {
    await store.write(documents(3), never)
    await makeUnassigned(elasticsearch.url, dayIndex('2026-01-20'))
    for (const read of [() => store.count(EVERYTHING), () => store.facets(EVERYTHING, 5)]) {
      const failure = await read().catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ElasticsearchError)
      expect(failure).toMatchObject({ status: 503 })
    }
  })

  test('an id made from an Idempotency-Key is stored once, also when it comes back two days later or earlier', async () => {
    const id = uuid(8, 1)
    const days = ['2026-01-30T23:59:59.999Z', '2026-02-01T23:59:59.999Z', '2026-01-28T00:00:00.000Z']
    expect(await store.write([documentOf(1, { id, receivedAt: days[0] as string })], never)).toEqual([
      { outcome: 'stored' },
    ])
    for (const receivedAt of days) {
      expect(await store.write([documentOf(1, { id, receivedAt })], never)).toEqual([{ outcome: 'duplicate' }])
    }
    await eventually(async () => expect(await storedIds(store)).toEqual([id]))
  })

  test('an id made from an Idempotency-Key is another entry three days later', async () => {
    const id = uuid(8, 1)
    for (const day of ['2026-01-03', '2026-01-06'])
      expect(await store.write([documentOf(0, { id, receivedAt: `${day}T00:00:00.000Z` })], never)).toEqual([
        { outcome: 'stored' },
      ])
  })

  test.each([
    ['written in one chunk', false],
    ['of which the first is stored before', true],
  ])('entries of one id, days apart, %s, stay through replays', async (_how, isFirstStored) => {
    const days = ['2026-01-26', '2026-01-27', '2026-01-30']
    const [first, repeat, other] = days.map((day, at) =>
      documentOf(at, { id: uuid(8, 1), receivedAt: `${day}T00:00:00.000Z` }),
    ) as [EntryDocument, EntryDocument, EntryDocument]
    if (isFirstStored) expect(await store.write([first], never)).toEqual([{ outcome: 'stored' }])
    const [stored, duplicate] = [{ outcome: 'stored' }, { outcome: 'duplicate' }]
    expect(await store.write([other, repeat, first], never)).toEqual([
      stored,
      duplicate,
      isFirstStored ? duplicate : stored,
    ])
    expect(await store.write([first, repeat, other], never)).toEqual([duplicate, duplicate, duplicate])
    await eventually(async () => {
      const { entries } = await store.search(EVERYTHING, { limit: 10, order: 'asc', after: null })
      expect(entries.map(({ receivedAt }) => receivedAt)).toEqual([first.receivedAt, other.receivedAt])
    })
  })

  test('writers that take the same ids to different days at the same moment leave one copy of each', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => uuid(8, index))
    const writers = Array.from({ length: 6 }, () => openStore(elasticsearch.url, prefix).store)
    await Promise.all(
      writers.map((writer, at) =>
        writer.write(
          ids.map((id, index) => documentOf(index, { id, receivedAt: `2026-01-${10 + (at % 3)}T00:00:00.000Z` })),
          never,
        ),
      ),
    )
    await eventually(async () => expect((await storedIds(store)).sort()).toEqual(ids))
    await Promise.all(writers.map((writer) => writer.close()))
  })

  test('a tail sees every arrival once, however writers and days are mixed, and resumes at any entry', async () => {
    let { cursor } = await store.tail(EVERYTHING, null, 10)
    const writers = Array.from({ length: 4 }, () => openStore(elasticsearch.url, prefix, { bulkDocumentsMax: 7 }).store)
    const written = documents(600)
    const writing = Promise.all(
      writers.map(async (writer, at) => {
        const mine = written
          .filter((_, index) => index % writers.length === at)
          .map((document, index) => ({ ...document, receivedAt: `2026-01-${10 + (index % 3)}T00:00:00.000Z` }))
        for (let from = 0; from < mine.length; from += 25) await writer.write(mine.slice(from, from + 25), never)
      }),
    )
    const seen: string[] = []
    await eventually(async () => {
      const page = await store.tail(EVERYTHING, cursor, 37)
      // Every other time the reader breaks off in the middle of a page, and goes on from the last entry it handed out.
      const taken = seen.length % 2 === 0 ? page.entries : page.entries.slice(0, 5)
      seen.push(...taken.map(({ entry }) => entry.id))
      cursor = taken.length < page.entries.length ? (taken.at(-1)?.cursor ?? cursor) : page.cursor
      expect(seen).toHaveLength(written.length)
    }, 20_000)
    await writing
    expect([...seen].sort()).toEqual(written.map(({ id }) => id).sort())
    expect((await store.tail(EVERYTHING, cursor, 10)).entries).toEqual([])
    await Promise.all(writers.map((writer) => writer.close()))
  })

  test('no entry falls between a tail that is opened first and a list that is read then', async () => {
    // No refresh comes by itself meanwhile.
    const slow = openStore(elasticsearch.url, prefix, { refreshIntervalMs: 600_000 }).store
    await removeAll(elasticsearch.url, prefix)
    await slow.indices.apply()
    await slow.write(documents(3), never)
    const { cursor } = await slow.tail(EVERYTHING, null, 10)
    const listed = await storedIds(slow)
    const { entries } = await slow.tail(EVERYTHING, cursor, 10)
    expect([...listed, ...entries.map(({ entry }) => entry.id)]).toEqual(documents(3).map(({ id }) => id))
    await slow.close()
  })

  test('flows that several consumers fold at once lose nothing', async () => {
    const deltas = Array.from(
      { length: 24 },
      (_, at): FlowDelta => ({
        team: TEAM,
        correlationKey: `order-${at % 2}`,
        firstAt: `2026-01-31T10:00:${String(59 - at).padStart(2, '0')}.000Z`,
        lastAt: `2026-01-31T11:00:${String(at).padStart(2, '0')}.000Z`,
        days: [`2026-01-${String(at + 1).padStart(2, '0')}`],
        lastReceivedAt: `2026-01-${String(at + 1).padStart(2, '0')}T12:00:00.000Z`,
        worstLevel: at === 5 ? 'Critical' : 'Debug',
        lastErrorAt: at === 5 ? '2026-01-31T11:00:05.000Z' : null,
        lastProgressAt: at === 5 ? null : `2026-01-31T11:00:${String(at).padStart(2, '0')}.000Z`,
        environments: [`env-${at}`],
        events: [],
        steps: [],
        projects: [],
      }),
    )
    const folders = Array.from({ length: 4 }, () => openStore(elasticsearch.url, prefix).store)
    await Promise.all(deltas.map((delta, at) => folders[at % folders.length]?.mergeFlows([delta], never)))
    await ask(elasticsearch.url, 'POST', `/${prefix}-flows-v1/_refresh`)
    const answer = (await ask(elasticsearch.url, 'GET', `/${prefix}-flows-v1/_search?q=correlationKey:order-1`)) as {
      hits: { hits: { _source: Record<string, unknown> }[] }
    }
    expect(answer.hits.hits).toHaveLength(1)
    expect(answer.hits.hits[0]?._source).toMatchObject({
      firstAt: '2026-01-31T10:00:36.000Z',
      lastAt: '2026-01-31T11:00:23.000Z',
      worstLevel: 5,
      lastErrorAt: '2026-01-31T11:00:05.000Z',
      lastProgressAt: '2026-01-31T11:00:23.000Z',
      duration: 3_587_000,
      failed: false,
      environments: deltas
        .filter((_, at) => at % 2 === 1)
        .flatMap(({ environments }) => environments)
        .sort(),
      lastDay: '2026-01-24',
    })
    await Promise.all(folders.map((folder) => folder.close()))
  })

  test.each([1_000, 1_001, 1_300])('a flow of %i entries is counted exactly, to the nanosecond', async (count) => {
    const instant = (number: number): string => fromNanos(toNanos('2026-01-31T12:00:00.000Z') + BigInt(number))
    const entries = Array.from({ length: count }, (_, number) => ({
      ...documentOf(number),
      correlationKey: 'order-1',
      timestamp: instant(number),
      step: number % 3 === 0 ? null : `step-${number % 3}`,
    }))
    await store.write(entries, never)
    const place = { event: null, project: entries[0]?.project, level: 'Information' }
    const groups = [0, 1, 2].map((first) => {
      const ofGroup = entries.filter((_, number) => number % 3 === first)
      const [step, lastAt] = [ofGroup[0]?.step, ofGroup.at(-1)?.timestamp]
      return { ...place, step, count: ofGroup.length, firstAt: instant(first), lastAt }
    })
    await eventually(async () => expect((await store.flow(TEAM, 'order-1'))?.groups).toEqual(groups))
  })

  test('retention removes the indices of old days, and the flows that ended there', async () => {
    const old = documentOf(1, { receivedAt: '2026-01-01T10:00:00.000Z' })
    const late = documentOf(2, { receivedAt: '2026-01-30T10:00:00.000Z' })
    await store.write([old, late], never)
    const sets = { environments: [], events: [], steps: [], projects: [] }
    const delta = { team: TEAM, worstLevel: 'Debug', lastErrorAt: null, lastProgressAt: null, ...sets } as const
    const of = (document: typeof old): FlowDelta => ({
      ...delta,
      correlationKey: document.correlationKey as string,
      firstAt: document.timestamp,
      lastAt: document.timestamp,
      days: [document.receivedAt.slice(0, 10)],
      lastReceivedAt: document.receivedAt,
    })
    await store.mergeFlows([of(old), of(late)], never)
    await eventually(async () => expect(await storedIds(store)).toHaveLength(2))
    expect(await store.removeBefore('2026-01-30')).toBe(1)
    expect(await store.removeBefore('2026-01-30')).toBe(0)
    expect(await storedIds(store)).toEqual([late.id])
    expect(await store.flow(TEAM, 'flow-1')).toBeUndefined()
    expect(await store.flow(TEAM, 'flow-2')).toMatchObject({ correlationKey: 'flow-2' })
  })

  test('retention removes old days that are closed, or whose shard is missing, as well', async () => {
    await store.write([documentOf(1, { receivedAt: '2026-01-01T10:00:00.000Z' })], never)
    await ask(elasticsearch.url, 'POST', `/${dayIndex('2026-01-01')}/_close`)
    for (const day of ['2026-01-02', '2026-01-20']) await makeUnassigned(elasticsearch.url, dayIndex(day))
    await store.removeBefore('2026-01-20')
    const left = await ask(elasticsearch.url, 'GET', `/_resolve/index/${dayIndex('*')}?expand_wildcards=all`)
    const { indices } = left as { indices: { name: string }[] }
    expect(indices.map(({ name }) => name)).toEqual(['2026-01-20', TODAY, '2026-02-01'].map(dayIndex))
  })

  /** Does something while nobody may change or remove a day. */
  async function withReadOnly(day: string, work: () => Promise<void>): Promise<void> {
    const settings = `/${dayIndex(day)}/_settings`
    await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.read_only': true })
    try {
      await work()
    } finally {
      await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.read_only': null })
    }
  }

  test('a day that is read-only keeps no process from starting', async () => {
    await withReadOnly(TODAY, async () => expect(await store.indices.apply()).toEqual([]))
  })

  test('an old day that refuses to be removed keeps no other', async () => {
    const days = ['2026-01-01', '2026-01-02']
    const written = days.map((day, index) => documentOf(index, { receivedAt: `${day}T10:00:00.000Z` }))
    await store.write(written, never)
    // A count leaves out documents that were written since the last refresh.
    await ask(elasticsearch.url, 'POST', `/${dayIndex('*')}/_refresh`)
    await withReadOnly('2026-01-01', async () => {
      await expect(store.removeBefore('2026-01-20')).rejects.toThrow('answered 403 cluster_block_exception')
      const left = await ask(elasticsearch.url, 'GET', `/_resolve/index/${dayIndex('*')}`)
      const { indices } = left as { indices: { name: string }[] }
      expect(indices.map(({ name }) => name)).toEqual(['2026-01-01', TODAY, '2026-02-01'].map(dayIndex))
    })
    expect(await store.removeBefore('2026-01-20')).toBe(1)
  })

  test('a missing shard is told, but takes nothing out of service as long as there are others', async () => {
    await makeUnassigned(elasticsearch.url, dayIndex('2026-01-02'))
    const reason = 'primary shards missing: 1 of 6; lists that need them answer 503'
    expect(await store.health()).toEqual({ name: 'elasticsearch', ready: true, reason })
    const other = uniquePrefix()
    for (const rest of ['flows-v1', 'event-logs-v1-2026.01.02', 'application-logs-v1-2026.01.02'])
      await makeUnassigned(elasticsearch.url, `${other}-${rest}`)
    const lost = openStore(elasticsearch.url, other).store
    expect(await lost.health()).toEqual({ name: 'elasticsearch', ready: false, reason: 'no primary shard is there' })
    await lost.close()
    await removeAll(elasticsearch.url, other)
  })

  test('health names what is missing, and never rejects', async () => {
    expect(await store.health()).toEqual({ name: 'elasticsearch', ready: true })
    const nowhere = openStore('http://127.0.0.1:9', prefix).store
    expect(await nowhere.health()).toMatchObject({ ready: false })
    await nowhere.close()
    await nowhere.close()
  })
})
