import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type ListOptions,
  listDeadLetters,
  type ReplayOptions,
  replayDeadLetters,
} from '../../../consumers/dead-letter-replay.ts'
import { type DeadLetterReason, deadLetter, deadLetterRecord } from '../../../consumers/dead-letters.ts'
import { AppendError, type Journal, type JournalRecord } from '../../../shared/journal/journal.ts'
import {
  collect,
  DEAD_LETTER_TOPIC,
  EVENT_TOPIC,
  entryTopics,
  eventLog,
  idOf,
  PREFIX,
  published,
  readRecord,
} from '../../support/consumers-records.ts'
import { createConsumersRig, soon } from '../../support/consumers-rig.ts'
import { createMemoryJournal, type MemoryJournal } from '../../support/memory-journal.ts'

const letter = (number: number, projection: string, reason: DeadLetterReason) =>
  deadLetterRecord(
    readRecord('hunter2', { offset: number, headers: { ce_id: idOf(number) } }),
    deadLetter(reason, 'what is wrong'),
    { projection, group: 'g', time: `2026-03-0${number}T00:00:00.000Z` },
  )

async function list(options: Partial<ListOptions> = {}) {
  const journal = createMemoryJournal({ topics: entryTopics() })
  const records = [
    letter(1, 'event-logs', 'invalid_json'),
    letter(2, 'flows', 'invalid_json'),
    { key: null, value: 'no dead letter', headers: {} },
    {
      key: null,
      value: 'broken',
      headers: { ...letter(9, 'flows', 'invalid_json').headers, '__connect.errors.offset': '-' },
    },
    letter(3, 'event-logs', 'refused_by_store'),
  ]
  await journal.append({ topic: DEAD_LETTER_TOPIC, partition: 0, records })
  return collect(listDeadLetters(journal, { topicPrefix: PREFIX, ...options }))
}

const offsets = async (options: Partial<ListOptions>): Promise<readonly number[]> =>
  (await list(options)).map(({ offset }) => offset)

describe('the list of dead letters', () => {
  test('tells where each came from and why, and nothing of its content', async () => {
    const [first] = await list()
    expect(first).toEqual({
      topic: EVENT_TOPIC,
      partition: 0,
      offset: 1,
      view: 'event-logs',
      reason: 'invalid_json',
      message: 'what is wrong',
      attempt: 1,
      at: '2026-03-01T00:00:00.000Z',
      id: idOf(1),
      valueBytes: 7,
      replayed: false,
    })
  })

  test('is narrowed by view, reason, id and time', async () => {
    expect(await offsets({})).toEqual([1, 2, 3])
    expect(await offsets({ view: 'flows' })).toEqual([2])
    expect(await offsets({ reason: 'refused_by_store' })).toEqual([3])
    expect(await offsets({ id: idOf(2) })).toEqual([2])
    expect(await offsets({ since: '2026-03-02T00:00:00.000Z' })).toEqual([2, 3])
    expect(await offsets({ until: '2026-03-02T00:00:00.000Z' })).toEqual([1])
    expect(await offsets({ view: 'event-logs', since: '2026-03-02T00:00:00.000Z' })).toEqual([3])
  })

  test('ends at the limit', async () => {
    expect(await offsets({ limit: 2 })).toEqual([1, 2])
    expect(await offsets({ limit: 1 })).toEqual([1])
    expect(await offsets({ limit: 0 })).toEqual([])
  })
})

const NOTHING_REFUSED = { too_many_attempts: 0, no_value: 0, unknown_place: 0, not_a_dead_letter: 0 }

const replay = (journal: MemoryJournal, options: Partial<ReplayOptions> = {}) =>
  replayDeadLetters(journal, { topicPrefix: PREFIX, ratePerSecond: 1_000_000, ...options })

/** A journal whose dead letters are of these records. */
async function journalWith(bad: readonly Partial<JournalRecord>[]): Promise<MemoryJournal> {
  const journal = createMemoryJournal({ topics: entryTopics() })
  const records = bad.map((changes, offset) =>
    deadLetterRecord(readRecord('{', { offset, ...changes }), deadLetter('invalid_json', 'no JSON'), {
      projection: 'event-logs',
      group: 'g',
      time: '2026-03-01T00:00:00.000Z',
    }),
  )
  await journal.append({ topic: DEAD_LETTER_TOPIC, partition: 0, records })
  return journal
}

