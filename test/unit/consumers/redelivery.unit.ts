import { describe, expect, test } from 'vitest'
import type { EntryRecord } from '../../../shared/contract/records.ts'
import { headerText, type Journal, type NewRecord } from '../../../shared/journal/journal.ts'
import { applicationLog, EVENT_TOPIC, eventLog, idOf, published } from '../../support/consumers-records.ts'
import { type ConsumersRig, createConsumersRig, soon } from '../../support/consumers-rig.ts'
import * as fc from '../../support/fast-check.ts'

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/** Runs one consumer after another until one has read everything; gives back how many it took. */
async function runUntilCaughtUp(rig: ConsumersRig, journal: Journal = rig.journal): Promise<number> {
  for (let runs = 1; ; runs += 1) {
    const consumer = rig.consumer('event-logs', { batchRecordsMax: 4, writeDocumentsMax: 2 }, journal)
    await consumer.start().catch(() => undefined)
    const isDone = await Promise.race([rig.caughtUp('event-logs').then(() => true), consumer.done.catch(() => false)])
    await consumer.stop(soon())
    if (isDone) return runs
  }
}

const storedOnce = (rig: ConsumersRig, ids: readonly string[]): void =>
  expect([...rig.store.documents.keys()].toSorted()).toEqual(ids.toSorted())

describe('an entry is stored once', () => {
  test('when its partition is taken away in the middle of a batch', async () => {
    const rig = createConsumersRig({ partitions: 2 })
    for (const partition of [0, 1]) {
      await rig.append(
        EVENT_TOPIC,
        range(4).map((index) => published(eventLog(partition * 4 + index))),
        partition,
      )
    }
    const writing = Promise.withResolvers<void>()
    let writes = 0
    // The first write of each partition goes through, the second does not end until it is given up.
    rig.store.afterWrite = (signal) => {
      writes += 1
      if (writes <= 2) return
      if (writes === 4) writing.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const first = rig.consumer('event-logs', { writeDocumentsMax: 2 })
    await first.start()
    await writing.promise
    rig.store.afterWrite = undefined
    const second = rig.consumer('event-logs', { writeDocumentsMax: 2 })
    await second.start()
    expect(first.health().ready).toBe(true)
    await first.stop(soon())
    await first.done
    await rig.caughtUp('event-logs')
    storedOnce(rig, range(8).map(idOf))
    expect(await rig.metric('sluice_consumer_records_total', { outcome: 'duplicate' })).toBe(4)
    await second.stop(soon())
  })

  test('when the process dies between the write and the commit', async () => {
    const rig = createConsumersRig()
    await rig.publish(range(6).map((index) => eventLog(index)))
    let deaths = 3
    const journal: Journal = {
      ...rig.journal,
      subscribe: (options, handler) =>
        rig.journal.subscribe(options, (batch) =>
          handler({
            ...batch,
            signal: batch.signal,
            commit: async (position) => {
              // Of the failures of a commit this one alone ends the consumer.
              if (deaths-- > 0) throw new RangeError('killed')
              await batch.commit(position)
            },
          }),
        ),
    }
    expect(await runUntilCaughtUp(rig, journal)).toBe(4)
    storedOnce(rig, range(6).map(idOf))
  })

  test('when the store fails before it has written, and when its answer is lost', async () => {
    const rig = createConsumersRig()
    await rig.publish(range(6).map((index) => eventLog(index)))
    const fault = (): void => {
      throw new Error('connection reset')
    }
    rig.store.beforeWrite = () => {
      rig.store.beforeWrite = undefined
      rig.store.afterWrite = () => {
        rig.store.afterWrite = undefined
        fault()
      }
      fault()
    }
    expect(await runUntilCaughtUp(rig)).toBe(3)
    storedOnce(rig, range(6).map(idOf))
  })

  test('whatever fails and in whatever order, and each bad record has its dead letter', async () => {
    const steps = fc.array(fc.constantFrom('good', 'again', 'poison', 'refused'), { minLength: 1, maxLength: 14 })
    const faults = fc.array(fc.constantFrom('none', 'before', 'after'), { maxLength: 6 })
    const appendFaults = fc.array(fc.constantFrom('not_written' as const, 'unknown' as const), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(steps, faults, appendFaults, async (topic, storeFaults, deadLetterFaults) => {
        const rig = createConsumersRig({ partitions: 1 })
        const records = topic.map((step, index): NewRecord => {
          const entry = eventLog(step === 'again' ? 0 : index, { environment: step === 'refused' ? 'bad' : 'good' })
          return step === 'poison' ? { key: null, value: '{', headers: { ce_id: idOf(index) } } : published(entry)
        })
        await rig.append(EVENT_TOPIC, records)
        rig.store.refuse = ({ environment }) => (environment === 'bad' ? 'no' : undefined)
        const pending = [...storeFaults]
        const hit = (fault: string): void => {
          if (pending[0] !== fault) return
          pending.shift()
          throw new Error(`failed ${fault}`)
        }
        rig.store.beforeWrite = () => {
          if (pending[0] === 'none') pending.shift()
          hit('before')
        }
        rig.store.afterWrite = () => hit('after')
        // A failure that passes would only be waited for.
        for (const outcome of deadLetterFaults) rig.journal.failAppends(outcome, 1, undefined, true)

        await runUntilCaughtUp(rig)
        const idsOf = (...kinds: readonly string[]): readonly string[] =>
          topic.flatMap((step, index) => (kinds.includes(step) ? [idOf(step === 'again' ? 0 : index)] : []))
        storedOnce(rig, [...new Set(idsOf('good', 'again'))])
        const letters = rig.deadLetters().map(({ headers }) => headerText(headers, 'ce_id'))
        expect(new Set(letters)).toEqual(new Set(idsOf('poison', 'refused')))
      }),
      { numRuns: 60 },
    )
  })
})

test('reading all topics again changes neither documents nor flows', async () => {
  const entries: readonly EntryRecord[] = range(12).map((index) =>
    index % 3 === 0
      ? applicationLog(index, { correlationKey: `order-${index % 2}`, level: 'Error' })
      : eventLog(index, { correlationKey: `order-${index % 2}`, step: `step-${index}` }),
  )
  const readAll = async (rig: ConsumersRig): Promise<void> => {
    const consumers = (['event-logs', 'application-logs', 'flows'] as const).map((projection) =>
      rig.consumer(projection),
    )
    await Promise.all(consumers.map((consumer) => consumer.start()))
    await rig.publish(entries)
    await Promise.all(
      (['event-logs', 'application-logs', 'flows'] as const).map((projection) => rig.caughtUp(projection)),
    )
    await Promise.all(consumers.map((consumer) => consumer.stop(soon())))
  }
  const first = createConsumersRig()
  await readAll(first)
  const documents = [...first.store.documents.values()]
  const flows = first.store.flows()
  expect(documents).toHaveLength(12)
  expect(flows).toHaveLength(2)

  await readAll(createConsumersRig({ store: first.store }))
  expect([...first.store.documents.values()]).toEqual(documents)
  expect(first.store.flows()).toEqual(flows)
})
