import {
  MultipleErrors,
  NetworkError,
  ProtocolError,
  produceV9,
  Reader,
  TimeoutError,
  Writer,
} from '@platformatic/kafka'
import { describe, expect, test } from 'vitest'
import {
  describeFault,
  errorCodes,
  isOfTopic,
  isRefusedForGood,
  isUnknownTopic,
  judgeAppend,
  KafkaError,
} from '../../../../../shared/journal/kafka/faults.ts'

const refused = (...codes: string[]) =>
  new MultipleErrors(
    'produce failed',
    codes.map((code) => new ProtocolError(code)),
  )

/** The library's error for an answer about one partition in which the broker complains about two records. */
function refusedRecords(errorCode: number): unknown {
  const answer = Writer.create()
    .appendArray(['logs'], (topic, name) =>
      topic.appendString(name).appendArray([0], (partition, index) =>
        partition
          .appendInt32(index)
          .appendInt16(errorCode)
          .appendInt64(-1n) // base offset
          .appendInt64(-1n) // time of the append
          .appendInt64(-1n) // start of the log
          .appendArray([0, 1], (record, at) => record.appendInt32(at).appendString('out of range'))
          .appendString('some records were rejected'),
      ),
    )
    .appendInt32(0)
    .appendTaggedFields()
  try {
    return produceV9.parseResponse(1, produceV9.api.key, produceV9.api.version, Reader.from(answer.buffer))
  } catch (error) {
    return error
  }
}

describe('judging an append that failed', () => {
  test('a refusal for good is not written and not repeated', () => {
    expect(judgeAppend(refused('MESSAGE_TOO_LARGE'))).toEqual({ outcome: 'not_written', retry: false })
    expect(judgeAppend(refused('TOPIC_AUTHORIZATION_FAILED'))).toEqual({ outcome: 'not_written', retry: false })
  })

  test.each([
    ['INVALID_TIMESTAMP', 32],
    ['INVALID_RECORD', 87],
  ])('a refusal for good of single records, and so of their batch, is one: %s', (name, code) => {
    const error = refusedRecords(code)
    expect(errorCodes(error)).toEqual(['UNKNOWN_SERVER_ERROR', 'UNKNOWN_SERVER_ERROR', name])
    expect(judgeAppend(error)).toEqual({ outcome: 'not_written', retry: false })
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
    ['an error that the broker has no code for', refused('UNKNOWN_SERVER_ERROR')],
    ['such an error beside complaints about records', refusedRecords(-1)],
    ['a time-out beside complaints about records', refusedRecords(7)],
    ['a refusal beside something else', refused('MESSAGE_TOO_LARGE', 'REQUEST_TIMED_OUT')],
  ])('%s may have been written', (_, error) => {
    expect(judgeAppend(error).outcome).toBe('unknown')
  })
})

