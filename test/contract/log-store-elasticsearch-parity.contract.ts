import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { LEVELS } from '../../shared/contract/levels.ts'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import {
  type Cursor,
  type EntryFilter,
  FLOW_SORTS,
  FLOW_STATES,
  type FlowCursor,
  type FlowFilter,
  type FlowPage,
  type LogStore,
  type Page,
} from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import {
  EVERYTHING,
  never,
  openStore,
  removeAll,
  TEAM,
  uniquePrefix,
  uuid,
} from '../integration/elasticsearch-support.ts'
import { describeWithBackends } from '../support/backends.ts'
import { applicationDocument, eventDocument } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import * as fc from '../support/fast-check.ts'
import { deltasOf } from './log-store-flows.ts'
import { flowsOf } from './log-store-rig.ts'

const GROUP_FIELDS = [
  'level',
  'environment',
  'category',
  'template',
  'exceptionGroup',
  'correlationKey',
  'eventId',
] as const
const TEAMS = [TEAM, 'other']
const TIMES = [
  '2026-01-31T09:30:00.123Z',
  '2026-01-31T09:30:00.1234Z',
  '2026-01-31T09:30:00.123456789Z',
  '2026-01-31T12:00:00.000Z',
  '2026-02-01T00:00:00.000Z',
  '1970-01-01T00:00:00.000Z',
  '2261-12-31T23:59:59.999999999Z',
]
const DAYS = ['2026-01-29', '2026-01-31', '2026-02-01']
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null })
const name = fc.constantFrom('a', 'a.b', 'a.b.c', 'aB', 'ä', 'b')

const fields = fc.record({
  team: fc.constantFrom(...TEAMS),
  kind: fc.constantFrom('event' as const, 'application' as const),
  timestamp: fc.oneof(
    fc.constantFrom(...TIMES),
    fc
      .date({ min: new Date('2026-01-01'), max: new Date('2026-02-01'), noInvalidDate: true })
      .map((at) => at.toISOString()),
  ),
  day: fc.constantFrom(...DAYS),
  level: fc.constantFrom(...LEVELS),
  environment: name,
  correlationKey: maybe(fc.constantFrom('order-1', 'ORDER-1', 'order_2', 'or*er', 'größe')),
  event: maybe(name),
  step: maybe(name),
  project: name,
  category: fc.constantFrom('', 'a', 'a.b', 'a.b.c', 'aB', 'b'),
})

const sampled = fc
  .sample(fields, { numRuns: 400, seed: 3 })
  .map(({ day, kind, event, step, project, category, ...common }, number): EntryDocument => {
    const entry = { ...common, id: uuid(7, number), receivedAt: `${day}T10:00:00.000Z` }
    return kind === 'event'
      ? eventDocument({ ...entry, event, step })
      : applicationDocument({ ...entry, project, categoryName: category, message: `entry ${number % 20}` })
  })

const range = fc
  .tuple(maybe(fc.constantFrom(...TIMES)), maybe(fc.constantFrom(...TIMES)))
  .map(([from, to]) => (from !== null && to !== null && compareTimestamps(from, to) > 0 ? [to, from] : [from, to]))

const filter: fc.Arbitrary<EntryFilter> = fc
  .record({
    team: fc.constantFrom(...TEAMS, 'none'),
    kinds: fc.subarray(['event', 'application'] as const),
    range,
    levelMin: maybe(fc.constantFrom(...LEVELS)),
    levelMax: maybe(fc.constantFrom(...LEVELS)),
    environment: fc.option(name, { nil: null, freq: 1 }),
    category: fc.option(name, { nil: null, freq: 1 }),
    event: fc.option(name, { nil: null, freq: 1 }),
  })
  .map(({ range: [from = null, to = null], ...rest }) => ({ ...EVERYTHING, ...rest, from, to }))

const states = fc.record({
  is: fc.constantFrom(...FLOW_STATES),
  lately: fc.constantFrom(...TIMES),
  ends: fc.array(fc.record({ event: name, steps: fc.array(name, { minLength: 1, maxLength: 3 }) }), { maxLength: 3 }),
  waits: fc.uniqueArray(
    fc.record({
      event: name,
      lately: fc.constantFrom(...TIMES),
      places: fc.array(fc.record({ step: name, lately: fc.constantFrom(...TIMES) }), { maxLength: 3 }),
    }),
    { maxLength: 2, selector: ({ event }) => event },
  ),
})

