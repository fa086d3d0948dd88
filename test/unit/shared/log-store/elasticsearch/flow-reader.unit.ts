import { expect, test } from 'vitest'
import type { ElasticsearchRequest } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { createFlowReader } from '../../../../../shared/log-store/elasticsearch/flow-reader.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createSearcher } from '../../../../../shared/log-store/elasticsearch/searcher.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'

const TOLD = ['correlationKey', 'firstAt', 'lastAt', 'days']

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
