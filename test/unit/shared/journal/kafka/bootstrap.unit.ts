import { EventEmitter } from 'node:events'
import { describe, expect, test } from '@jest/globals'
import { type Base, type Broker, kGetBootstrapConnection } from '@platformatic/kafka'
import { askPastSilent } from '../../../../../shared/journal/kafka/bootstrap.ts'
import { connectionTo } from '../../../../support/kafka.ts'

type Client = Parameters<typeof askPastSilent>[0]

/** A client that notes at which place of its list it begins; the list is the connection's, then what the metadata knows. */
function setUp(connection = connectionTo(['one:9092', 'two:9092', '[::1]:9094'])) {
  const connections = new EventEmitter()
  const places: (number | undefined)[] = []
  const brokers = new Map<number, Broker>()
  const state = { closed: false }
  const client = askPastSilent(
    {
      connections: connections as unknown as Base['connections'],
      get closed() {
        return state.closed
      },
      get currentMetadata() {
        return { brokers } as Base['currentMetadata']
      },
      [kGetBootstrapConnection]: (_callback, attempt) => void places.push(attempt),
    } satisfies Client,
    connection,
  )
  return {
    connection,
    learn: (node: number, broker: Broker) => brokers.set(node, broker),
    close: () => {
      state.closed = true
    },
    loses: (host: string, port = 9092, event: 'disconnect' | 'failed' = 'disconnect') =>
      connections.emit(event, { broker: { host, port } }),
    /** The place where a request begins. */
    asks: (attempt?: number) => {
      client[kGetBootstrapConnection](() => undefined, attempt)
      return places.at(-1)
    },
  }
}

describe('askPastSilent', () => {
  test('begins with the first broker, and goes through all of them by attempts', () => {
    const { asks } = setUp()
    expect([asks(), asks(0), asks(1), asks(2), asks(3)]).toEqual([0, 0, 1, 2, 0])
  })

  test.each(['disconnect', 'failed'] as const)('passes over a broker after: %s', (event) => {
    const { asks, loses } = setUp()
    loses('one', 9092, event)
    expect([asks(), asks(1), asks(2)]).toEqual([1, 2, 1])
    loses('two', 9092, event)
    expect([asks(), asks(1)]).toEqual([2, 2])
  })

  test('one that stands in the list and in the metadata is passed over in both', () => {
    const { asks, loses, learn } = setUp()
    learn(1, { host: 'one', port: 9092 })
    learn(4, { host: 'four', port: 9092 })
    for (const host of ['one', 'two']) loses(host)
    loses('::1', 9094)
    expect([asks(), asks(1)]).toEqual([4, 4])
  })

  test('begins anew when all of them are silent', () => {
    const { asks, loses } = setUp()
    for (const host of ['one', 'two']) loses(host)
    loses('::1', 9094)
    expect([asks(), asks(1)]).toEqual([0, 1])
  })

  test('clients of a connection learn from each other, but not from one that is closed', () => {
    const one = setUp()
    const other = setUp(one.connection)
    one.loses('one')
    expect(other.asks()).toBe(1)
    one.close()
    one.loses('two')
    expect(other.asks()).toBe(1)
  })
})
