import { describe, expect, test } from 'vitest'
import type { JournalRecord } from '../../shared/journal/journal.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic, recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import type { JournalBench } from './journal-suite.ts'

export function readingContract({ open, name, patienceMs }: JournalBench): void {
  describe('scan', () => {
    test(
      'it gives all partitions, one after another, each in order',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('scan'), 3)
        for (const partition of [0, 1, 2]) {
          await journal.append({ topic, partition, records: recordsOf(`p${partition}-`, 1_200) })
        }
        const values = valuesOf(await scanAll(journal, topic))
        expect(values).toEqual(['p0-', 'p1-', 'p2-'].flatMap((prefix) => recordsOf(prefix, 1_200).map((r) => r.value)))
      },
      patienceMs,
    )

    test(
      'it ends where the topic ended when it began',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('scan-end'), 2)
        await journal.append({ topic, partition: 0, records: recordsOf('a', 1_700) })
        const records = journal.scan(topic)[Symbol.asyncIterator]()
        const first = await records.next()
        await journal.append({ topic, partition: 0, records: recordsOf('late-0-', 1) })
        await journal.append({ topic, partition: 1, records: recordsOf('late-1-', 1) })
        const rest: JournalRecord[] = []
        for (let next = await records.next(); !next.done; next = await records.next()) rest.push(next.value)
        expect(first.value.value.toString()).toBe('a0')
        expect(['a0', ...valuesOf(rest)]).toEqual(recordsOf('a', 1_700).map(({ value }) => value))
        expect(await scanAll(journal, topic)).toHaveLength(1_702)
      },
      patienceMs,
    )

    test(
      'it begins at a position, in each partition',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('scan-from'), 2)
        for (const partition of [0, 1])
          await journal.append({ topic, partition, records: recordsOf(`p${partition}-`, 1_200) })
        const from = async (position: number): Promise<readonly string[]> => {
          const values: string[] = []
          for await (const { value } of journal.scan(topic, position)) values.push(String(value))
          return values
        }
        expect(await from(1_198)).toEqual(['p0-1198', 'p0-1199', 'p1-1198', 'p1-1199'])
        expect([await from(1_200), await from(1_500)]).toEqual([[], []])
        expect(await from(0)).toHaveLength(2_400)
      },
      patienceMs,
    )

    test(
      'it may be left early and begun again',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('scan-left'))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 10) })
        for await (const record of journal.scan(topic)) if (record.offset === 3) break
        expect(await scanAll(journal, topic)).toHaveLength(10)
      },
      patienceMs,
    )

    test(
      'an empty topic gives nothing',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('scan-empty'), 2)
        expect(await scanAll(journal, topic)).toEqual([])
      },
      patienceMs,
    )
  })

  describe('follow', () => {
    test(
      'it resolves when it has caught up, then hands over what comes, by whichever client',
      async () => {
        const [journal, other] = [await open(), await open()]
        const topic = await createTopic(journal, name('follow'), 2)
        for (const partition of [0, 1]) {
          await journal.append({ topic, partition, records: recordsOf(`p${partition}-`, 600) })
        }
        const seen: JournalRecord[] = []
        await journal.follow(topic, (records) => void seen.push(...records))
        expect(seen).toHaveLength(1_200)

        await journal.append({ topic, partition: 0, records: recordsOf('own-', 3) })
        await other.append({ topic, partition: 1, records: recordsOf('other-', 3) })
        await eventually(() => seen.length === 1_206, patienceMs)
        const byPartition = (wanted: number) => valuesOf(seen.filter(({ partition }) => partition === wanted))
        expect(byPartition(0)).toEqual([...recordsOf('p0-', 600), ...recordsOf('own-', 3)].map((r) => r.value))
        expect(byPartition(1)).toEqual([...recordsOf('p1-', 600), ...recordsOf('other-', 3)].map((r) => r.value))
      },
      patienceMs,
    )

    test(
      'an empty topic is caught up with at once',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('follow-empty'))
        const seen: JournalRecord[] = []
        await journal.follow(topic, (records) => void seen.push(...records))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
        await eventually(() => seen.length === 1, patienceMs)
      },
      patienceMs,
    )

    test(
      'a closed follower gets nothing more',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('follow-closed'))
        const [closed, sentinel]: JournalRecord[][] = [[], []]
        const follower = await journal.follow(topic, (records) => void closed?.push(...records))
        await journal.follow(topic, (records) => void sentinel?.push(...records))
        await follower.close()
        await follower.close()
        await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
        await eventually(() => sentinel?.length === 1, patienceMs)
        expect(closed).toEqual([])
      },
      patienceMs,
    )
  })
}
