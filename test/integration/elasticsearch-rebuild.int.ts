import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { entryDocument } from '../../consumers/projections/entries.ts'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { ElasticsearchLogStore } from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import type { FlowSummary } from '../../shared/log-store/elasticsearch/flow-summary.ts'
import { flowId } from '../../shared/log-store/elasticsearch/flow-writer.ts'
import { RebuildError } from '../../shared/log-store/elasticsearch/index-copy.ts'
import { indexNames } from '../../shared/log-store/elasticsearch/index-names.ts'
import type { RebuildOptions } from '../../shared/log-store/elasticsearch/rebuild.ts'
import type { Flow, FlowCursor, FlowPage } from '../../shared/log-store/log-store.ts'
import { flowsOf } from '../contract/log-store-rig.ts'
import { describeWithBackends } from '../support/backends.ts'
import { recordOf } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
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

/** Between two writes, and two looks at the tail: without it the rebuild beside them takes three times as long. */
const PACE_MS = 20
const YESTERDAY = '2026-01-30'
const at = (day: string, number: number): string => `${day}T00:00:00.${String(number).padStart(3, '0')}Z`
const ofDay = (day: string, count: number): EntryDocument[] =>
  Array.from({ length: count }, (_, number) => documentOf(number, { receivedAt: at(day, number) }))
/** As a release stored them that knew no templates. */
const withoutTemplate = (entries: readonly EntryDocument[]) => entries.map((entry) => ({ ...entry, template: null }))
const idsOf = (entries: readonly { readonly id: string }[]): string[] => entries.map(({ id }) => id).sort()
const factsOf = (entries: readonly EntryDocument[]): readonly FlowDelta[] =>
  foldFlows(entries.map(({ source }) => flowFact(JSON.parse(source) as EntryRecord)).filter((fact) => fact !== null))

