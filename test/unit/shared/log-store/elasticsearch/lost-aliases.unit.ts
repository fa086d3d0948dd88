import { expect, test } from 'vitest'
import {
  ElasticsearchError,
  type ElasticsearchRequest,
} from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { findLostAliases, findSurplus } from '../../../../../shared/log-store/elasticsearch/lost-aliases.ts'

const names = indexNames('sluice')
const [first, second, third] = ['v1', 'v1.2', 'v1.3'].map((version) => `sluice-event-logs-${version}-2026.01.31`) as [
  string,
  string,
  string,
]

/** An index as Elasticsearch tells it, with an id of six letters and more. */
const indexOf = (id: string, { alias = '', filledFrom = '', madeAt = 0 } = {}) => ({
  ...(alias !== '' && { aliases: { [alias]: {} } }),
  settings: { index: { uuid: `${id}-the-rest`, creation_date: String(madeAt) } },
  ...(filledFrom !== '' && {
    mappings: { _meta: { origins: [{ key: `${filledFrom}0` }, { key: `${filledFrom}11` }] } },
  }),
})

const lostOf = async (answer: object) =>
  findLostAliases({ send: async <Answer>() => answer as Answer, close: async () => undefined }, names)

test.each<[string, object]>([
  ['an index with its own name', { [first]: indexOf('aaaaaa') }],
  ['a rebuilt one with its alias', { [second]: indexOf('bbbbbb', { alias: first, filledFrom: 'aaaaaa' }) }],
  ['a copy that is being filled', { [first]: indexOf('aaaaaa'), [second]: indexOf('bbbbbb', { madeAt: 1 }) }],
  [
    'a copy that is about to get the name',
    {
      [second]: indexOf('bbbbbb', { alias: first, filledFrom: 'aaaaaa' }),
      [third]: indexOf('cccccc', { filledFrom: 'bbbbbb' }),
    },
  ],
  [
    'one of two that have the same alias',
    {
      [second]: indexOf('bbbbbb', { alias: first, filledFrom: 'aaaaaa' }),
      [third]: indexOf('cccccc', { alias: first, filledFrom: 'aaaaaa' }),
    },
  ],
  ['an index of somebody else', { 'sluice-event-logs-v1.old': indexOf('dddddd') }],
])('no alias is lost by %s', async (_, answer) => {
  expect(await lostOf(answer)).toEqual([])
})

test('a name is not lost that an index with a block of metadata may have', async () => {
  const reason = `index [${second}] blocked by: [FORBIDDEN/9/index metadata (api)];`
  const connection = {
    send: async <Answer>({ path }: ElasticsearchRequest) => {
      if (!path.includes(`,-${second}`)) throw new ElasticsearchError('blocked', 403, { reason })
      return { [third]: indexOf('cccccc') } as Answer
    },
    close: async () => undefined,
  }
  expect(await findLostAliases(connection, names)).toEqual([])
})

test('of several generations without a name the first is the whole one', async () => {
  const answer = { [third]: indexOf('cccccc'), [second]: indexOf('bbbbbb', { filledFrom: 'aaaaaa' }) }
  expect(await lostOf(answer)).toEqual([{ index: second, name: first, taker: undefined }])
})

test('an index that was made under the name is told', async () => {
  const answer = { [first]: indexOf('dddddd'), [second]: indexOf('bbbbbb', { filledFrom: 'aaaaaa' }) }
  expect(await lostOf(answer)).toEqual([{ index: second, name: first, taker: first }])
})

test('an index of flows, which has no origins, has lost its name to one that was made later', async () => {
  const [flows, rebuilt] = ['sluice-flows-v1', 'sluice-flows-v1.2']
  const answer = { [flows]: indexOf('dddddd', { madeAt: 2 }), [rebuilt]: indexOf('bbbbbb', { madeAt: 1 }) }
  expect(await lostOf(answer)).toEqual([{ index: rebuilt, name: flows, taker: flows }])
})

const HOLDS = { alias: first }

test.each<[string, Readonly<Record<string, object>>, readonly string[]]>([
  [
    'days and flows, rebuilt or not',
    { 'sluice-event-logs-v1-2026.02.01': {}, [second]: HOLDS, 'sluice-flows-v1.2': { alias: 'sluice-flows-v1' } },
    [],
  ],
  ['a day that somebody copied, whose name the copy took', { [`${first}-new`]: HOLDS }, []],
  [
    'a clone of a day',
    { [first]: {}, [`${first}-copy`]: {} },
    [`reads find ${first}-copy in the place of no day: close the index, or remove it or its alias`],
  ],
  [
    'a day restored under another name, with its alias',
    { [second]: HOLDS, [`restored-${second}`]: HOLDS },
    [expect.stringContaining(`reads find restored-${second} and ${second} for ${first}: of all but one`)],
  ],
  [
    'two generations with the same alias',
    { [third]: HOLDS, [second]: HOLDS },
    [`reads find ${second} and ${third} for ${first}: of all but one, close the index, or remove it or its alias`],
  ],
])('of the indices that reads find, those are told that show entries twice: %s', async (_, found, told) => {
  const answer = Object.fromEntries(Object.entries(found).map(([index, facts]) => [index, indexOf(index, facts)]))
  const asked: ElasticsearchRequest[] = []
  const connection = {
    send: async <Answer>(request: ElasticsearchRequest) => {
      asked.push(request)
      return answer as Answer
    },
    close: async () => undefined,
  }
  expect(await findSurplus(connection, names)).toEqual(told)
  // A closed index shows nothing, and an index without an alias that reads look for is found by none.
  expect(asked).toMatchObject([
    {
      path: '/sluice-event-logs-v1-*,sluice-application-logs-v1-*,sluice-flows-v1/_alias',
      query: { expand_wildcards: 'open' },
    },
  ])
})
