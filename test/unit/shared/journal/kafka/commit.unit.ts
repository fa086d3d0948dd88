import { ProtocolError } from '@platformatic/kafka'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { commitPosition, type SendCommit } from '../../../../../shared/journal/kafka/commit.ts'

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

test('commits in a topic that is gone are told of once for all its partitions, and anew after it was back', async () => {
  const told: unknown[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  let refusals: string[] = []
  const send = async (): Promise<void> => {
    const code = refusals.shift()
    if (code !== undefined) throw new ProtocolError(code)
  }
  const commit = commitPosition(send, logger, undefined, 0)
  const commitAll = async (refusal: string): Promise<void> => {
    refusals = Array(60).fill(refusal)
    const place = { position: 7, leaderEpoch: 0 }
    // At the same time, as none of them succeeds before the topic is back.
    await Promise.all([0, 1].map((partition) => commit('logs', partition, place, new AbortController().signal)))
  }
  await commitAll('UNKNOWN_TOPIC_OR_PARTITION')
  expect(told).toHaveLength(1)
  await commitAll('UNKNOWN_TOPIC_OR_PARTITION')
  expect(told).toHaveLength(2)
  await commitAll('COORDINATOR_NOT_AVAILABLE')
  expect(told).toHaveLength(4)
})

test('another fault of a topic that is gone is told too', async () => {
  const told: unknown[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  const attempts = [0, 0]
  const send: SendCommit = async ([topic]) => {
    const partition = topic?.partitions[0]?.partitionIndex ?? 0
    attempts[partition] = (attempts[partition] ?? 0) + 1
    if (attempts.some((count) => count < 30))
      throw new ProtocolError(partition === 0 ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'COORDINATOR_NOT_AVAILABLE')
  }
  const commit = commitPosition(send, logger, undefined, 0)
  const place = { position: 7, leaderEpoch: 0 }
  await Promise.all([0, 1].map((partition) => commit('logs', partition, place, new AbortController().signal)))
  expect(told).toMatchObject([{ partition: 0 }, { partition: 1 }])
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

test('a position in a topic that is gone is not committed in one that takes its name', async () => {
  let attempts = 0
  const send = async (): Promise<void> => {
    attempts += 1
    throw new ProtocolError('UNKNOWN_TOPIC_OR_PARTITION')
  }
  const commit = commitPosition(send, pino({ level: 'silent' }), undefined, 0)
  // A broker lags behind; then there is no topic; then another one.
  const answers = [true, true, null, null, false]
  const asked: boolean[] = []
  const isStillThere = async (isDoubtful: boolean): Promise<boolean | null> => {
    asked.push(isDoubtful)
    return answers[asked.length - 1] as boolean | null
  }
  const place = { position: 7, leaderEpoch: 0 }
  expect(await commit('logs', 3, place, new AbortController().signal, isStillThere)).toBe('replaced')
  expect(attempts).toBe(2)
  expect(asked).toEqual([false, true, true, true, true])
})
