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
    const { time, waitOf, count } = attemptsAt()
    for (let times = 0; times < 3; times += 1) {
      expect(waitOf('a')).toBe(0)
      count('a')
    }
    expect(waitOf('a')).toBe(1_000)
    time.now += 999
    expect(waitOf('a')).toBe(1)
    time.now += 1
    expect(waitOf('a')).toBe(0)
    count('a')
    expect(waitOf('a')).toBe(1_000)
  })

  test('time forgives all', () => {
    const { time, waitOf, count } = attemptsAt()
    for (let times = 0; times < 3; times += 1) count('a')
    time.now += 3_000
    for (let times = 0; times < 3; times += 1) {
      expect(waitOf('a')).toBe(0)
      count('a')
    }
  })

  test('one client is not in the way of another', () => {
    const { waitOf, count } = attemptsAt()
    for (let times = 0; times < 3; times += 1) count('a')
    expect([waitOf('a'), waitOf('b')]).toEqual([1_000, 0])
  })

  test('many are slowed down together, but not those that have not failed', () => {
    const { time, waitOf, count } = attemptsAt({ burst: 3, refillMs: 10_000 }, { burst: 5, refillMs: 500 })
    for (const client of ['a', 'b', 'c', 'd', 'e', 'f']) count(client)
    expect([waitOf('a'), waitOf('f'), waitOf('honest')]).toEqual([1_000, 1_000, 0])
    time.now += 1_000
    expect(waitOf('a')).toBe(0)
  })

  test('a client waits for others no longer than until its own failures are forgiven', () => {
    const { time, waitOf, count } = attemptsAt(LIMITS, { burst: 1, refillMs: 60_000 })
    count('a')
    count('b')
    expect(waitOf('a')).toBe(1_000)
    time.now += 1_000
    expect(waitOf('a')).toBe(0)
  })

  test('a flood of clients has the oldest forgotten', () => {
    const { waitOf, count } = attemptsAt()
    for (let times = 0; times < 3; times += 1) count('first')
    for (let times = 0; times < 10_000; times += 1) count(`client ${times}`)
    expect(waitOf('first')).toBe(0)
    for (let times = 0; times < 2; times += 1) count('client 9999')
    expect(waitOf('client 9999')).toBe(1_000)
  })

  test('a flood of clients does not have one forgotten that goes on failing', () => {
    const { waitOf, count } = attemptsAt()
    for (let round = 0; round < 3; round += 1) {
      count('guessing')
      for (let times = 0; times < 6_000; times += 1) count(`client ${round} ${times}`)
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
