import { describe, expect, test } from 'vitest'
import { countedAs, createAttempts } from '../../../../views/session/attempts.ts'

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

  test('one client is not in the way of another', () => {
    const { waitOf, failed } = attemptsAt()
    for (let count = 0; count < 3; count += 1) failed('a')
    expect([waitOf('a'), waitOf('b')]).toEqual([1_000, 0])
  })

  test('many are slowed down together, but not those that have not failed', () => {
    const { time, waitOf, failed } = attemptsAt({ burst: 3, refillMs: 10_000 }, { burst: 5, refillMs: 500 })
    for (const client of ['a', 'b', 'c', 'd', 'e', 'f']) failed(client)
    expect([waitOf('a'), waitOf('f'), waitOf('honest')]).toEqual([1_000, 1_000, 0])
    time.now += 1_000
    expect(waitOf('a')).toBe(0)
  })

  test('a client waits for others no longer than until its own failures are forgiven', () => {
    const { time, waitOf, failed } = attemptsAt(LIMITS, { burst: 1, refillMs: 60_000 })
    failed('a')
    failed('b')
    expect(waitOf('a')).toBe(1_000)
    time.now += 1_000
    expect(waitOf('a')).toBe(0)
  })

  test('a flood of clients has the oldest forgotten', () => {
    const { waitOf, failed } = attemptsAt()
    for (let count = 0; count < 3; count += 1) failed('first')
    for (let count = 0; count < 10_000; count += 1) failed(`client ${count}`)
    expect(waitOf('first')).toBe(0)
    for (let count = 0; count < 2; count += 1) failed('client 9999')
    expect(waitOf('client 9999')).toBe(1_000)
  })

  test('a flood of clients does not have one forgotten that goes on failing', () => {
    const { waitOf, failed } = attemptsAt()
    for (let round = 0; round < 3; round += 1) {
      failed('guessing')
      for (let count = 0; count < 6_000; count += 1) failed(`client ${round} ${count}`)
    }
    expect(waitOf('guessing')).toBe(1_000)
  })
})

describe('failures count for', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
    ['2001::', '2001:0:0:0'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ])('%s as %s', (address, client) => {
    expect(countedAs(address)).toBe(client)
  })
})
