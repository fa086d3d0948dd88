import { afterAll, beforeAll, expect, test } from 'vitest'
import { DLQ_HEADERS } from '../../consumers/dead-letters.ts'
import type { TopicRole } from '../../shared/contract/topics.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { headerText } from '../../shared/journal/journal.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { type FullStack, floodOf, POISON, poisonOf, startFullStack, withOperator } from '../support/full-stack.ts'
import { prove } from '../support/full-stack-ledger.ts'

const PATIENCE_MS = 240_000 * FAULT_SCALE
const PARTITION = 3
/** More than DEAD_LETTER_RUN_MAX allows in a row. */
const FLOOD = 150

await describeWithBackends(
  'poison on the topics, full stack',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let stack: FullStack
    beforeAll(async () => {
      stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
    }, PATIENCE_MS)
    afterAll(() => stack?.stop(), 60_000)

    const topicOf = (role: TopicRole): string => topicName(stack.topicPrefix, role)

    /** How many dead letters there are, by view, topic and reason. */
    const deadLetters = async (): Promise<Record<string, number>> => {
      const counts: Record<string, number> = {}
      for await (const { headers } of stack.journal.scan(topicOf('dead-letters'))) {
        const names = [DLQ_HEADERS.projection, DLQ_HEADERS.topic, DLQ_HEADERS.exceptionClass]
        const place = names.map((name) => headerText(headers, name)?.replace(`${stack.topicPrefix}.`, '')).join(' ')
        counts[place] = (counts[place] ?? 0) + 1
      }
      return counts
    }
    /** Waits until these views have halted, as metrics and readiness show, and ends the process, which the others have kept up. */
    const consumersHalt = async (views: readonly string[], reason: string): Promise<void> => {
      const { url, printed } = stack.consumers.process()
      await eventually(async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text()
        const halted = [...metrics.matchAll(/^sluice_consumer_halted\{view="([a-z-]+)"\} 1$/gm)].map(([, view]) => view)
        expect(halted.toSorted()).toEqual(views)
      }, PATIENCE_MS)
      expect((await fetch(`${url}/health/ready`)).status).toBe(503)
      await eventually(() => expect(printed()).toContain(reason))
      expect(await stack.consumers.end('SIGTERM')).toBe(0)
    }

    test(
      'poison of every kind becomes dead letters, one a view, and everything else is stored',
      async () => {
        await prove(stack, 'poison', async () => {
          for (const [kind, role] of [
            ['event', 'event-logs'],
            ['application', 'application-logs'],
          ] as const) {
            await stack.journal.append({ topic: topicOf(role), partition: PARTITION, records: poisonOf(kind) })
          }
        })
        const expected = Object.keys(POISON).flatMap((reason) => {
          // A value that is null and one without bytes have the same reason.
          const count = reason === 'empty_value' ? 2 : 1
          return [
            [`event-logs event-logs.v1 ${reason}`, count],
            [`flows event-logs.v1 ${reason}`, count],
            [`application-logs application-logs.v1 ${reason}`, count],
            [`flows application-logs.v1 ${reason}`, count],
          ]
        })
        expect(await deadLetters()).toEqual(Object.fromEntries(expected))
      },
      PATIENCE_MS,
    )

    test(
      'without the topic of dead letters a view halts and drops nothing, and goes on once it is back',
      async () => {
        await prove(stack, 'no dead-letter topic', async (load) => {
          await withOperator(kafka.brokers, ({ deleteTopic }) => deleteTopic(topicOf('dead-letters')))
          const records = floodOf(1)
          await stack.journal.append({ topic: topicOf('application-logs'), partition: PARTITION, records })
          await consumersHalt(['application-logs', 'flows'], 'the consumer halted')
          await load.answeredMore(100)
          await stack.consumers.start()
        })
        expect(await deadLetters()).toEqual({
          'application-logs application-logs.v1 invalid_json': 1,
          'flows application-logs.v1 invalid_json': 1,
        })
      },
      PATIENCE_MS,
    )

    test(
      'a flood of poison halts the views, again after a restart, until an operator lets it pass',
      async () => {
        const before = await deadLetters()
        await prove(stack, 'flood of poison', async (load) => {
          const records = floodOf(FLOOD)
          await stack.journal.append({ topic: topicOf('event-logs'), partition: PARTITION, records })
          await consumersHalt(['event-logs', 'flows'], 'more than 100 dead letters in a row')
          // None of its views can go on.
          await stack.consumers.start({ VIEWS: 'event-logs,flows' })
          const halting = stack.consumers.process()
          expect(await halting.exited).toBe(1)
          await eventually(() => expect(halting.printed()).toContain('more than 100 dead letters in a row'))
          expect(await deadLetters()).toEqual(before)
          await load.answeredMore(100)
          await stack.consumers.start({ DEAD_LETTER_RUN_MAX: '1000000', DEAD_LETTER_PERCENT_MAX: '100' })
        })
        expect(await deadLetters()).toEqual({
          ...before,
          'event-logs event-logs.v1 invalid_json': FLOOD,
          'flows event-logs.v1 invalid_json': FLOOD,
        })
      },
      PATIENCE_MS,
    )
  },
)
