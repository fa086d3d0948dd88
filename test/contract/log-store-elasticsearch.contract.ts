import { ask, openStore, removeAll, uniquePrefix } from '../integration/elasticsearch-support.ts'
import { describeWithBackends } from '../support/backends.ts'
import { logStoreContract } from './log-store-suite.ts'

await describeWithBackends('a real Elasticsearch', { elasticsearch: 'shared' }, ({ elasticsearch }) => {
  const makeStore = (shards: number) => async () => {
    const prefix = uniquePrefix()
    const { store } = openStore(elasticsearch.url, prefix, { shards, flowsShards: shards })
    await store.indices.apply()
    return {
      store,
      refresh: () => ask(elasticsearch.url, 'POST', `/${prefix}-*/_refresh`),
      cleanUp: async () => {
        await store.close()
        await removeAll(elasticsearch.url, prefix)
      },
    }
  }
  logStoreContract('Elasticsearch', makeStore(1))
  logStoreContract('Elasticsearch with several shards a day, and of flows', makeStore(3))
})