describe('a refusal', () => {
  test.each([
    ['a batch that is too large', refused('MESSAGE_TOO_LARGE')],
    ['records that the broker complains about', refusedRecords(87)],
    ['a topic without the right to write it', refused('TOPIC_AUTHORIZATION_FAILED')],
    ['a topic that does not exist', refused('UNKNOWN_TOPIC_OR_PARTITION')],
  ])('says nothing of other topics: %s', (_, error) => {
    expect(isOfTopic(error)).toBe(true)
  })

  test.each([
    ['a login', refused('SASL_AUTHENTICATION_FAILED')],
    ['a client without rights', refused('CLUSTER_AUTHORIZATION_FAILED')],
    ['too few replicas', refused('NOT_ENOUGH_REPLICAS')],
    ['an error that the broker has no code for', refused('UNKNOWN_SERVER_ERROR')],
    ['a certificate', new NetworkError('self-signed certificate')],
  ])('may be of all topics: %s', (_, error) => {
    expect(isOfTopic(error)).toBe(false)
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

  test('what a broker says beside its code is told: the policy that refuses a topic is named nowhere else', () => {
    const error = new ProtocolError('POLICY_VIOLATION', 'segment.bytes must be at least 52428800')
    expect(describeFault(new MultipleErrors('Creating topics failed.', [error]))).toBe(
      'Creating topics failed. Request parameters do not satisfy the configured policy. ' +
        'segment.bytes must be at least 52428800',
    )
    expect(isUnknownTopic(new ProtocolError('INVALID_CONFIG', 'Unknown topic config name: segment.bytes'))).toBe(false)
  })

  test('told once, it says the same wherever it is told again, and keeps its codes', () => {
    const told = new KafkaError(new MultipleErrors('outer', [new ProtocolError('NOT_COORDINATOR')]))
    expect(told.message).toMatch(/^outer /)
    expect(describeFault(told)).toBe(told.message)
    expect(describeFault(new KafkaError(told))).toBe(told.message)
    expect(errorCodes(told)).toEqual(['NOT_COORDINATOR'])
  })

  test('the right that is missing is looked up, the limit that is too low is named, and the clock is looked at', () => {
    expect(describeFault(refused('MESSAGE_TOO_LARGE'))).toContain('(max.message.bytes of the topic has to be raised)')
    expect(describeFault(refused('GROUP_AUTHORIZATION_FAILED'))).toContain('(docs/kafka.md lists the rights')
    expect(describeFault(refused('TOPIC_AUTHORIZATION_FAILED'))).toContain('(docs/kafka.md lists the rights')
    const clock = 'the topic needs message.timestamp.type=LogAppendTime, or the clock'
    expect(describeFault(refused('INVALID_TIMESTAMP'))).toContain(clock)
    const single = 'Timestamp 1795814575218 of message with offset 0 is out of range. The timestamp should be within …'
    expect(describeFault(new MultipleErrors('produce failed', Array(20).fill(new Error(single))))).toContain(clock)
  })

  test.each([
    ["Hostname/IP does not match certificate's altnames: Host: a", "the broker's certificate has to name the host"],
    ['unable to verify the first certificate', 'KAFKA_SSL_CA_FILE has to name'],
    ['certificate has expired', "the brokers' certificate or that of its authority has to be renewed"],
    ['certificate is not yet valid', "the brokers' certificate or that of its authority has to be renewed"],
    ['self-signed certificate in certificate chain', 'KAFKA_SSL_CA_FILE has to name'],
    ['SASL authentication failed.', 'check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'],
    ['Broker requires TLS.', 'set KAFKA_SSL=true'],
    ['metadata failed 3 times. Connection closed', 'brokers that close a connection at once may want TLS'],
    ['Cannot connect to any broker. connect ECONNREFUSED', 'check KAFKA_BROKERS, and that the brokers run'],
    ['Cannot connect to any broker. connect EMFILE 127.0.0.1:9092', 'the process may not open as many files'],
    ['Connection to kafka.internal:9092 failed. getaddrinfo ENOTFOUND', 'the brokers advertise this address'],
    ['TLS handshake failed. Please verify the broker supports TLS.', 'the broker may take no TLS: check KAFKA_SSL'],
  ])('%s: with what to do about it', (message, advice) => {
    const told = describeFault(new NetworkError('cannot connect', { cause: new Error(`${message}\n`) }))
    expect(told).toContain(`cannot connect ${message} (${advice}`)
  })

  test('a broker that does not answer is not said to want TLS', () => {
    const told = 'metadata failed 3 times. Connection closed Request timed out'
    expect(describeFault(new NetworkError(told))).toBe(told)
  })

  test('a topic that may not be seen is refused for good, as one that may not be written', () => {
    expect(isRefusedForGood(refused('TOPIC_AUTHORIZATION_FAILED'))).toBe(true)
    expect(isRefusedForGood(refused('LEADER_NOT_AVAILABLE'))).toBe(false)
  })

  test('what may pass is tried again: a connection that ends while the broker is asked, say by its restart', () => {
    expect(isRefusedForGood(new NetworkError('SASL authentication failed.'))).toBe(true)
    expect(isRefusedForGood(new NetworkError('Cannot find a suitable SASL mechanism. Connection closed'))).toBe(false)
    expect(isRefusedForGood(new NetworkError('connect ECONNREFUSED'))).toBe(false)
  })
})
