import { afterAll, describe, expect, test } from '@jest/globals'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { describeWithBackends } from '../support/backends.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { runSluice } from '../support/sluice-process.ts'

await describeWithBackends('the program on Kafka', { kafka: 'shared' }, ({ kafka }) => {
  const journal = openKafka(kafka.brokers)
  afterAll(() => journal.close())
  const broker = { KAFKA_BROKERS: kafka.brokers.join(',') }

  const makeTopicsExcept = (missing: string, prefix: string): Promise<void> =>
    journal.createTopics(
      Object.values(TOPICS)
        .filter(({ role }) => role !== missing)
        .map((spec) => ({ ...spec, name: topicName(prefix, spec.role) })),
    )

  describe('what fails ends, though its connections are good', () => {
    test.each([
      ['topics', 'apply'],
      ['registry', 'list'],
    ])('%s %s where the broker refuses to make a topic', async (...command) => {
      const prefix = uniqueName('refused')
      const name = topicName(prefix, 'event-logs')
      // To Kafka the same name: its metrics cannot tell a dot from an underscore.
      await journal.createTopics([{ ...TOPICS['event-logs'], name: name.replaceAll('.', '_') }])
      const { code, stdout, stderr } = await runSluice(command, { ...broker, TOPIC_PREFIX: prefix })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('Creating topics failed')
    })

    test.each(['event-logs', 'dead-letters'])('consumers whose topic %s is missing', async (missing) => {
      const prefix = uniqueName('missing')
      await makeTopicsExcept(missing, prefix)
      const { code, stderr } = await runSluice(['start', '--role', 'consumers'], {
        ...broker,
        ELASTICSEARCH_URL: 'http://127.0.0.1:9',
        AUTO_CREATE: 'false',
        TOPIC_PREFIX: prefix,
        LOG_LEVEL: 'fatal',
        PORT: '0',
      })
      expect(code).toBe(1)
      expect(stderr).toContain(`${prefix}.${missing}.v1`)
    })
  })
})
