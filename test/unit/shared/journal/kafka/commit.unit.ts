import { ProtocolError } from '@platformatic/kafka'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { commitPosition } from '../../../../../shared/journal/kafka/commit.ts'

test.each([
  ['a moment, as while the coordinator moves', 20, []],
  ['longer, as while the topic of the positions lacks replicas', 30, [{ topic: 'logs', partition: 3, position: 7 }]],
])('a commit that is refused for %s', async (_, refusals, warnings) => {
  const told: unknown[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  let attempts = 0
  const send = async (): Promise<void> => {
    if (++attempts <= refusals) throw new ProtocolError('COORDINATOR_NOT_AVAILABLE')
  }
  const commit = commitPosition(send, logger, undefined, 0)
  const place = { position: 7, leaderEpoch: 0 }
  expect(await commit('logs', 3, place, new AbortController().signal)).toBe('committed')
  expect(told).toMatchObject(warnings)
  expect(told).toHaveLength(warnings.length)
})

test('a commit goes without its note where the brokers allow none of its length', async () => {
  const notes: unknown[] = []
  const commit = commitPosition(
    async ([topic]) => {
      notes.push(topic?.partitions[0]?.committedMetadata)
      if (notes.at(-1) !== null) throw new ProtocolError('OFFSET_METADATA_TOO_LARGE')
    },
    pino({ level: 'silent' }),
    () => 'store',
    0,
  )
  expect(await commit('logs', 3, { position: 7, leaderEpoch: 0 }, new AbortController().signal)).toBe('committed')
  expect(notes).toEqual(['store', null])
})
