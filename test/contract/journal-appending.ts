import { describe, expect, test } from 'vitest'
import type { PublisherJournal } from '../../gateway/publisher/publication.ts'
import { AppendError, type Journal, type NewRecord, TopicMissingError } from '../../shared/journal/journal.ts'
import { createTopic, recordOf, recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import type { JournalBench } from './journal-suite.ts'

const LARGE_BYTES = 1_000_000

export function appendingContract({ open, name, patienceMs }: JournalBench): void {
  describe('append', () => {
    test(
      'a batch stands in the partition whole, in its order, after what stood there',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('order'))
        await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
        await journal.append({ topic, partition: 0, records: recordsOf('b', 250) })
        const records = await scanAll(journal, topic)
        expect(valuesOf(records)).toEqual([...recordsOf('a', 3), ...recordsOf('b', 250)].map(({ value }) => value))
        const offsets = records.map(({ offset }) => offset)
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b))
        expect(new Set(offsets).size).toBe(253)
        expect(offsets[0]).toBe(0)
      },
      patienceMs,
    )

    test(
      'what is appended is taken before the call returns, headers in common included',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('taken'))
        const commonHeaders = { ce_source: 'urn:test', binary: Buffer.of(0xff, 0xfe) }
        const [first, second] = recordsOf('a', 2) as [NewRecord, NewRecord]
        const records = [
          { ...first, headers: { ce_id: '1' }, commonHeaders },
          { ...second, headers: {}, commonHeaders },
        ]
        const batch = { topic, partition: 0, records: [...records] }
        const appended = journal.append(batch)
        batch.records.length = 0
        batch.records = []
        await appended
        const stored = await scanAll(journal, topic)
        expect(valuesOf(stored)).toEqual(records.map(({ value }) => value))
        expect(stored.map(({ headers }) => headers)).toEqual([{ ce_id: '1', ...commonHeaders }, commonHeaders])
      },
      patienceMs,
    )

    test(
      'records that were packed stand in their place among the others',
      async () => {
        const journal: Journal & PublisherJournal = await open()
        const topic = await createTopic(journal, name('packed'))
        const [few, many, others] = [recordsOf('a', 20), recordsOf('b', 300), recordsOf('c', 2)]
        const packed = [few, many].map((records) => journal.pack?.(records) ?? records)
        const records = [others, ...packed, others].flat()
        await journal.append({ topic, partition: 0, records })
        const sent = [...others, ...few, ...many, ...others]
        expect(valuesOf(await scanAll(journal, topic))).toEqual(sent.map(({ value }) => value))
      },
      patienceMs,
    )

    test(
      'the chosen partition gets the records, the others none',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('partitions'), 3)
        await journal.append({ topic, partition: 2, records: recordsOf('two-', 2) })
        await journal.append({ topic, partition: 0, records: recordsOf('zero-', 1) })
        const records = await scanAll(journal, topic)
        expect(records.map(({ partition, offset, value }) => [partition, offset, value?.toString()])).toEqual([
          [0, 0, 'zero-0'],
          [2, 0, 'two-0'],
          [2, 1, 'two-1'],
        ])
      },
      patienceMs,
    )

    test(
      'batches that several clients append at once all stand there once, each in its order',
      async () => {
        const clients = [await open(), await open(), await open()] as const
        const topic = await createTopic(clients[0], name('clients'))
        const prefixes = clients.flatMap((_, client) => ['x', 'y', 'z'].map((letter) => `${client}${letter}-`))
        await Promise.all(
          prefixes.map((prefix) =>
            clients[Number(prefix[0])]?.append({ topic, partition: 0, records: recordsOf(prefix, 40) }),
          ),
        )
        const values = valuesOf(await scanAll(clients[0], topic))
        expect(values).toHaveLength(prefixes.length * 40)
        for (const prefix of prefixes) {
          const own = values.filter((value) => value?.startsWith(prefix))
          expect(own).toEqual(recordsOf(prefix, 40).map(({ value }) => value))
        }
      },
      patienceMs,
    )

    test(
      'a batch without records changes nothing',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('empty'))
        await journal.append({ topic, partition: 0, records: [] })
        expect(await scanAll(journal, topic)).toEqual([])
      },
      patienceMs,
    )

    test(
      'a topic or a partition that does not exist is an AppendError, and nothing was written',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('one-partition'))
        const records = recordsOf('a', 1)
        for (const batch of [
          { topic: name('missing'), partition: 0, records },
          { topic, partition: 1, records },
        ]) {
          const error = await journal.append(batch).catch((thrown: unknown) => thrown)
          expect(error).toBeInstanceOf(AppendError)
          expect((error as AppendError).outcome).toBe('not_written')
        }
        expect(await scanAll(journal, topic)).toEqual([])
      },
      patienceMs,
    )

    test(
      'after close it rejects, certainly without writing',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('closed'))
        await journal.close()
        await journal.close()
        const error = await journal
          .append({ topic, partition: 0, records: recordsOf('a', 1) })
          .catch((thrown) => thrown)
        expect(error).toBeInstanceOf(AppendError)
        expect(error.outcome).toBe('not_written')
        expect(await scanAll(await open(), topic)).toEqual([])
      },
      patienceMs,
    )

    test(
      'what was appended before close is there for another client',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('kept'))
        const appended = journal.append({ topic, partition: 0, records: recordsOf('a', 20) }).then(
          () => 'written',
          () => 'rejected',
        )
        await journal.close()
        const found = await scanAll(await open(), topic)
        // Under way while the journal closed, it was either finished or refused; it was not forgotten.
        expect(found).toHaveLength((await appended) === 'written' ? 20 : 0)
      },
      patienceMs,
    )
  })

  describe('topics', () => {
    test(
      'createTopics leaves a topic that exists as it is',
      async () => {
        const journal = await open()
        const topic = await createTopic(journal, name('twice'), 2)
        await journal.append({ topic, partition: 1, records: recordsOf('a', 1) })
        await createTopic(journal, topic, 5)
        expect(await journal.partitionCount(topic)).toBe(2)
        expect(await scanAll(journal, topic)).toHaveLength(1)
      },
      patienceMs,
    )

    test(
      'a topic that does not exist is a TopicMissingError',
      async () => {
        const journal = await open()
        const topic = name('missing')
        await expect(journal.partitionCount(topic)).rejects.toBeInstanceOf(TopicMissingError)
        await expect(journal.positions(topic, name('group'))).rejects.toBeInstanceOf(TopicMissingError)
        await expect(scanAll(journal, topic)).rejects.toBeInstanceOf(TopicMissingError)
        await expect(journal.follow(topic, () => {})).rejects.toBeInstanceOf(TopicMissingError)
        const options = { group: name('group'), topics: [topic], recordsMax: 10 }
        await expect(journal.subscribe(options, async () => {})).rejects.toBeInstanceOf(TopicMissingError)
      },
      patienceMs,
    )

    test(
      'an open journal is healthy, a closed one is not',
      async () => {
        const journal = await open()
        expect(await journal.health()).toMatchObject({ ready: true })
        await journal.close()
        expect(await journal.health()).toMatchObject({ ready: false, reason: expect.any(String) })
      },
      patienceMs,
    )
  })

  describe('what a record holds', () => {
    const roundTrip = async (records: readonly NewRecord[]) => {
      const journal = await open()
      const topic = await createTopic(journal, name('content'))
      await journal.append({ topic, partition: 0, records })
      return scanAll(journal, topic)
    }

    test(
      'keys and values come back byte for byte, given as text or as bytes',
      async () => {
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
        const texts = ['plain', '', 'nul \0 inside', 'Grüße, 日本語, 🚀', '"quotes" \\ \n\t', '\u{10ffff}']
        const records = await roundTrip([
          ...texts.map((text) => recordOf(text, text)),
          { key: bytes, value: bytes, headers: {} },
          { key: new Uint8Array(0), value: new Uint8Array(0), headers: {} },
        ])
        const expected = [...texts.map((text) => Buffer.from(text)), Buffer.from(bytes), Buffer.alloc(0)]
        expect(records.map(({ key }) => key?.toString('hex'))).toEqual(expected.map((buffer) => buffer.toString('hex')))
        expect(records.map(({ value }) => value?.toString('hex'))).toEqual(
          expected.map((buffer) => buffer.toString('hex')),
        )
        expect(records.every(({ key, value }) => Buffer.isBuffer(key) && Buffer.isBuffer(value))).toBe(true)
      },
      patienceMs,
    )

    test(
      'a null key and a null value stay null',
      async () => {
        const records = await roundTrip([
          { key: null, value: 'v', headers: {} },
          { key: 'k', value: null, headers: {} },
        ])
        expect(records.map(({ key, value }) => [key?.toString() ?? null, value?.toString() ?? null])).toEqual([
          [null, 'v'],
          ['k', null],
        ])
      },
      patienceMs,
    )

    test(
      'a header is text where its bytes are UTF-8, otherwise the bytes as they are',
      async () => {
        const [record, bare] = await roundTrip([
          recordOf('v', null, {
            ce_id: '0198b1c2',
            unicode: 'Grüße 🚀',
            empty: '',
            utf8: Buffer.from('as bytes, ü'),
            raw: Uint8Array.of(0, 0xff, 0xfe, 0x80),
          }),
          recordOf('v'),
        ])
        expect(Object.keys(record?.headers ?? {}).toSorted()).toEqual(['ce_id', 'empty', 'raw', 'unicode', 'utf8'])
        expect(record?.headers).toMatchObject({
          ce_id: '0198b1c2',
          unicode: 'Grüße 🚀',
          empty: '',
          utf8: 'as bytes, ü',
        })
        expect(Buffer.from(record?.headers['raw'] as Uint8Array).toString('hex')).toBe('00fffe80')
        expect(bare?.headers).toEqual({})
      },
      patienceMs,
    )

    test(
      'a value of a million bytes is kept',
      async () => {
        const value = `${'x'.repeat(LARGE_BYTES - 2)}ü`
        const records = await roundTrip([recordOf(value), recordOf('after')])
        expect(records[0]?.value?.equals(Buffer.from(value))).toBe(true)
        expect(valuesOf(records)[1]).toBe('after')
      },
      patienceMs,
    )

    test(
      'it says where it stands and when it was appended',
      async () => {
        const [record] = await roundTrip([recordOf('v')])
        expect(record).toMatchObject({ topic: expect.stringContaining('content'), partition: 0, offset: 0 })
        expect(record?.appendedAt).toBeGreaterThan(Date.UTC(2020))
      },
      patienceMs,
    )
  })
}
