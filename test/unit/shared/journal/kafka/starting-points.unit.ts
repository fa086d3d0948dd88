import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import type { Cluster, GroupPosition } from '../../../../../shared/journal/kafka/cluster.ts'
import { findStartingPoints, type StartingPoint } from '../../../../../shared/journal/kafka/starting-points.ts'
import { systemClock } from '../../../../../shared/runtime/clock.ts'
import { connectionTo, testLogger } from '../../../../support/kafka.ts'

/** Asks for the position in one partition until the answers of the cluster have one. */
function lookUp(positionsOf: Cluster['positionsOf'], logger = testLogger) {
  const stop = new AbortController()
  const found: StartingPoint[] = []
  const done = findStartingPoints({
    context: {
      clock: systemClock,
      connection: connectionTo([]),
      cluster: { positionsOf } as Cluster,
      logger,
      closing: new AbortController().signal,
      requestTimeoutMs: 60_000,
      maxWaitMs: 100,
      maxPartitionBytes: 1_000,
    },
    group: 'group',
    partitions: [{ topic: 'logs', partition: 0, obstacle: '', answeredAt: 0, refusal: null }],
    signal: stop.signal,
    isSought: () => found.length === 0,
    onFound: (_, point) => found.push(point),
  })
  return { stop, found, done }
}

const at = (position: number | null, end: number, { leaderEpoch = -1, first = 0 } = {}) =>
  new Map<number, GroupPosition>([[0, { first, end, committed: position === null ? null : { position, leaderEpoch } }]])

test('a look-up ends when its member ends, though no broker answers', async () => {
  const asked = Promise.withResolvers<void>()
  const { stop, done } = lookUp(() => {
    asked.resolve()
    return new Promise(() => undefined)
  })
  await asked.promise
  stop.abort()
  await done
})

test('a position that Kafka has yet to remove with its deleted topic is none of the topic made anew', async () => {
  const answers = [at(3, 0), at(null, 5)]
  const { found, done } = lookUp(async () => answers.shift() ?? at(null, 5))
  await done
  expect(found).toEqual([{ topic: 'logs', partition: 0, position: 0, leaderEpoch: -1 }])
})

test('a position comes with the epoch that was committed with it', async () => {
  const { found, done } = lookUp(async () => at(3, 5, { leaderEpoch: 7 }))
  await done
  expect(found).toEqual([{ topic: 'logs', partition: 0, position: 3, leaderEpoch: 7 }])
})

test.each([
  [
    'without its epoch is refused',
    -1,
    'logs/0: the group stands at 3, but the topic ends at 0; it was made anew or lost records (docs/runbooks/SluiceViewHalted.md',
  ],
  ['is judged by the leader if its epoch is known', 7, undefined],
])('a position that stays after the end %s', async (_, epoch, refusal) => {
  const now = vi.spyOn(performance, 'now')
  const { found, done } = lookUp(async () => {
    now.mockReturnValue(Number.MAX_SAFE_INTEGER)
    return at(3, 0, { leaderEpoch: epoch })
  })
  expect(await done.catch(({ message }: Error) => message)).toEqual(refusal && expect.stringContaining(refusal))
  expect(found).toEqual(refusal === undefined ? [{ topic: 'logs', partition: 0, position: 3, leaderEpoch: epoch }] : [])
  now.mockRestore()
})

test.each([
  ['has a position', at(3, 5, { first: 2 }), []],
  ['is new, as its topic is', at(null, 5), []],
  [
    'has none, where records are gone: Kafka may have removed it with them',
    at(null, 5, { first: 2 }),
    [{ group: 'group', topic: 'logs', partition: 0, first: 2 }],
  ],
])('a group begins with a warning if it may have missed records: one that %s', async (_, answer, warnings) => {
  const told: unknown[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line)) })
  const { found, done } = lookUp(async () => answer, logger)
  await done
  expect(found).toHaveLength(1)
  expect(told).toHaveLength(warnings.length)
  expect(told).toMatchObject(warnings)
})