await describeWithBackends('the rebuild of a view', { elasticsearch: 'shared' }, ({ elasticsearch }) => {
  let prefix: string
  let store: ElasticsearchLogStore

  beforeEach(async () => {
    prefix = uniquePrefix()
    store = openStore(elasticsearch.url, prefix).store
    await store.indices.apply()
  })

  afterEach(async () => {
    await store.close()
    await removeAll(elasticsearch.url, prefix)
  })

  const names = () => indexNames(prefix)
  /** Returns the names of the indices that were replaced. */
  async function rebuild(options: Partial<RebuildOptions> = {}, by = store): Promise<string[]> {
    const replaced: string[] = []
    await by.rebuild({
      kind: 'application',
      since: null,
      takeOver: false,
      documentOf: entryDocument,
      flowFact,
      foldFlows,
      signal: never,
      onReplaced: ({ index }) => void replaced.push(index.slice(prefix.length + 1)),
      ...options,
    })
    return replaced
  }
  /** A store whose requests to a path wait until a task has ended, which begins at the first of them. */
  async function openHeld(path: string, task: () => Promise<unknown>) {
    const proxy = await startFaultProxy(elasticsearch.url)
    const { store: held } = openStore(proxy.url, prefix)
    let until: Promise<unknown> | undefined
    proxy.inject((request) => {
      if (!request.path.startsWith(path)) return undefined
      until ??= task()
      return { fault: 'hold', until }
    })
    const close = async (): Promise<void> => {
      await held.close()
      await proxy.close()
    }
    return { held, close }
  }
  const indices = async (): Promise<string[]> => {
    const answer = await ask(elasticsearch.url, 'GET', `/_resolve/index/${prefix}-*?expand_wildcards=all`)
    return (answer as { indices: { name: string }[] }).indices.map(({ name }) => name.slice(prefix.length + 1))
  }
  const templatesOf = async (entries: readonly EntryDocument[]): Promise<number> => {
    await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
    return store.count({ ...EVERYTHING, template: entries[0]?.template ?? null })
  }

  describe('of entries', () => {
    test('projects all anew, one day after the other; writes, repeats, tails, retention and checks go on', async () => {
      const stored = [...ofDay('2026-01-29', 30), ...documents(20, 100)]
      await store.write(withoutTemplate(stored), never)
      expect(await templatesOf(stored)).toBe(0)
      const { cursor } = await store.tail(EVERYTHING, null, 100)
      const later = openStore(elasticsearch.url, prefix).store
      expect(await rebuild()).toEqual([
        'application-logs-v1.2-2026.01.29',
        'application-logs-v1.2-2026.01.31',
        'application-logs-v1.2-2026.02.01',
      ])
      expect(await templatesOf(stored)).toBe(stored.length)
      expect((await storedIds(store)).sort()).toEqual(idsOf(stored))

      const late = documentOf(500, { receivedAt: at('2026-01-29', 500) })
      const outcomes = await later.write([...stored.slice(0, 40), late], never)
      expect(outcomes.map(({ outcome }) => outcome)).toEqual([...Array(40).fill('duplicate'), 'stored'])
      const { entries } = await store.tail(EVERYTHING, cursor, 100)
      expect(entries.map(({ entry }) => entry.id)).toEqual([late.id])
      await later.close()

      expect(await store.indices.check()).toEqual([])
      expect(await store.indices.apply()).toEqual([])
      expect(await store.indices.prepareDays()).toEqual([])
      expect(await store.health()).toMatchObject({ ready: true })
      await store.measureShards()
      expect(await rebuild({ since: '2026-01-30' })).toEqual([
        'application-logs-v1.3-2026.01.31',
        'application-logs-v1.3-2026.02.01',
      ])
      expect(await store.removeBefore('2026-01-30')).toBe(31)
      expect((await storedIds(store)).sort()).toEqual(idsOf(stored.slice(30)))
      expect(await indices()).not.toContain('application-logs-v1.2-2026.01.29')
    })

    test('an index that has lost its alias gets it back, and no other index takes its place before', async () => {
      const stored = ofDay(TODAY, 30)
      await store.write(stored, never)
      await rebuild()
      const [index, name] = ['application-logs-v1.2-2026.01.31', 'application-logs-v1-2026.01.31']
      const actions = [{ remove: { index: `${prefix}-${index}`, alias: `${prefix}-${name}` } }]
      await ask(elasticsearch.url, 'POST', '/_aliases', { actions })
      expect(await storedIds(store)).toEqual([])
      expect(await store.indices.prepareDays()).toEqual([])
      expect(await store.indices.apply()).toEqual([
        `corrected: ${prefix}-${index} has its alias ${prefix}-${name} again`,
      ])
      expect((await storedIds(store)).sort()).toEqual(idsOf(stored))
      expect(await store.indices.apply()).toEqual([])
    })

    test('a rebuilt index that hides its metadata keeps no other index from being prepared', async () => {
      await store.write(ofDay('2026-01-29', 3), never)
      await rebuild()
      const settings = `/${prefix}-application-logs-v1.2-2026.01.29/_settings`
      await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.metadata': true })
      expect(await store.indices.apply()).toEqual([])
      expect(await store.indices.prepareDays()).toEqual([])
      await ask(elasticsearch.url, 'PUT', settings, { 'index.blocks.metadata': null })
    })

    test('does not take an index that has lost its alias for the rest of another rebuild', async () => {
      const [index, name] = ['application-logs-v1.2-2026.01.29', 'application-logs-v1-2026.01.29']
      const stored = ofDay('2026-01-29', 30)
      await store.write(stored, never)
      await rebuild()
      const actions = [{ remove: { index: `${prefix}-${index}`, alias: `${prefix}-${name}` } }]
      await ask(elasticsearch.url, 'POST', '/_aliases', { actions })
      await store.write(stored.slice(0, 5), never)
      const refusal = `${prefix}-${index} has lost its alias ${prefix}-${name}`
      await expect(rebuild()).rejects.toThrow(refusal)
      await expect(rebuild({ takeOver: true })).rejects.toThrow(refusal)
      expect(await store.indices.apply()).toEqual([expect.stringContaining(refusal)])

      const inItsPlace = [
        { remove_index: { index: `${prefix}-${name}` } },
        { add: { index: `${prefix}-${index}`, alias: `${prefix}-${name}` } },
      ]
      await ask(elasticsearch.url, 'POST', '/_aliases', { actions: inItsPlace })
      expect(await rebuild()).toContain('application-logs-v1.3-2026.01.29')
      expect(await templatesOf(stored)).toBe(30)
    })

    test.each([1, 3])('a reader of arrivals goes on where it was, in %i shards a day', async (shards) => {
      const sharded = openStore(elasticsearch.url, prefix, { shards }).store
      await sharded.indices.apply()
      const { cursor } = await sharded.tail(EVERYTHING, null, 100)
      await sharded.write(ofDay(YESTERDAY, 100), never)
      const seen: string[] = []
      let next = cursor
      await eventually(async () => {
        const page = await sharded.tail(EVERYTHING, next, 40)
        seen.push(...page.entries.map(({ entry }) => entry.id))
        next = page.cursor
        expect(seen.length).toBeGreaterThanOrEqual(40)
      })
      expect(await rebuild({}, sharded)).toContain('application-logs-v1.2-2026.01.30')
      await sharded.write([documentOf(700, { receivedAt: at(YESTERDAY, 700) })], never)
      await eventually(async () => {
        const page = await sharded.tail(EVERYTHING, next, 40)
        seen.push(...page.entries.map(({ entry }) => entry.id))
        next = page.cursor
        expect(seen).toHaveLength(101)
      })
      expect((await sharded.tail(EVERYTHING, next, 40)).entries).toEqual([])
      expect([...new Set(seen)]).toHaveLength(101)
      await sharded.close()
    })

    test('under writes and reads, every entry is stored and followed once', async () => {
      await store.write(withoutTemplate(documents(3_000)), never)
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      let { cursor } = await store.tail(EVERYTHING, null, 10)
      const writer = openStore(elasticsearch.url, prefix).store
      const written: EntryDocument[] = []
      let isOver = false
      let isWritten = false
      const writing = (async () => {
        while (!isOver) {
          const next = documents(20, 10_000 + written.length)
          for (const outcome of await writer.write(next, never)) expect(outcome).toEqual({ outcome: 'stored' })
          written.push(...next)
          await delay(PACE_MS)
        }
        isWritten = true
      })()
      const followed: string[] = []
      const following = (async () => {
        while (!isWritten || followed.length < written.length) {
          const page = await store.tail(EVERYTHING, cursor, 100)
          followed.push(...page.entries.map(({ entry }) => entry.id))
          cursor = page.cursor
          await delay(PACE_MS)
        }
      })()
      for (let time = 0; time < 2; time++) expect(await rebuild({ since: '2026-01-31' })).toHaveLength(2)
      isOver = true
      await Promise.all([writing, following])
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      expect((await storedIds(store)).sort()).toEqual(idsOf([...documents(3_000), ...written]))
      expect(followed.sort()).toEqual(idsOf(written))
      expect(written.length).toBeGreaterThan(100)
      await writer.close()
    }, 180_000)

    test('an id made from an Idempotency-Key is found on a rebuilt day', async () => {
      const id = uuid(8, 1)
      await store.write([documentOf(1, { id, receivedAt: at(YESTERDAY, 1) })], never)
      await rebuild()
      for (const day of [YESTERDAY, '2026-01-31'])
        expect(await store.write([documentOf(1, { id, receivedAt: at(day, 1) })], never)).toEqual([
          { outcome: 'duplicate' },
        ])
      await eventually(async () => expect(await storedIds(store)).toEqual([id]))
    })

    test('a page of long entries is read whole while their day is replaced, and rejects if it is removed', async () => {
      const long = documentOf(1, { receivedAt: at(YESTERDAY, 1), message: 'x '.repeat(9_000) })
      await store.write([long], never)
      // From now on, the index has another name than the day.
      await rebuild()
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      const read = async (task: () => Promise<unknown>) => {
        const { held, close } = await openHeld('/_mget', task)
        try {
          return await held.search(EVERYTHING, { limit: 10, order: 'asc', after: null })
        } finally {
          await close()
        }
      }
      expect(await read(() => rebuild())).toMatchObject({ entries: [recordOf(long)] })
      expect(await indices()).toContain('application-logs-v1.3-2026.01.30')
      await expect(read(() => store.removeBefore(TODAY))).rejects.toMatchObject({ status: 503 })
    })

    test('long entries are copied, a few at a time', async () => {
      const long = Array.from({ length: 40 }, (_, number) =>
        documentOf(number, { receivedAt: at(YESTERDAY, number), message: `${number} ${'x'.repeat(900_000)}` }),
      )
      await store.write(long, never)
      await rebuild()
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      expect((await storedIds(store)).sort()).toEqual(idsOf(long))
      expect(await store.get(TEAM, 'application', uuid(7, 7))).toEqual(long.map(recordOf)[7])
    }, 60_000)
  })

  describe('of flows', () => {
    test('folds all stored entries; what only the summaries know is carried over', async () => {
      const stored = [...ofDay('2026-01-20', 30), ...documents(30, 100)]
      await store.write(stored, never)
      const gone = documentOf(900, { receivedAt: at('2026-01-02', 900) })
      const underWay = { ...documentOf(901), correlationKey: 'not yet stored' }
      await store.mergeFlows(factsOf([...stored, gone]), never)
      const facts = factsOf([underWay]).map((fact) => ({ ...fact, correlationKey: 'not yet stored' }))
      await store.mergeFlows(facts, never)
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      const flows = async (): Promise<Partial<FlowSummary>[]> => {
        const answer = await ask(elasticsearch.url, 'POST', `/${names().flows}/_search?size=100`)
        const { hits } = answer as { hits: { hits: { _source: FlowSummary }[] } }
        const found = hits.hits.map(({ _source }) => _source)
        return found.sort((a, b) => (a.correlationKey < b.correlationKey ? -1 : 1))
      }
      const before = await flows()
      expect(before).toHaveLength(11)

      // A flow that was lost, and a summary as an earlier release left it.
      const pathOf = (key: string): string => `/${names().flows}/_doc/${flowId(TEAM, key)}`
      await ask(elasticsearch.url, 'DELETE', pathOf('flow-3'))
      const { duration: _, failed: __, ...old } = before.find((flow) => flow.correlationKey === 'flow-4') ?? {}
      await ask(elasticsearch.url, 'PUT', `${pathOf('flow-4')}?refresh=true`, old)
      expect(await flows()).toHaveLength(10)

      expect(await rebuild({ kind: 'flows' })).toEqual(['flows-v1.2'])
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      expect(await flows()).toEqual(before)
      await store.mergeFlows(factsOf(documents(1, 1_003)), never)
      expect(await store.flow(TEAM, 'flow-3')).toMatchObject({ correlationKey: 'flow-3' })
      expect(await store.indices.apply()).toEqual([])
      expect(await rebuild({ kind: 'flows' })).toEqual(['flows-v1.3'])
      expect(await indices()).toContain('flows-v1.3')
      expect(await indices()).not.toContain('flows-v1.2')
    })

    test('tells that they lost their alias, and a write took it', async () => {
      await store.mergeFlows(factsOf(documents(3, 100)), never)
      await rebuild({ kind: 'flows' })
      const [index, alias] = [`${prefix}-flows-v1.2`, names().flows]
      await ask(elasticsearch.url, 'POST', '/_aliases', { actions: [{ remove: { index, alias } }] })
      await store.mergeFlows(factsOf(documents(1, 200)), never)
      expect(await store.indices.apply()).toEqual([expect.stringContaining(`${index} has lost its alias ${alias}`)])
    })

    test('gives their index the number of shards that is set, more or fewer, and nothing else changes', async () => {
      const stored = [...ofDay('2026-01-20', 30), ...documents(300, 100)].map((document, number) => {
        const record = { ...(JSON.parse(document.source) as EntryRecord), correlationKey: `order-${number}` }
        return entryDocument(record, JSON.stringify(record))
      })
      await store.write(stored, never)
      await store.mergeFlows(factsOf(stored), never)
      const flows = async (): Promise<Flow[]> => {
        await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
        const found: Flow[] = []
        for (let after: FlowCursor | null = null; ; ) {
          const page: FlowPage = await store.searchFlows(flowsOf(TEAM), { limit: 100, sort: 'latest', after })
          found.push(...page.flows)
          if (page.next === null) return found
          after = page.next
        }
      }
      const shards = async (): Promise<number> => {
        const path = `/${names().flows}/_settings/index.number_of_shards?flat_settings=true`
        const answer = (await ask(elasticsearch.url, 'GET', path)) as Record<string, { settings: object }>
        return Number(Object.values(Object.values(answer)[0]?.settings ?? {})[0])
      }
      const before = await flows()
      expect([await shards(), before.length]).toEqual([1, 330])

      for (const flowsShards of [3, 2]) {
        const { store: other } = openStore(elasticsearch.url, prefix, { flowsShards })
        expect((await other.indices.apply()).join()).toContain('index.number_of_shards')
        await rebuild({ kind: 'flows' }, other)
        expect([await shards(), await flows()]).toEqual([flowsShards, before])
        await other.close()
      }
      // A process that was started before writes on, and retention finds the old flows in every shard.
      await store.mergeFlows([{ ...(factsOf(documents(1))[0] as FlowDelta), correlationKey: 'order-100' }], never)
      await store.removeBefore('2026-01-21')
      const kept = Array.from({ length: 300 }, (_, number) => `order-${number + 30}`).sort()
      expect((await flows()).map(({ correlationKey }) => correlationKey).toSorted()).toEqual(kept)
      expect(await ask(elasticsearch.url, 'GET', `/${names().flows}/_count`)).toMatchObject({ count: 300 })
    })

    test('holds up no retention run that is under way; the next one removes what it left', async () => {
      const stored = ofDay('2026-01-20', 10)
      await store.write(stored, never)
      await store.mergeFlows(factsOf(stored), never)
      // From now on, the index has another name than the flows.
      await rebuild({ kind: 'flows' })
      const { held, close } = await openHeld('/_bulk', () => rebuild({ kind: 'flows' }))
      await held.removeBefore('2026-01-21')
      expect(await indices()).toContain('flows-v1.3')
      await held.removeBefore('2026-01-21')
      await ask(elasticsearch.url, 'POST', `/${names().flows}/_refresh`)
      expect(await ask(elasticsearch.url, 'GET', `/${names().flows}/_count`)).toMatchObject({ count: 0 })
      await close()
    })

    test('takes no fact of one process for known to another, though versions begin anew', async () => {
      const [fact] = factsOf(documents(1)) as [FlowDelta]
      const until = (second: number) => [{ ...fact, lastAt: `2026-01-31T13:00:0${second}.000Z` }]
      await store.mergeFlows([{ ...fact, correlationKey: 'another' }], never)
      await store.mergeFlows(until(1), never)
      await store.mergeFlows(until(2), never)
      await rebuild({ kind: 'flows' })
      const { store: other } = openStore(elasticsearch.url, prefix)
      await other.mergeFlows(until(9), never)
      await other.close()
      await store.mergeFlows(until(3), never)
      const flow = await ask(elasticsearch.url, 'GET', `/${names().flows}/_doc/${flowId(TEAM, fact.correlationKey)}`)
      expect(flow).toMatchObject({ _source: { lastAt: '2026-01-31T13:00:09.000Z' } })
    })

    test('facts that are folded meanwhile are kept', async () => {
      const stored = documents(2_000)
      await store.write(stored, never)
      await store.mergeFlows(factsOf(stored), never)
      const writer = openStore(elasticsearch.url, prefix).store
      let folded = 0
      let isOver = false
      const folding = (async () => {
        for (; !isOver; folded++) {
          const [fact] = factsOf(documents(1, folded))
          if (fact !== undefined) await writer.mergeFlows([{ ...fact, events: [`event-${folded}`] }], never)
        }
      })()
      await rebuild({ kind: 'flows' })
      isOver = true
      await folding
      await ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`)
      const answer = await ask(elasticsearch.url, 'POST', `/${names().flows}/_search?size=100`)
      const { hits } = answer as { hits: { hits: { _source: { events: string[] } }[] } }
      const events = hits.hits.flatMap(({ _source }) => _source.events)
      expect(events.sort()).toEqual(Array.from({ length: folded }, (_, number) => `event-${number}`).sort())
      await writer.close()
    }, 60_000)
  })

  describe('that fails', () => {
    test('only in that a shard turns some of its lookups away goes on', async () => {
      const stored = ofDay(YESTERDAY, 3)
      await store.write(withoutTemplate(stored), never)
      const proxy = await startFaultProxy(elasticsearch.url)
      let left = 2
      const body = '{"docs":[{"found":true},{"error":{"type":"es_rejected_execution_exception"}},{"found":true}]}'
      proxy.inject(({ path }) =>
        path.includes('/_mget') && left-- > 0 ? { fault: 'answer', status: 200, body } : undefined,
      )
      const { store: unlucky } = openStore(proxy.url, prefix)
      expect(await rebuild({}, unlucky)).toContain(`application-logs-v1.2-${YESTERDAY.replaceAll('-', '.')}`)
      expect(await templatesOf(stored)).toBe(stored.length)
      await unlucky.close()
      await proxy.close()
    })

    test('only in that the answer to its last request is lost goes on with the next day', async () => {
      const stored = [...ofDay('2026-01-29', 10), ...ofDay(YESTERDAY, 10)]
      await store.write(withoutTemplate(stored), never)
      const proxy = await startFaultProxy(elasticsearch.url)
      let isLost = false
      proxy.inject(({ path }) => {
        if (path !== '/_aliases' || isLost) return undefined
        isLost = true
        return { fault: 'lose-answer' }
      })
      const { store: unlucky } = openStore(proxy.url, prefix)
      expect(await rebuild({}, unlucky)).toEqual(
        expect.arrayContaining(['application-logs-v1.2-2026.01.29', 'application-logs-v1.2-2026.01.30']),
      )
      expect(isLost).toBe(true)
      expect(await templatesOf(stored)).toBe(stored.length)
      await unlucky.close()
      await proxy.close()
    })

    const unblocked = async (): Promise<void> => {
      const written = await store.write([documentOf(800, { receivedAt: at(YESTERDAY, 800) })], never)
      expect(written).toEqual([{ outcome: 'stored' }])
    }

    test.each<[string, Partial<RebuildOptions>, string]>([
      [
        'as a record cannot be projected',
        {
          documentOf: () => {
            throw new TypeError('a fault')
          },
        },
        'a fault',
      ],
      [
        'as a document is refused',
        { documentOf: (entry, source) => ({ ...entryDocument(entry, source), timestamp: 'never' }) },
        'was refused',
      ],
      ['as it is stopped', { signal: AbortSignal.abort(new Error('stopped')) }, 'stopped'],
    ])('%s leaves all as it was', async (_, options, reason) => {
      const stored = ofDay(YESTERDAY, 10)
      await store.write(stored, never)
      const before = await indices()
      await expect(rebuild(options)).rejects.toThrow(reason)
      expect(await indices()).toEqual(before)
      await unblocked()
    })

    test.each<[string, (index: string) => Promise<unknown>]>([
      ['is closed', (index) => ask(elasticsearch.url, 'POST', `/${index}/_close`)],
      [
        'lacks a shard',
        async (index) => {
          await ask(elasticsearch.url, 'DELETE', `/${index}`)
          await makeUnassigned(elasticsearch.url, index)
        },
      ],
    ])('as a day %s leaves all as it was, and takes no facts from the flows', async (reason, lose) => {
      const stored = ofDay('2026-01-20', 10)
      await store.write(stored, never)
      await store.mergeFlows(factsOf(stored), never)
      await lose(names().day('application', '2026-01-20'))
      const before = await indices()
      for (const kind of ['flows', 'application'] as const) {
        const failure = await rebuild({ kind }).catch((error: unknown) => error)
        expect(failure).toBeInstanceOf(RebuildError)
        expect((failure as RebuildError).message).toContain(`application-logs-v1-2026.01.20 ${reason}`)
      }
      expect(await indices()).toEqual(before)
    })

    test('as a shard does not confirm the block of writes leaves all as it was: it may still take some', async () => {
      await store.write(ofDay(YESTERDAY, 10), never)
      const before = await indices()
      const proxy = await startFaultProxy(elasticsearch.url)
      const body = '{"acknowledged":false,"shards_acknowledged":false,"indices":[]}'
      proxy.inject(({ path }) => (path.includes('/_block/') ? { fault: 'garble', body } : undefined))
      const { store: unlucky } = openStore(proxy.url, prefix)
      await expect(rebuild({}, unlucky)).rejects.toThrow('is not blocked on all of its shards')
      expect(await indices()).toEqual(before)
      await unblocked()
      await unlucky.close()
      await proxy.close()
    })

    test('as no node takes the new index, as above the watermarks of disks, ends, and leaves nothing behind', async () => {
      await store.write(ofDay(YESTERDAY, 10), never)
      await store.mergeFlows(factsOf(ofDay(YESTERDAY, 10)), never)
      const before = await indices()
      const proxy = await startFaultProxy(elasticsearch.url)
      const body = '{"acknowledged":true,"shards_acknowledged":false,"index":"any"}'
      proxy.inject(({ method, path }) =>
        method === 'PUT' && /-v1\.2[^/]*$/.test(path) ? { fault: 'garble', body } : undefined,
      )
      const { store: unlucky } = openStore(proxy.url, prefix)
      for (const kind of ['application', 'flows'] as const)
        await expect(rebuild({ kind }, unlucky)).rejects.toThrow(/^no node takes the shards of \S+-v1\.2\S*: make room/)
      expect(await indices()).toEqual(before)
      await unlucky.close()
      await proxy.close()
    })

    test('as the templates are not those of this release says what to do', async () => {
      await ask(elasticsearch.url, 'DELETE', `/_index_template/${prefix}-flows-v1`)
      await expect(rebuild()).rejects.toThrow('run `sluice indices apply` first')
    })

    test('as it was killed is cleared only on demand, and goes on then', async () => {
      const stored = ofDay(YESTERDAY, 10)
      await store.write(withoutTemplate(stored), never)
      const old = names().day('application', YESTERDAY)
      await ask(elasticsearch.url, 'PUT', `/${names().nextGeneration(old, old)}/_doc/half?refresh=true`, { id: 'half' })
      await ask(elasticsearch.url, 'PUT', `/${old}/_block/write`)
      expect(await templatesOf(stored)).toBe(0)
      expect((await storedIds(store)).sort()).toEqual(idsOf(stored))
      await expect(rebuild()).rejects.toThrow('--take-over removes it')
      expect(await rebuild({ takeOver: true, since: YESTERDAY })).toContain('application-logs-v1.2-2026.01.30')
      expect(await templatesOf(stored)).toBe(stored.length)
      expect((await storedIds(store)).sort()).toEqual(idsOf(stored))
      await unblocked()
    })
  })
})
