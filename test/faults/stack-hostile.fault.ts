import { startFull } from '../fuzz/full-target.ts'
import { describeWithBackends } from '../support/backends.ts'
import { describeHostile } from '../support/hostile-scenarios.ts'

const needs = { kafka: { brokers: 1, inMemory: true }, elasticsearch: { inMemory: true } } as const

await describeWithBackends('attacks beside honest clients, full stack', needs, ({ kafka, elasticsearch }) =>
  describeHostile((options) => startFull({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url }, options)),
)
