import { expect, test } from 'vitest'
import type { ElasticsearchRequest } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { createFlowReader } from '../../../../../shared/log-store/elasticsearch/flow-reader.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createSearcher } from '../../../../../shared/log-store/elasticsearch/searcher.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'

const TOLD = ['correlationKey', 'firstAt', 'lastAt', 'days']

/** Elasticsearch with flows of this many groups each, whose Steps have identifiers of this length. */
function readerOfFlows(count: number, groupsOfEach: number, identifierLength: number) {
  const keys = Array.from({ length: count }, (_, index) => `flow-${index}`)
  const first = { hits: { hits: [{ fields: { timestamp: ['2026-03-01T11:00:00.000Z'] } }] } }
  let largest = 0
  const send = async ({ path, body = {} }: ElasticsearchRequest) => {
    const { size, aggs, query } = body as { size: number; aggs?: object; query: object }
    if (path.startsWith('/sluice-flows')) {
      const time = '2026-03-01T11:59:59.000Z'
      const hits = keys.slice(0, size).map((correlationKey) => ({
        _source: { correlationKey, firstAt: time, lastAt: time, days: ['2026-03-01'] },
        sort: [time, correlationKey],
      }))
      return { timed_out: false, hits: { hits } } as never
    }
    if (aggs === undefined) return { timed_out: false, hits: { hits: Array(size).fill({}) } } as never
    const asked = keys.filter((key) => JSON.stringify(query).includes(`"${key}"`))
    const { after } = (aggs as { groups: { composite: { after?: { at: number } } } }).groups.composite
    const from = after?.at ?? 0
    const all = asked.length * groupsOfEach
    largest = Math.max(largest, from)
    const buckets = Array.from({ length: Math.min(1_000, all - from) }, (_, index) => ({
      key: {
        correlationKey: asked[Math.floor((from + index) / groupsOfEach)],
        event: 'order',
        step: String(from + index).padEnd(identifierLength, '-'),
        project: null,
        level: 2,
      },
      doc_count: 1,
      first,
      last: first,
    }))
    return { timed_out: false, aggregations: { groups: { buckets, after_key: { at: from + 1_000 } } } } as never
  }
  const connection = { send, close: async () => undefined }
  const names = indexNames('sluice')
  const searcher = createSearcher(connection, names, { now: () => Date.parse('2026-03-01T12:00:00Z') })
  return { reader: createFlowReader({ connection, searcher, names }), largest: () => largest }
}

test.each([
  ['a thousand groups each', 1_000, 10],
  ['two hundred groups each with long identifiers', 200, 1_100],
])('a page ends early for flows of %s', async (_, groupsOfEach, identifierLength) => {
  const { reader, largest } = readerOfFlows(100, groupsOfEach, identifierLength)
  const filter = { team: 'a', keyPart: null, from: null, to: null, levelMin: null, state: null } as const
  const places = { environment: null, event: null, step: null, project: null }
  const { flows, next } = await reader.searchFlows(
    { ...filter, ...places },
    { limit: 100, sort: 'latest', after: null },
  )
  expect(flows).toHaveLength(25)
  expect(next).toMatchObject({ correlationKey: flows.at(-1)?.correlationKey })
  expect(largest() * identifierLength).toBeLessThan(20_000_000)
})

test('flows are read without the values that find them, which may be a megabyte in each', async () => {
  const requests: ElasticsearchRequest[] = []
  const connection = {
    send: async (request: ElasticsearchRequest) => {
      requests.push(request)
      return { timed_out: false } as never
    },
    close: async () => undefined,
  }
  const names = indexNames('sluice')
  const reader = createFlowReader({
    connection,
    searcher: createSearcher(connection, names, { now: () => Date.parse('2026-03-01T12:00:00Z') }),
    names,
  })
  await reader.searchFlows(flowsOf('a'), { limit: 1_000, sort: 'worst', after: null })
  await reader.flow('a', 'order-4711')
  const [list, one] = requests
  expect(list?.body).toMatchObject({ _source: TOLD })
  expect(one?.query).toEqual({ _source_includes: TOLD.join(',') })
})
