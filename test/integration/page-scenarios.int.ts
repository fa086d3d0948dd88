import { describeWithBackends } from '../support/backends.ts'
import { describePageScenarios } from '../support/page-scenarios.ts'
import { startStackStand } from '../support/page-stand.ts'

await describeWithBackends(
  'Kafka and Elasticsearch',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) =>
    describePageScenarios('the page on the full stack', () => startStackStand(kafka.brokers, elasticsearch.url)),
)
