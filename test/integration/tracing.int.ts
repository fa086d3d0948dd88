import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { scanAll } from '../support/journal-fixture.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { traceparentOf } from '../support/memory-tracer.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'
import { startTraceReceiver } from '../support/trace-receiver.ts'

const KEY = 'trace-int-key-0123456789abcdef0123456789ab'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

await describeWithBackends(
  'traces on Kafka and Elasticsearch',
  { kafka: 'shared', elasticsearch: 'shared' },
  (servers) => {
    const journal = openKafka(servers.kafka.brokers)
    const folder = temporaryFolder()
    let server: SluiceProcess | undefined
    afterAll(async () => {
      server?.kill('SIGKILL')
      await server?.exited
      folder.remove()
      await journal.close()
    })

    test('a record has the span of its request where that is traced, and bulk requests are parts of the chunk', async () => {
      const receiver = await startTraceReceiver()
      const file = join(folder.path, 'registry.yaml')
      writeFileSync(file, `teams: [{ id: t, apiKeys: ["${KEY}"] }]\nprojects: [{ id: ${PROJECT}, team: t }]\n`)
      const prefix = uniqueName('trace')
      const started = await startSluice({
        KAFKA_BROKERS: servers.kafka.brokers.join(','),
        ELASTICSEARCH_URL: servers.elasticsearch.url,
        ELASTICSEARCH_REPLICAS: '0',
        UNSAFE_TOPICS: 'allow',
        TOPIC_PREFIX: prefix,
        INDEX_PREFIX: prefix,
        DATA_DIR: join(folder.path, 'data'),
        REGISTRY_FILE: file,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_TRACES_SAMPLER_ARG: '1',
      })
      server = started
      const [traced, untraced] = [traceparentOf(1), traceparentOf(2, '00')]
      for (const traceparent of [traced, untraced]) {
        const body = { uniqueIdentifier: PROJECT, categoryName: 'Cart', message: 'traced', level: 'Information' }
        const answer = await fetch(`${started.url}/api/ApplicationLogs`, {
          method: 'POST',
          headers: { 'x-api-key': KEY, 'content-type': 'application/json', traceparent },
          body: JSON.stringify(body),
        })
        expect(await answer.json()).toMatchObject({ success: true })
      }
      const found = createClient(started.url, KEY)
      await eventually(async () => expect(await found.all('/api/application-logs?q=traced')).toHaveLength(2))
      started.kill('SIGTERM')
      expect(await started.exited).toBe(0)
      await receiver.close()

      const topic = `${prefix}.application-logs.v1`
      const request = receiver.spans.find(({ name }) => name === 'POST /api/ApplicationLogs')
      const { traceId = '', spanId = '' } = request ?? {}
      expect(traceId).toBe(traced.slice(3, 35))
      const records = await scanAll(journal, topic)
      expect(records.map(({ headers }) => headers['traceparent']).toSorted()).toEqual(
        [`00-${traceId}-${spanId}-01`, untraced].toSorted(),
      )
      expect(receiver.spans.find(({ name }) => name === `send ${topic}`)).toMatchObject({
        traceId,
        parentSpanId: spanId,
      })
      const group = `${prefix}.application-logs.v1`
      const chunk = receiver.spans.find(({ attributes }) => attributes['messaging.consumer.group.name'] === group)
      expect(chunk).toMatchObject({
        name: `process ${topic}`,
        links: [{ traceId, spanId }],
        attributes: { 'messaging.system.name': 'kafka' },
      })
      const bulks = receiver.spans.filter(({ parentSpanId }) => parentSpanId === chunk?.spanId)
      expect(bulks).not.toEqual([])
      for (const bulk of bulks)
        expect(bulk).toMatchObject({ name: 'bulk', kind: 'CLIENT', attributes: { 'db.system.name': 'elasticsearch' } })
    }, 180_000)
  },
)
