import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  createDeadLetterWriter,
  DEAD_LETTER_REASONS,
  type DeadLetterLimits,
  deadLetter,
  deadLetterRecord,
  judgeDeadLetters,
  NO_HISTORY,
} from '../../../consumers/dead-letters.ts'
import { type AppendBatch, AppendError } from '../../../shared/journal/journal.ts'
import { DEAD_LETTER_TOPIC, EVENT_TOPIC, entryTopics, readRecord } from '../../support/consumers-records.ts'
import * as fc from '../../support/fast-check.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'

const CONTEXT = { projection: 'event-logs', group: 'test.event-logs.v1', time: '2026-03-01T10:00:00.000Z' }

describe('a dead letter', () => {
  test('keeps key, bytes and headers, and says where the record stood and why it is here', () => {
    const record = readRecord(Buffer.from([0xff, 0x00]), {
      partition: 3,
      offset: 41,
      key: Buffer.from('order-1'),
      headers: { ce_id: 'an id', traceparent: Buffer.from([0xfe]) },
    })
    expect(deadLetterRecord(record, deadLetter('not_utf8', 'the value is not UTF-8'), CONTEXT)).toEqual({
      key: record.key,
      value: record.value,
      headers: {
        ce_id: 'an id',
        traceparent: Buffer.from([0xfe]),
        '__connect.errors.topic': EVENT_TOPIC,
        '__connect.errors.partition': '3',
        '__connect.errors.offset': '41',
        '__connect.errors.connector.name': 'test.event-logs.v1',
        '__connect.errors.stage': 'VALUE_CONVERTER',
        '__connect.errors.exception.class.name': 'not_utf8',
        '__connect.errors.exception.message': 'the value is not UTF-8',
        'x-dlq-attempt': '1',
        'x-dlq-view': 'event-logs',
        'x-dlq-time': '2026-03-01T10:00:00.000Z',
      },
    })
  })

  test.each([
    [undefined, '1'],
    ['1', '2'],
    ['9', '10'],
    ['-1', '1'],
    ['many', '1'],
  ])('of a record with attempt %s has attempt %s', (before, after) => {
    const record = readRecord('x', { headers: before === undefined ? {} : { 'x-dlq-attempt': before } })
    const { headers } = deadLetterRecord(record, deadLetter('invalid_json', ''), CONTEXT)
    expect(headers['x-dlq-attempt']).toBe(after)
  })

  test('has a message of at most 1,000 bytes', () => {
    const letter = deadLetter('refused_by_store', `${'é'.repeat(5_000)}\uD800`)
    const message = deadLetterRecord(readRecord('x'), letter, CONTEXT).headers['__connect.errors.exception.message']
    expect(Buffer.byteLength(String(message))).toBe(1_000)
  })
})

describe('writing dead letters', () => {
  const open = async (partitions: number) => {
    const topics = entryTopics().map((topic) => (topic.name === DEAD_LETTER_TOPIC ? { ...topic, partitions } : topic))
    const memory = createMemoryJournal({ topics })
    const batches: AppendBatch[] = []
    const journal = {
      ...memory,
      append: (batch: AppendBatch) => {
        batches.push(batch)
        return memory.append(batch)
      },
    }
    const writer = createDeadLetterWriter({
      journal,
      topic: DEAD_LETTER_TOPIC,
      projection: 'flows',
      group: 'g',
      clock: { now: () => 0 },
    })
    await writer.open()
    return { writer, batches, journal }
  }
  const bad = (value: string, partition = 0) => ({
    record: readRecord(value, { partition }),
    letter: deadLetter('invalid_json', ''),
  })

  test('keeps to batches that a broker takes, in order, a larger record alone', async () => {
    const { writer, batches } = await open(1)
    const sizes = [400_000, 400_000, 400_000, 1_000_000, 10]
    await writer.append(sizes.map((size) => bad('x'.repeat(size))))
    expect(batches.map(({ records }) => records.map(({ value }) => value?.length))).toEqual([
      [400_000, 400_000],
      [400_000],
      [1_000_000],
      [10],
    ])
    await writer.append(Array.from({ length: 501 }, () => bad('x')))
    expect(batches.slice(4).map(({ records }) => records.length)).toEqual([500, 1])
  })

  test('goes on as the topic takes them, and appends none twice while one is too large', async () => {
    const { writer, journal } = await open(1)
    const { append } = journal
    let bytesMax = 2_000
    journal.append = async (batch: AppendBatch) => {
      const bytes = batch.records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
      if (bytes <= bytesMax) return append(batch)
      throw new AppendError('too large', 'not_written', { isFinal: true, isOfTopic: true, bytesMax })
    }
    const lengths = () => journal.recordsOf(DEAD_LETTER_TOPIC).map(({ value }) => value?.length)
    await writer.append([bad('x'.repeat(1_500)), bad('x'.repeat(1_400))])
    expect(lengths()).toEqual([1_500, 1_400])

    const next = [bad('x'), bad('x'.repeat(5_000)), bad('xx')]
    const advice = /max\.message\.bytes, which is 2000, to 5\d{3} or more$/
    for (let times = 0; times < 3; times += 1) await expect(writer.append(next)).rejects.toThrow(advice)
    expect(lengths()).toHaveLength(2)
    bytesMax = 6_000
    await writer.append(next)
    await writer.append([bad('y'), bad('yyy')])
    expect(lengths().slice(2)).toEqual([5_000, 2, 1, 1, 3])
  })

  test('spreads the partitions of the topic over those of the dead letters', async () => {
    const { writer, batches } = await open(2)
    for (const partition of [0, 1, 2]) await writer.append([bad('x', partition)])
    expect(batches.map(({ partition }) => partition)).toEqual([0, 1, 0])
  })

  test('goes on where the topic was made anew with fewer partitions, and where nobody tells how many it has', async () => {
    const { writer, batches, journal } = await open(2)
    journal.partitionCount = async () => 1
    await writer.append([bad('x', 1)])
    journal.partitionCount = () => Promise.reject(new Error('no broker answers'))
    await writer.append([bad('x', 1)])
    expect(batches.map(({ partition }) => partition)).toEqual([0, 0])
  })
})

