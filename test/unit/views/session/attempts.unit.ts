import { describe, expect, test } from '@jest/globals'
import { clientOf, createAttempts } from '../../../../views/session/attempts.ts'

const LIMITS = { burst: 3, refillMs: 1_000 }
const MANY = { burst: 1_000_000, refillMs: 1 }

function attemptsAt(perClient = LIMITS, overall = MANY) {
  const time = { now: 1_000_000 }
  return { time, ...createAttempts({ now: () => time.now }, perClient, overall) }
}

describe('attempts', () => {
  test('so many may fail in a row, then one after each while', () => {
    const { time, waitOf, failed } = attemptsAt()
    for (let count = 0; count < 3; count += 1) {
      expect(waitOf('a')).toBe(0)
      failed('a')
    }
    expect(waitOf('a')).toBe(1_000)
    time.now += 999
    expect(waitOf('a')).toBe(1)
    time.now += 1
    expect(waitOf('a')).toBe(0)
    failed('a')
    expect(waitOf('a')).toBe(1_000)
  })

  test('time forgives all', () => {
    const { time, waitOf, failed } = attemptsAt()
    for (let count = 0; count < 3; count += 1) failed('a')
    time.now += 3_000
    for (let count = 0; count < 3; count += 1) {
      expect(waitOf('a')).toBe(0)
      failed('a')
    }
  })

  test('one client is not in the way of another, but all together have a limit as well', () => {
    const { waitOf, failed } = attemptsAt(LIMITS, { burst: 5, refillMs: 500 })
    for (let count = 0; count < 3; count += 1) failed('a')
    expect(waitOf('b')).toBe(0)
    failed('b')
    failed('c')
    expect(waitOf('d')).toBe(500)
  })

  test('a flood of clients is held by the limit of all, and forgets the oldest', () => {
    const { waitOf, failed } = attemptsAt()
    for (let count = 0; count < 3; count += 1) failed('first')
    for (let count = 0; count < 10_000; count += 1) failed(`client ${count}`)
    expect(waitOf('first')).toBe(0)
    for (let count = 0; count < 2; count += 1) failed('client 9999')
    expect(waitOf('client 9999')).toBe(1_000)
  })
})

describe('the client of a connection', () => {
  test.each([
    ['198.51.100.7', undefined, '198.51.100.7'],
    ['::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:127.0.0.1', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2'],
    ['2001:db8:1:2::9', undefined, '2001:db8:1:2'],
    ['2001:db8::9', undefined, '2001:db8:0:0'],
    ['fd00::1', '2001:0db8:1:2::1', '2001:db8:1:2'],
    ['::1', undefined, '0:0:0:0'],
    [undefined, undefined, ''],
  ])('%s with X-Forwarded-For %s is %s', (peer, forwarded, client) => {
    expect(clientOf(peer, forwarded)).toBe(client)
  })
})
