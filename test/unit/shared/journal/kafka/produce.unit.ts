import { type Connection, type produceV9, Reader, type Writer } from '@platformatic/kafka'
import { describe, expect, test } from 'vitest'
import { produce } from '../../../../../shared/journal/kafka/append.ts'

const TARGET = { topic: 'logs', partition: 3 }
const BATCH = Buffer.from('a record batch')
const PRODUCE = 0
const ALL_REPLICAS_IN_SYNC = -1

type Answer = (error: Error | null, response?: produceV9.ProduceResponse) => void

/** A connection that keeps the request and has the test answer it. */
function fakeConnection(respond: (answer: Answer) => void) {
  const sent: { api: number; version: number; request: Reader }[] = []
  const send = (api: number, version: number, payload: () => Writer, ...rest: readonly unknown[]): void => {
    sent.push({ api, version, request: Reader.from(payload().buffer) })
    respond(rest.at(-1) as Answer)
  }
  return { sent, connection: { send } as unknown as Connection }
}

const response = (name: string, index: number, baseOffset = 7n, errorCode = 0): produceV9.ProduceResponse => ({
  throttleTimeMs: 0,
  responses: [
    {
      name,
      partitionResponses: [
        {
          index,
          errorCode,
          baseOffset,
          logAppendTimeMs: -1n,
          logStartOffset: 0n,
          recordErrors: [],
          errorMessage: null,
        },
      ],
    },
  ],
})

describe('a produce request', () => {
  test('asks for the confirmation of every replica in sync, and holds the batch for its one partition', async () => {
    const { sent, connection } = fakeConnection((answer) => answer(null, response('logs', 3)))
    expect(await produce(connection, TARGET, BATCH, 3_000)).toEqual({ isConfirmed: true, mutedMs: 0 })
    const [only, ...more] = sent
    expect(more).toEqual([])
    expect([only?.api, only?.version]).toEqual([PRODUCE, 9])
    const request = only?.request as Reader
    expect(request.readNullableString()).toBeNull()
    expect(request.readInt16()).toBe(ALL_REPLICAS_IN_SYNC)
    expect(request.readInt32()).toBe(3_000)
    const topics = request.readArray((topic) => ({
      name: topic.readString(),
      partitions: topic.readArray((partition) => ({ index: partition.readInt32(), records: partition.readBytes() })),
    }))
    expect(topics).toEqual([{ name: 'logs', partitions: [{ index: 3, records: BATCH }] }])
  })

  test.each([
    ['of another topic', response('others', 3)],
    ['of another partition', response('logs', 2)],
    ['without an offset', response('logs', 3, -1n)],
    ['with an error', response('logs', 3, 7n, 6)],
    ['of nothing', { throttleTimeMs: 0, responses: [] }],
    ['that is empty', undefined],
  ])('is not confirmed by an answer %s', async (_, given) => {
    const { connection } = fakeConnection((answer) => answer(null, given))
    expect(await produce(connection, TARGET, BATCH, 3_000)).toMatchObject({ isConfirmed: false })
  })

  test('fails as the library says it did', async () => {
    const failure = new Error('not the leader')
    const { connection } = fakeConnection((answer) => answer(failure))
    await expect(produce(connection, TARGET, BATCH, 3_000)).rejects.toBe(failure)
  })
})
