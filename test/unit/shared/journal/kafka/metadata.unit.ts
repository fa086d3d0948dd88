import { describe, expect, test } from '@jest/globals'
import { metadataV12, Reader, Writer } from '@platformatic/kafka'
import { keepNewest, type Leaders, parseMetadata } from '../../../../../shared/journal/kafka/metadata.ts'

const TOPIC_ID = '11111111-2222-3333-4444-555555555555'
const LEADER_NOT_AVAILABLE = 5
const UNKNOWN_TOPIC = 3

interface Partition {
  readonly leader: number
  readonly epoch: number
  readonly errorCode?: number
}

/** A broker's answer about one topic. */
function answer(partitions: readonly Partition[], topicError = 0): Reader {
  const nodes = (writer: Writer): Writer => writer.appendArray([1], (w, node) => w.appendInt32(node), true, false)
  const writer = Writer.create()
    .appendInt32(0)
    .appendArray([1, 2], (w, node) => w.appendInt32(node).appendString('host').appendInt32(9092).appendString(null))
    .appendString('cluster')
    .appendInt32(1)
    .appendArray(['logs'], (w, name) =>
      w
        .appendInt16(topicError)
        .appendString(name)
        .appendUUID(TOPIC_ID)
        .appendBoolean(false)
        .appendArray([...partitions.entries()], (each, [index, { leader, epoch, errorCode = 0 }]) => {
          each.appendInt16(errorCode).appendInt32(index).appendInt32(leader).appendInt32(epoch)
          nodes(nodes(nodes(each)))
        })
        .appendInt32(0),
    )
    .appendTaggedFields()
  return Reader.from(writer.buffer)
}
const parse = (reader: Reader) => parseMetadata(1, metadataV12.api.key, metadataV12.api.version, reader)
const leadersOf = (reader: Reader) => parse(reader).topics[0]?.partitions.map(({ leaderId }) => leaderId)

describe('parseMetadata', () => {
  test('gives the leaders of all partitions', () => {
    expect(
      leadersOf(
        answer([
          { leader: 1, epoch: 4 },
          { leader: 2, epoch: 5 },
        ]),
      ),
    ).toEqual([1, 2])
  })

  test('a partition without a leader leaves the others as they are', () => {
    const unled = { leader: 2, epoch: 5, errorCode: LEADER_NOT_AVAILABLE }
    expect(leadersOf(answer([{ leader: 1, epoch: 4 }, unled]))).toEqual([1, -1])
  })

  test('an error of the topic is an error still', () => {
    expect(() => parse(answer([], UNKNOWN_TOPIC))).toThrow('Received response with error')
  })

  test('an answer that is cut off is an error still', () => {
    const whole = answer([{ leader: 1, epoch: 4 }]).buffer.slice()
    expect(() => parse(Reader.from(whole.subarray(0, whole.length - 10)))).toThrow()
  })
})

describe('keepNewest', () => {
  const leadersNow = (leaders: Leaders, ...partitions: readonly Partition[]) =>
    keepNewest(parse(answer(partitions)), leaders).topics[0]?.partitions.map(({ leaderId, leaderEpoch }) => [
      leaderId,
      leaderEpoch,
    ])

  test('a leader of a later term is believed, one of an earlier term is not, whatever is said of other partitions', () => {
    const leaders: Leaders = new Map()
    expect(leadersNow(leaders, { leader: 1, epoch: 4 }, { leader: 1, epoch: 9 })).toEqual([
      [1, 4],
      [1, 9],
    ])
    expect(leadersNow(leaders, { leader: 2, epoch: 5 }, { leader: 1, epoch: 9 })).toEqual([
      [2, 5],
      [1, 9],
    ])
    expect(leadersNow(leaders, { leader: 1, epoch: 4 }, { leader: 2, epoch: 10 })).toEqual([
      [2, 5],
      [2, 10],
    ])
    expect(leadersNow(leaders, { leader: 1, epoch: 6 }, { leader: 2, epoch: 10 })).toEqual([
      [1, 6],
      [2, 10],
    ])
  })

  test('a partition that has lost its leader in a later term has none', () => {
    const leaders: Leaders = new Map()
    leadersNow(leaders, { leader: 1, epoch: 4 })
    expect(leadersNow(leaders, { leader: -1, epoch: 5, errorCode: LEADER_NOT_AVAILABLE })).toEqual([[-1, 5]])
    expect(leadersNow(leaders, { leader: 1, epoch: 4 })).toEqual([[-1, 5]])
  })
})
