import { Admin } from '@platformatic/kafka'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import type { KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { type MirrorMaker, startMirrorMaker } from '../stack/mirror-maker.ts'
import { describeWithBackends } from '../support/backends.ts'
import { sourceTopics } from '../support/consumers-records.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { type FullStack, startFullStack } from '../support/full-stack.ts'
import { caughtUp, prove } from '../support/full-stack-ledger.ts'
import { openKafka } from '../support/kafka.ts'

const PATIENCE_MS = 240_000 * FAULT_SCALE
const COPIED_WITHIN_MS = 120_000
const needs = { kafka: { brokers: 1 }, standby: { brokers: 1 }, elasticsearch: 'shared' } as const

await describeWithBackends('two Kafka clusters, full stack', needs, ({ kafka, standby, elasticsearch }) => {
  let stack: FullStack
  let mirror: MirrorMaker
  let onStandby: KafkaJournal
  const brokersOf = (cluster: typeof kafka) => ({ KAFKA_BROKERS: cluster.brokers.join(',') })
  const parts = () => [stack.gateway, stack.consumers, stack.views]

  beforeAll(async () => {
    stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
    await stack.command(['topics', 'apply'])
    onStandby = openKafka(standby.brokers)
    mirror = await startMirrorMaker(kafka.brokers, standby.brokers, stack.topicPrefix)
  }, PATIENCE_MS)

  afterAll(async () => {
    await mirror?.stop()
    await onStandby?.close()
    await stack?.stop()
  }, 60_000)

  /** Waits until records are copied and each projection has a position on the copy. */
  async function followed(copy: KafkaJournal): Promise<void> {
    await eventually(async () => {
      for (const view of PROJECTION_NAMES) {
        for (const topic of sourceTopics(stack.topicPrefix, view)) {
          const positions = await copy.positions(topic, groupName(stack.topicPrefix, view))
          if (positions.every(({ committed }) => committed === null)) throw new Error(`${view} has no positions`)
        }
      }
    }, COPIED_WITHIN_MS)
  }

  const endsOf = async (journal: KafkaJournal): Promise<readonly number[]> => {
    const topics = sourceTopics(stack.topicPrefix, 'flows')
    const positions = await Promise.all(topics.map((topic) => journal.positions(topic, 'any')))
    return positions.flat().map(({ firstOffset, endPosition }) => endPosition - firstOffset)
  }

  test(
    'the standby takes over from brokers that are lost; the records that it lacks are read once these are back',
    async () => {
      await prove({ ...stack, journal: onStandby }, 'fail-over', async (load) => {
        await followed(onStandby)
        await mirror.stop()
        await stack.consumers.end('SIGKILL')
        // Answered, and nowhere but on the brokers that are lost.
        await load.answeredMore(100)
        await kafka.kill(1)
        for (const part of parts()) {
          await part.end('SIGKILL')
          // The registry is a copy too.
          await part.start({ ...brokersOf(standby), REGISTRY_FILE: '' })
        }
        await load.answeredMore(300)
        await kafka.restart(1)
        const old = await stack.startAnother('consumers')
        await caughtUp(stack)
        old.kill('SIGTERM')
        expect(await old.exited).toBe(0)
      })
    },
    PATIENCE_MS,
  )

  test(
    'the emptied old cluster follows the standby, and takes over again in order',
    async () => {
      await empty(kafka.brokers)
      mirror = await startMirrorMaker(standby.brokers, kafka.brokers, stack.topicPrefix)
      await prove(stack, 'fail-back', async () => {
        await followed(stack.journal)
        expect(await stack.gateway.end('SIGTERM')).toBe(0)
        await eventually(
          async () => expect(await endsOf(stack.journal)).toEqual(await endsOf(onStandby)),
          COPIED_WITHIN_MS,
        )
        for (const part of [stack.consumers, stack.views]) expect(await part.end('SIGTERM')).toBe(0)
        await mirror.stop()
        for (const part of parts()) await part.start({ ...brokersOf(kafka), REGISTRY_FILE: '' })
      })
    },
    PATIENCE_MS,
  )
})

/** Removes all topics and groups of a cluster. */
async function empty(brokers: readonly string[]): Promise<void> {
  const admin = new Admin({ clientId: 'operator', bootstrapBrokers: [...brokers], retries: 10 })
  try {
    await admin.deleteTopics({ topics: await admin.listTopics({ includeInternals: false }) })
    await eventually(async () => {
      const groups = [...(await admin.listGroups()).keys()]
      if (groups.length > 0) await admin.deleteGroups({ groups })
    }, 60_000)
    await eventually(async () => (await admin.listTopics({ includeInternals: false })).length === 0)
  } finally {
    await admin.close()
  }
}
