import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timestampOf } from '../../../../../shared/contract/timestamp.ts'
import { CalledOffError } from '../../../../../shared/log-store/sqlite/database.ts'
import { openStore, type Store } from '../../../../../shared/log-store/sqlite/store.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { applicationDocument, entriesOf } from '../../../../support/documents.ts'

const TEAM = 'payments'
/** A Team whose entries are a day apart. */
const APART = 'apart'
const DAY_MS = 86_400_000
/** A search that no counts answer. */
const UNCOUNTED = 'receivedAt:>2000-01-01'
const ENTRIES = 2_000
const page = { limit: 10, order: 'desc', after: null } as const
const filter = (q: string) => entriesOf(TEAM, { query: parseQuery(q).query })

let folder: string
let store: ReturnType<typeof openStore>
let asked = 0
let isCalledOff = false

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  store = openStore({
    file: join(folder, 'logs.db'),
    isCalledOff: () => {
      asked += 1
      return isCalledOff
    },
  })
  const documents = Array.from({ length: ENTRIES }, (_, index) =>
    applicationDocument({
      team: TEAM,
      message: `request ${index}`,
      timestamp: timestampOf(index),
      correlationKey: `order-${index}`,
      scopeData: { index },
    }),
  )
  store.calls.write(documents)
  store.calls.write(
    documents.map((_, day) =>
      applicationDocument({ team: APART, timestamp: timestampOf((1 + day) * DAY_MS), correlationKey: 'long' }),
    ),
  )
  while (store.calls.countMore());
  store.calls.mergeFlows(deltasOf(documents))
})
afterAll(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const flowPage = { limit: 10, sort: 'latest', after: null } as const
const STATES = { lately: '1970-01-01T00:00:00.000Z', ends: [], waits: [] } as const

/** Every read that may go through many rows. */
const READS: readonly (readonly [string, (calls: Store) => unknown])[] = [
  ['a count', (calls) => calls.count(filter(UNCOUNTED))],
  ['a histogram', (calls) => calls.histogram(filter(UNCOUNTED), 60)],
  ['facets', (calls) => calls.facets(filter(UNCOUNTED), 10)],
  ['a sum of counts', (calls) => calls.count(entriesOf(APART))],
  ['a histogram of counts', (calls) => calls.histogram(entriesOf(APART), 60)],
  ['facets of counts', (calls) => calls.facets(entriesOf(APART), 10)],
  ['facets of a word', (calls) => calls.facets(filter('request'), 10)],
  ['a list that finds nothing', (calls) => calls.search(filter('eventName:none'), page)],
  ['a list of a word that finds nothing', (calls) => calls.search(filter('request eventName:none'), page)],
  ['a phrase', (calls) => calls.count(filter('"request 1" OR request'))],
  ['a tail', (calls) => calls.tail(filter('eventName:none'), '0', 10)],
  ['flows that are not there', (calls) => calls.searchFlows(flowsOf(TEAM, { keyPart: 'no such key' }), flowPage)],
  ['the longest flow', (calls) => calls.searchFlows(flowsOf(TEAM), { ...flowPage, sort: 'longest' })],
  ['a count of flows', (calls) => calls.countFlows(flowsOf(TEAM), STATES)],
  ['a flow of many entries', (calls) => calls.flow(APART, 'long')],
  ['a tally of flows', (calls) => calls.tallyFlows(flowsOf(TEAM), STATES)],
]

describe('a read that goes through many rows asks whether to go on, and is whole when it is made again', () => {
  test.each(READS)('%s', (_name, read) => {
    isCalledOff = false
    asked = 0
    const found = read(store.calls)
    expect(asked).toBeGreaterThanOrEqual(Math.floor(ENTRIES / 256))
    expect(asked).toBeLessThan(ENTRIES)
    isCalledOff = true
    asked = 0
    expect(() => read(store.calls)).toThrow(CalledOffError)
    expect(asked).toBe(1)
    isCalledOff = false
    expect(read(store.calls)).toEqual(found)
  })
})

const INDEX = { field: 'scope', path: 'index' } as const
const GROUP_LIMITS = { groupsMax: 2, bucketsMax: 1 }

test.each<[string, (calls: Store) => unknown]>([
  ['groups', (calls) => calls.groups(filter(''), 'template', GROUP_LIMITS)],
  ['groups of a value', (calls) => calls.groups(entriesOf(APART), INDEX, GROUP_LIMITS)],
  [
    'a series',
    (calls) => calls.series(entriesOf(APART), { fn: 'p95', of: INDEX, by: null, seriesMax: 1, bucketsMax: 1 }),
  ],
  ['a list of a template', (calls) => calls.search({ ...entriesOf(APART), template: '00000000000ab' }, page)],
])('%s by segments is ended, too, and is whole when it is made again', (_name, read) => {
  const found = read(store.calls)
  isCalledOff = true
  expect(() => read(store.calls)).toThrow(CalledOffError)
  isCalledOff = false
  expect(read(store.calls)).toEqual(found)
})

test.each(['asc', 'desc'] as const)('a page deep in a list reads its own rows alone (%s)', (order) => {
  const range = { from: '1970-01-01T00:00:00.000Z', to: timestampOf((2 + ENTRIES) * DAY_MS) }
  const day = order === 'asc' ? ENTRIES - 20 : 20
  const after = { timestamp: timestampOf(day * DAY_MS), id: '' }
  asked = 0
  expect(store.calls.search(entriesOf(APART, range), { limit: 10, order, after }).sources).toHaveLength(10)
  expect(asked).toBeLessThanOrEqual(1)
})