describe('a replay', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('puts key, bytes and headers back to the same topic and partition, with the count of attempts', async () => {
    const value = Buffer.from([0xff, 0x00])
    const headers = { ce_id: idOf(1), note: Buffer.from([0xfe]) }
    const journal = await journalWith([{ value, key: Buffer.from('k'), partition: 1, headers }])
    expect(await replay(journal)).toEqual({ replayed: 1, repeated: 0, refused: NOTHING_REFUSED })
    expect(journal.recordsOf(EVENT_TOPIC)).toEqual([
      expect.objectContaining({
        partition: 1,
        key: Buffer.from('k'),
        value,
        headers: { ...headers, 'x-dlq-attempt': '1' },
      }),
    ])
  })

  test('goes on after the one before, and removes nothing', async () => {
    const journal = await journalWith([{}, {}])
    expect((await replay(journal)).replayed).toBe(2)
    expect((await replay(journal)).replayed).toBe(0)
    const before = journal.recordsOf(DEAD_LETTER_TOPIC)
    await journal.append({ topic: DEAD_LETTER_TOPIC, partition: 0, records: [before[0] ?? fail()] })
    expect((await replay(journal)).replayed).toBe(1)
    expect(journal.recordsOf(DEAD_LETTER_TOPIC).slice(0, before.length)).toEqual(before)
  })

  test('is seen in the list', async () => {
    const journal = await journalWith([{}])
    await replay(journal)
    await journal.append({
      topic: DEAD_LETTER_TOPIC,
      partition: 0,
      records: [journal.recordsOf(DEAD_LETTER_TOPIC)[0] ?? fail()],
    })
    const listed = await collect(listDeadLetters(journal, { topicPrefix: PREFIX }))
    expect(listed.map(({ replayed }) => replayed)).toEqual([true, false])
  })

  test('with filters takes all that match, replayed or not, and leaves the rest pending', async () => {
    const journal = await journalWith([{ headers: { ce_id: 'a' } }, { headers: { ce_id: 'b' } }])
    expect((await replay(journal, { filters: { id: 'b' } })).replayed).toBe(1)
    expect((await replay(journal, { filters: { id: 'b' } })).replayed).toBe(1)
    expect((await replay(journal, { filters: { reason: 'too_deep' } })).replayed).toBe(0)
    expect((await replay(journal)).replayed).toBe(2)
  })

  test('refuses what failed too often, has no value, has no place or is no dead letter, and counts it', async () => {
    const journal = await journalWith([
      { headers: { 'x-dlq-attempt': '3' } },
      { headers: { 'x-dlq-attempt': '2' } },
      { value: null },
      { partition: 2 },
      { topic: 'other.event-logs.v1' },
      { topic: DEAD_LETTER_TOPIC },
    ])
    await journal.append({ topic: DEAD_LETTER_TOPIC, partition: 0, records: [{ key: null, value: '{}', headers: {} }] })
    expect(await replay(journal)).toEqual({
      replayed: 1,
      repeated: 0,
      refused: { too_many_attempts: 1, no_value: 1, unknown_place: 3, not_a_dead_letter: 1 },
    })
    expect((await replay(journal)).refused).toEqual(NOTHING_REFUSED)
    expect((await replay(journal, { attemptsMax: 9, filters: { view: 'event-logs' } })).replayed).toBe(2)
  })

  test('puts a record back once that two projections had refused', async () => {
    const journal = await journalWith([{ offset: 5 }, { offset: 5 }, { offset: 6 }])
    expect(await replay(journal)).toMatchObject({ replayed: 2, repeated: 1 })
  })

  test('keeps to its rate', async () => {
    const journal = await journalWith(Array.from({ length: 11 }, () => ({})).map((_, offset) => ({ offset })))
    let now = 1_000
    const wait = async (ms: number): Promise<void> => {
      await new Promise(setImmediate)
      now += ms
    }
    const times: number[] = []
    const append: Journal['append'] = (batch) => {
      if (batch.topic === EVENT_TOPIC) times.push(now)
      return journal.append(batch)
    }
    await replay({ ...journal, append }, { ratePerSecond: 10, clock: { now: () => now }, wait })
    expect(times).toEqual(Array.from({ length: 11 }, (_, index) => 1_000 + index * 100))
  })

  test('keeps to its rate though the time of day is set back', async () => {
    const journal = await journalWith([{ offset: 1 }, { offset: 2 }])
    vi.spyOn(Date, 'now').mockReturnValueOnce(86_400_000).mockReturnValue(0)
    const waits: number[] = []
    await replay(journal, { ratePerSecond: 10, wait: async (ms) => void waits.push(ms) })
    expect(waits.filter((ms) => ms > 100)).toEqual([])
  })

  test('that the journal stops is begun again by the next', async () => {
    const journal = await journalWith([{}, {}])
    journal.failAppends('not_written')
    await expect(replay(journal)).rejects.toThrow(AppendError)
    expect((await replay(journal)).replayed).toBe(2)
  })

  test('is not misled by a header that a bad record brought along', async () => {
    const journal = await journalWith([{ headers: { 'x-dlq-replayed-up-to': '99' } }])
    expect((await replay(journal)).replayed).toBe(1)
  })
})

test('a record that was bad for the store is stored once when it is replayed after the cure', async () => {
  const rig = createConsumersRig({ partitions: 1 })
  rig.store.refuse = ({ id }) => (id === idOf(2) ? 'no' : undefined)
  await rig.publish([eventLog(1), eventLog(2)])
  const consumer = rig.consumer('event-logs')
  await consumer.start()
  await rig.caughtUp('event-logs')

  rig.store.refuse = undefined
  expect((await replay(rig.journal)).replayed).toBe(1)
  await rig.caughtUp('event-logs')
  expect((await replay(rig.journal, { filters: { view: 'event-logs' } })).replayed).toBe(1)
  await rig.caughtUp('event-logs')
  expect([...rig.store.documents.keys()]).toEqual([idOf(1), idOf(2)])
  expect(rig.store.documents.get(idOf(2))?.source).toBe(published(eventLog(2)).value)
  await consumer.stop(soon())
})

test('a record that stays bad goes round no more often than allowed', async () => {
  const rig = createConsumersRig({ partitions: 1 })
  await rig.append(EVENT_TOPIC, [{ key: null, value: 'poison', headers: {} }])
  const projections = ['event-logs', 'flows'] as const
  const consumers = projections.map((projection) => rig.consumer(projection))
  await Promise.all(consumers.map((consumer) => consumer.start()))
  const reports: number[] = []
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(projections.map((projection) => rig.caughtUp(projection)))
    reports.push((await replay(rig.journal, { attemptsMax: 2 })).replayed)
  }
  expect(reports).toEqual([1, 1, 0, 0])
  await Promise.all(consumers.map((consumer) => consumer.stop(soon())))
})

function fail(): never {
  throw new Error('there is no such record')
}