const flowFilter: fc.Arbitrary<FlowFilter> = fc
  .record({
    team: fc.constantFrom(...TEAMS, 'none'),
    keyPart: maybe(fc.constantFrom('', 'ORDER', 'r-1', '*', '_', 'GRÖSSE', 'GRÖßE', 'x'.repeat(2_000))),
    range,
    levelMin: maybe(fc.constantFrom(...LEVELS)),
    environment: fc.option(name, { nil: null, freq: 1 }),
    event: fc.option(name, { nil: null, freq: 1 }),
    step: fc.option(name, { nil: null, freq: 1 }),
    project: fc.option(name, { nil: null, freq: 1 }),
    state: maybe(states),
  })
  .map(({ range: [from = null, to = null], ...rest }) => ({ ...rest, from, to }))

await describeWithBackends(
  'Elasticsearch and SQLite answer alike',
  { elasticsearch: 'shared' },
  ({ elasticsearch }) => {
    const prefix = uniquePrefix()
    const folder = mkdtempSync(join(tmpdir(), 'sluice-parity-'))
    let stores: readonly [LogStore, LogStore]

    beforeAll(async () => {
      const { store: elastic } = openStore(elasticsearch.url, prefix)
      await elastic.indices.apply()
      const logger = createLogger('silent', 'test')
      stores = [elastic, await createSqliteLogStore({ file: join(folder, 'logs.db'), thread: 'same', logger })]
      for (const store of stores) {
        await store.write(sampled, never)
        await store.mergeFlows(deltasOf(sampled), never)
      }
      await eventually(async () => {
        expect(await elastic.count(EVERYTHING)).toBe(sampled.filter(({ team }) => team === TEAM).length)
        const page = { limit: 10, sort: 'latest', after: null } as const
        expect((await elastic.searchFlows(flowsOf(TEAM), page)).flows).toHaveLength(5)
      })
    }, 60_000)

    afterAll(async () => {
      await Promise.all(stores.map((store) => store.close()))
      rmSync(folder, { recursive: true, force: true })
      await removeAll(elasticsearch.url, prefix)
    })

    /** Asks both the same. */
    async function expectAlike<T>(question: (store: LogStore) => Promise<T>): Promise<T> {
      const [elastic, sqlite] = await Promise.all([question(stores[0]), question(stores[1])])
      expect(elastic).toEqual(sqlite)
      return sqlite
    }

    const property = <T>(of: fc.Arbitrary<T>, check: (value: T) => Promise<void>): Promise<void> =>
      Promise.resolve(fc.assert(fc.asyncProperty(of, check), { numRuns: 60, seed: 4 }))

    test('pages, in both directions, to the end', async () => {
      await property(fc.tuple(filter, fc.constantFrom('asc' as const, 'desc' as const)), async ([sought, order]) => {
        for (let after: Cursor | null = null, pages = 0; pages < 5; pages++) {
          const { next }: Page = await expectAlike((store) => store.search(sought, { limit: 40, order, after }))
          if (next === null) return
          after = next
        }
      })
    }, 120_000)

    test('counts, histograms, facets and groups', async () => {
      await property(fc.tuple(filter, fc.integer({ min: 2, max: 60 })), async ([sought, most]) => {
        await expectAlike((store) => store.count(sought))
        await expectAlike((store) => store.histogram(sought, most))
        await expectAlike((store) => store.facets(sought, most))
        for (const by of GROUP_FIELDS)
          await expectAlike((store) => store.groups(sought, by, { groupsMax: most, bucketsMax: most }))
      })
    }, 120_000)

    test('one entry, for its own Team only', async () => {
      for (const { team, kind, id } of sampled.slice(0, 20)) {
        const found = await expectAlike((store) => store.get(team, kind, id))
        expect(found?.id).toBe(id)
        expect(await expectAlike((store) => store.get(`${team}x`, kind, id))).toBeUndefined()
        expect(await expectAlike((store) => store.get(team, kind, `${id}x`))).toBeUndefined()
      }
    })

    test('flows, and pages of them', async () => {
      await property(fc.tuple(flowFilter, fc.constantFrom(...FLOW_SORTS)), async ([sought, sort]) => {
        const { state } = sought
        if (state !== null) {
          await expectAlike((store) => store.countFlows({ ...sought, state: null }, state))
          await expectAlike((store) => store.tallyFlows({ ...sought, state: null }, state))
        }
        for (let after: FlowCursor | null = null, pages = 0; pages < 5; pages++) {
          const { next }: FlowPage = await expectAlike((store) => store.searchFlows(sought, { limit: 2, sort, after }))
          if (next === null) return
          after = next
        }
      })
      for (const key of ['order-1', 'ORDER-1', 'or*er', 'nothing']) await expectAlike((store) => store.flow(TEAM, key))
    }, 120_000)
  },
)