test('docs/dead-letters.md tells every reason with its stage, and the headers', () => {
  const page = readFileSync(new URL('../../../docs/dead-letters.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| `([A-Z_]+)` \|/gm)].map(([, reason, stage]) => [reason, stage])
  expect(Object.fromEntries(rows)).toEqual(DEAD_LETTER_REASONS)
  const { headers } = deadLetterRecord(readRecord('x'), deadLetter('invalid_json', ''), CONTEXT)
  for (const name of Object.keys(headers))
    expect(page).toContain(name.replace(/^__connect\.errors(\.partition|\.offset)$/, '$1'))
})

const LIMITS: DeadLetterLimits = { runMax: 3, ratioMax: 0.5, windowRecords: 10 }

const judge = (isDeadLetter: readonly boolean[], limits = LIMITS) => judgeDeadLetters(NO_HISTORY, isDeadLetter, limits)
const dead = (count: number): readonly boolean[] => Array<boolean>(count).fill(true)
const good = (count: number): readonly boolean[] => Array<boolean>(count).fill(false)

/** The same rule, told record by record over all that ever was. */
function isFlood(all: readonly boolean[], { runMax, ratioMax, windowRecords }: DeadLetterLimits): boolean {
  return all.some((_, index) => {
    const seen = all.slice(0, index + 1)
    const run = seen.length - 1 - seen.lastIndexOf(false)
    const window = seen.slice(-windowRecords)
    const share = window.filter(Boolean).length / windowRecords
    return run > runMax || (window.length === windowRecords && share > ratioMax)
  })
}

describe('dead letters are a flood', () => {
  test('when more than the limit come in a row', () => {
    expect(judge(dead(3)).flood).toBeNull()
    expect(judge(dead(4)).flood).toBe('more than 3 dead letters in a row')
    expect(judge([...dead(3), false, ...dead(2)]).flood).toBeNull()
  })

  test('when they are more than the ratio of a full window', () => {
    const alternating = [true, true, false, true, true, false, true, true, false]
    expect(judge(alternating).flood).toBeNull()
    expect(judge([...alternating, false]).flood).toBe('6 dead letters among 10 records')
    expect(judge([...good(1), ...alternating.slice(0, 8)]).flood).toBeNull()
    const half = Array.from({ length: 12 }, (_, index) => index % 2 === 0)
    expect(judge(half).flood).toBeNull()
    expect(judge([...half, true, true]).flood).toBe('6 dead letters among 10 records')
  })

  test('also when the run began in an earlier chunk', () => {
    const { history } = judge(dead(3))
    expect(judgeDeadLetters(history, [true], LIMITS).flood).not.toBeNull()
    expect(judgeDeadLetters(history, [false], LIMITS).flood).toBeNull()
  })

  test('by the same rule however the records are cut into chunks', () => {
    const limits = fc.record({
      runMax: fc.integer({ min: 0, max: 6 }),
      ratioMax: fc.constantFrom(0.2, 0.5, 0.75, 1),
      windowRecords: fc.integer({ min: 1, max: 12 }),
    })
    fc.assert(
      fc.property(fc.array(fc.array(fc.boolean(), { maxLength: 8 }), { maxLength: 12 }), limits, (chunks, limit) => {
        let history = NO_HISTORY
        let flooded = false
        for (const chunk of chunks) {
          const judged = judgeDeadLetters(history, chunk, limit)
          history = judged.history
          flooded ||= judged.flood !== null
        }
        expect(flooded).toBe(isFlood(chunks.flat(), limit))
        expect(history.window.length).toBeLessThanOrEqual(limit.windowRecords)
      }),
    )
  })
})
