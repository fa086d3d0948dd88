import { describe, expect, test } from '@jest/globals'
import { MultipleErrors, NetworkError, ProtocolError, TimeoutError } from '@platformatic/kafka'
import { describeFault, errorCodes, isUnknownTopic, judgeAppend } from '../../../../../shared/journal/kafka/faults.ts'

const refused = (...codes: string[]) =>
  new MultipleErrors(
    'produce failed',
    codes.map((code) => new ProtocolError(code)),
  )

describe('judging an append that failed', () => {
  test('a refusal for good is not written and not repeated', () => {
    expect(judgeAppend(refused('MESSAGE_TOO_LARGE'))).toEqual({ outcome: 'not_written', retry: false })
    expect(judgeAppend(refused('TOPIC_AUTHORIZATION_FAILED'))).toEqual({ outcome: 'not_written', retry: false })
  })

  test('too few replicas before the write is not written and repeated', () => {
    expect(judgeAppend(refused('NOT_ENOUGH_REPLICAS'))).toEqual({ outcome: 'not_written', retry: true })
  })

  test.each([
    ['what a leader held that was deposed before the replicas had it', refused('NOT_LEADER_OR_FOLLOWER')],
    ['too few replicas after the write', refused('NOT_ENOUGH_REPLICAS_AFTER_APPEND')],
    ['a time-out of the replication', refused('REQUEST_TIMED_OUT')],
    ['a time-out of the request', new TimeoutError('Request timed out')],
    ['a lost connection', new NetworkError('Connection closed')],
    ['an error that nobody expects', new TypeError('undefined is not a function')],
    ['a refusal beside something else', refused('MESSAGE_TOO_LARGE', 'REQUEST_TIMED_OUT')],
  ])('%s may have been written', (_, error) => {
    expect(judgeAppend(error).outcome).toBe('unknown')
  })
})

describe('reading an error of the library', () => {
  test('codes and reasons are found however deep they are', () => {
    const error = new MultipleErrors('outer', [new MultipleErrors('inner', [new ProtocolError('NOT_COORDINATOR')])])
    expect(errorCodes(error)).toEqual(['NOT_COORDINATOR'])
    expect(describeFault(new NetworkError('no way', { cause: new Error('refused') }))).toBe('no way refused')
    expect(isUnknownTopic(refused('UNKNOWN_TOPIC_OR_PARTITION'))).toBe(true)
    expect(isUnknownTopic(error)).toBe(false)
  })
})
