import { describe, expect, test } from '@jest/globals'
import { type ListOptions, listDeadLetters } from '../../../consumers/dead-letter-list.ts'
import { deadLetterRecord } from '../../../consumers/dead-letters.ts'
import { type DeadLetterReason, deadLetter } from '../../../consumers/outcome.ts'
import {
  collect,
  DEAD_LETTER_TOPIC,
  EVENT_TOPIC,
  entryTopics,
  idOf,
  PREFIX,
  readRecord,
} from '../../support/consumers-records.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'

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
    expect(await offsets({ limit: 0 })).toEqual([])
  })
})
