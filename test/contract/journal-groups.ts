import { describe, expect, test } from 'vitest'
import type { AssignmentCause, Journal, PartitionBatch, Subscription } from '../../shared/journal/journal.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic, positionAfter, recordsOf, valuesOf } from '../support/journal-fixture.ts'
import { replaceMembers } from '../support/journal-rollout.ts'
import type { JournalBench } from './journal-suite.ts'

const until = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

export function groupContract(bench: JournalBench): void {
  const { open, name, patienceMs, movesOneByOne = false } = bench

  /** Reads as the group until `count` records came, commits what was asked for, and leaves. */
  const readSome = async (
    journal: Journal,
    group: string,
    topic: string,
    count: number,
    commit: (batch: PartitionBatch) => Promise<void> = async () => {},
  ) => {
    const values: (string | undefined)[] = []
    const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, async (batch) => {
      await commit(batch)
      values.push(...valuesOf(batch.records))
    })
    await eventually(() => values.length >= count, patienceMs)
    await subscription.close()
    await subscription.done
    return values
  }

  describe('subscribe', () => {
    test(
      'a group without a position starts at the first record, in batches of recordsMax at most',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('start'))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 25) })
        const batches: PartitionBatch[] = []
        await journal.subscribe({ group: name('group'), topics: [topic], recordsMax: 10 }, async (batch) => {
          batches.push(batch)
        })
        const records = await eventually(() => {
          const all = batches.flatMap((batch) => batch.records)
          return all.length === 25 && all
        }, patienceMs)
        expect(records && valuesOf(records)).toEqual(recordsOf('a', 25).map(({ value }) => value))
        expect(batches.every((batch) => batch.records.length >= 1 && batch.records.length <= 10)).toBe(true)
        expect(batches.every((batch) => batch.topic === topic && batch.partition === 0)).toBe(true)
        expect(batches.every((batch) => batch.endPosition >= positionAfter(batch))).toBe(true)
      },
      patienceMs,
    )

    test(
      'records that come later are handed over, by whichever client',
      async () => {
        const [journal, other] = [await open(), await open()]
        const topics = [
          await createTopic(journal, name('first')),
          await createTopic(journal, name('second'), 2),
        ] as const
        const values: string[] = []
        await journal.subscribe(
          { group: name('group'), topics, recordsMax: 10 },
          async ({ topic, partition, records }) => {
            values.push(...valuesOf(records).map((value) => `${topics.indexOf(topic)}/${partition}/${value}`))
          },
        )
        await journal.append({ topic: topics[0], partition: 0, records: recordsOf('a', 1) })
        await other.append({ topic: topics[1], partition: 1, records: recordsOf('b', 1) })
        await eventually(() => values.length === 2, patienceMs)
        await other.append({ topic: topics[1], partition: 0, records: recordsOf('c', 1) })
        await eventually(() => values.length === 3, patienceMs)
        expect(values.toSorted()).toEqual(['0/0/a0', '1/0/c0', '1/1/b0'])
      },
      patienceMs,
    )

    test(
      'the group goes on at the committed position, also after the journal was opened anew',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('committed')), name('group')]
        await journal.append({ topic, partition: 0, records: recordsOf('a', 10) })
        const upTo6 = async (batch: PartitionBatch) => batch.commit(6)
        expect(await readSome(journal, group, topic, 10, upTo6)).toHaveLength(10)
        await journal.close()

        const values = await readSome(await open(), group, topic, 4)
        expect(values).toEqual(['a6', 'a7', 'a8', 'a9'])
      },
      patienceMs,
    )

    test(
      'a group that is rewound in a topic starts there at the first record again, and other groups do not',
      async () => {
        const journal = await open()
        const [topic, group, other] = [await createTopic(journal, name('rewound')), name('group'), name('group')]
        await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
        const all = async (batch: PartitionBatch) => batch.commit(positionAfter(batch))
        await readSome(journal, group, topic, 3, all)
        await readSome(journal, other, topic, 3, all)
        await journal.rewind(topic, group)
        await journal.append({ topic, partition: 0, records: recordsOf('b', 1) })
        expect(await readSome(journal, group, topic, 4)).toEqual(['a0', 'a1', 'a2', 'b0'])
        expect(await readSome(journal, other, topic, 1)).toEqual(['b0'])
      },
      patienceMs,
    )

    test(
      'what was not committed is handed over again to the next member',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('again')), name('group')]
        await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
        expect(await readSome(journal, group, topic, 3)).toEqual(['a0', 'a1', 'a2'])
        expect(await readSome(journal, group, topic, 3)).toEqual(['a0', 'a1', 'a2'])
      },
      patienceMs,
    )

    test(
      'groups do not touch each other',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('apart'))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
        const all = async (batch: PartitionBatch) => batch.commit(positionAfter(batch))
        expect(await readSome(journal, name('group'), topic, 3, all)).toHaveLength(3)
        expect(await readSome(journal, name('group'), topic, 3, all)).toHaveLength(3)
      },
      patienceMs,
    )

    test(
      'a handler that throws ends the subscription with its error',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('thrown'))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
        const failure = new Error('the handler cannot go on')
        const subscription = await journal.subscribe(
          { group: name('group'), topics: [topic], recordsMax: 10 },
          async () => {
            throw failure
          },
        )
        await expect(subscription.done).rejects.toBe(failure)
        expect(subscription.health()).toMatchObject({ ready: false, reason: expect.stringContaining(failure.message) })
        await subscription.close()
      },
      patienceMs,
    )

    test(
      'close aborts the running batch, waits for its handler, and its commit does nothing any more',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('aborted')), name('group')]
        await journal.append({ topic, partition: 0, records: recordsOf('a', 2) })
        const running = Promise.withResolvers<void>()
        let finished = false
        const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, async (batch) => {
          running.resolve()
          await until(batch.signal)
          await batch.commit(positionAfter(batch))
          finished = true
          throw new Error('what a handler throws after it was told to stop is nobody’s concern')
        })
        await running.promise
        await Promise.all([subscription.close(), subscription.close()])
        expect(finished).toBe(true)
        await subscription.done
        const [position] = await journal.positions(topic, group)
        expect(position?.committed).toBeNull()
        expect(await readSome(journal, group, topic, 2)).toEqual(['a0', 'a1'])
      },
      patienceMs,
    )

    test(
      'closing the journal ends its subscriptions',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('ended'))
        const options = { group: name('group'), topics: [topic], recordsMax: 10 }
        const subscription = await journal.subscribe(options, async () => {})
        await journal.close()
        await subscription.done
        expect(subscription.health().ready).toBe(false)
      },
      patienceMs,
    )
  })

  describe('positions', () => {
    test(
      'they tell the first offset, the end, and what the group committed, null where nothing',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('positions'), 2), name('group')]
        await journal.append({ topic, partition: 1, records: recordsOf('a', 5) })
        expect(await journal.positions(topic, group)).toEqual([
          { partition: 0, firstOffset: 0, endPosition: 0, committed: null },
          { partition: 1, firstOffset: 0, endPosition: 5, committed: null },
        ])
        await readSome(journal, group, topic, 5, (batch) => batch.commit(3))
        expect(await journal.positions(topic, group)).toEqual([
          { partition: 0, firstOffset: 0, endPosition: 0, committed: null },
          { partition: 1, firstOffset: 0, endPosition: 5, committed: 3 },
        ])
      },
      patienceMs,
    )
  })

  describe('two members of a group', () => {
    const PARTITIONS = 4

    /** A member that commits all it gets and watches that nobody else works on the partition meanwhile. */
    const joinWatched = async (journal: Journal, group: string, topic: string, busy: Set<number>, seen: string[]) => {
      const handled = new Set<number>()
      const subscription: Subscription = await journal.subscribe(
        { group, topics: [topic], recordsMax: 3 },
        async (batch) => {
          if (busy.has(batch.partition)) throw new Error(`two at a time for partition ${batch.partition}`)
          busy.add(batch.partition)
          await new Promise((resolve) => setImmediate(resolve))
          seen.push(...valuesOf(batch.records).map(String))
          handled.add(batch.partition)
          await batch.commit(positionAfter(batch))
          busy.delete(batch.partition)
        },
      )
      return { handled, subscription }
    }

    /** Appends a few records to each partition, as often as it is asked to. */
    const appender = (journal: Journal, topic: string) => {
      const appended: string[] = []
      const appendRound = async (): Promise<void> => {
        for (let partition = 0; partition < PARTITIONS; partition++) {
          const records = recordsOf(`${partition}-${appended.length}-`, 7)
          appended.push(...records.map(({ value }) => String(value)))
          await journal.append({ topic, partition, records })
        }
      }
      return { appended, appendRound }
    }

    test(
      'they share the partitions, none is worked on by two, and none is lost when one leaves',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('shared'), PARTITIONS), name('group')]
        const [busy, seen] = [new Set<number>(), [] as string[]]
        const { appended, appendRound } = appender(journal, topic)

        await appendRound()
        const staying = await joinWatched(journal, group, topic, busy, seen)
        const leaving = await joinWatched(journal, group, topic, busy, seen)
        await eventually(async () => {
          await appendRound()
          return leaving.handled.size > 0 && staying.handled.size > 0
        }, patienceMs)
        await Promise.all([appendRound(), leaving.subscription.close()])
        await appendRound()
        await eventually(() => new Set(seen).size === appended.length, patienceMs)
        await eventually(() => staying.handled.size === PARTITIONS, patienceMs)
        await staying.subscription.close()
        await Promise.all([leaving.subscription.done, staying.subscription.done])
      },
      patienceMs,
    )

    test(
      'each is told how many partitions it reads, and what took them',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('told'), PARTITIONS), name('group')]
        const join = async () => {
          const told: [number, AssignmentCause][] = []
          const onAssigned = (partitions: number, cause: AssignmentCause): unknown => told.push([partitions, cause])
          const subscription = await journal.subscribe(
            { group, topics: [topic], recordsMax: 3, onAssigned },
            async () => {},
          )
          return { told, subscription, reads: () => told.at(-1)?.[0] }
        }
        const first = await join()
        await eventually(() => first.reads() === PARTITIONS, patienceMs)
        expect(first.told.map(([, cause]) => cause)).not.toContain('group')
        const second = await join()
        const both = () => (first.reads() ?? 0) + (second.reads() ?? 0)
        await eventually(() => both() === PARTITIONS && second.reads() !== 0 && second.told.length > 0, patienceMs)
        expect(first.told.map(([, cause]) => cause)).toContain('group')
        await second.subscription.close()
        expect(second.told.at(-1)).toEqual([0, 'closed'])
        await eventually(() => first.reads() === PARTITIONS, patienceMs)
        await first.subscription.close()
        expect(first.told.at(-1)).toEqual([0, 'closed'])
      },
      patienceMs,
    )

    test(
      'the other goes on where one failed',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('failed'), PARTITIONS), name('group')]
        const failing = await journal.subscribe({ group, topics: [topic], recordsMax: 3 }, async () => {
          throw new Error('this one fails')
        })
        let hasFailed = false
        const failed = expect(failing.done.finally(() => (hasFailed = true))).rejects.toThrow('this one fails')
        const seen: string[] = []
        await joinWatched(journal, group, topic, new Set(), seen)
        const { appended, appendRound } = appender(journal, topic)
        // The other may have joined before it and read what is there.
        await eventually(async () => {
          await appendRound()
          return hasFailed
        }, patienceMs)
        await failed
        await eventually(() => new Set(seen).size === appended.length, patienceMs)
      },
      patienceMs,
    )

    test(
      'four are replaced one after the other under load: nothing is lost, out of order, handled by two, or repeated once committed',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('rolled'), PARTITIONS), name('group')]
        await replaceMembers({ journal, topic, group, partitions: PARTITIONS, patienceMs }, [journal, journal])
      },
      patienceMs,
    )
  })

  const movingContract = (): void => {
    const PARTITIONS = 4

    test(
      'a third member gets a partition once its handler has ended; those that stay are read and committed meanwhile, none of their batches aborted',
      async () => {
        const journal = await open()
        const [topic, group] = [await createTopic(journal, name('moved'), PARTITIONS), name('group')]
        const appendOne = () =>
          Promise.all(
            [...Array(PARTITIONS).keys()].map((partition) =>
              journal.append({ topic, partition, records: recordsOf('a', 1) }),
            ),
          )
        const running = new Map<number, PartitionBatch>()
        const opened = Promise.withResolvers<void>()
        opened.resolve()
        const gates = Array.from({ length: PARTITIONS }, () => opened)
        const join = async () => {
          const [handled, told] = [new Set<number>(), [] as number[]]
          const onAssigned = (partitions: number): unknown => told.push(partitions)
          const options = { group, topics: [topic], recordsMax: 1, onAssigned }
          const { done } = await journal.subscribe(options, async (batch) => {
            const { partition } = batch
            if (running.has(partition)) throw new Error(`two at a time for partition ${partition}`)
            running.set(partition, batch)
            handled.add(partition)
            await gates[partition]?.promise
            await batch.commit(positionAfter(batch))
            running.delete(partition)
          })
          return { handled, done, reads: () => told.at(-1) }
        }
        const [first, second] = [await join(), await join()]
        await eventually(() => first.reads() === 2 && second.reads() === 2, patienceMs)
        for (const partition of gates.keys()) gates[partition] = Promise.withResolvers()
        await appendOne()
        await eventually(() => running.size === PARTITIONS, patienceMs)
        const batches = [...running.values()]

        const third = await join()
        const isAborted = ({ signal }: PartitionBatch): boolean => signal.aborted
        await eventually(() => batches.some(isAborted), patienceMs)
        const moved = batches.find(isAborted) as PartitionBatch
        const stay = batches.filter((batch) => batch !== moved)
        for (const { partition } of stay) gates[partition]?.resolve()
        const committed = async () => (await journal.positions(topic, group)).map((each) => each.committed)
        await appendOne()
        const expected = [...gates.keys()].map((partition) => (partition === moved.partition ? null : 2))
        await eventually(async () => expect(await committed()).toEqual(expected), patienceMs)
        expect(stay.map(({ signal }) => signal.aborted)).toEqual([false, false, false])
        expect(third.handled).toEqual(new Set())

        gates[moved.partition]?.resolve()
        await eventually(async () => expect(await committed()).toEqual([2, 2, 2, 2]), patienceMs)
        expect(third.handled).toEqual(new Set([moved.partition]))
        expect(stay.map(({ signal }) => signal.aborted)).toEqual([false, false, false])
        await journal.close()
        await Promise.all([first.done, second.done, third.done])
      },
      patienceMs,
    )
  }
  if (movesOneByOne) describe('where partitions move one by one', movingContract)
}
