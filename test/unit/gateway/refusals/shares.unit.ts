import { expect, test } from 'vitest'
import { createShares } from '../../../../gateway/refusals/shares.ts'

function sharesAt(start = 0) {
  let time = start
  const mayNote = createShares(() => time)
  const noted = (times: number, team = 'a', code = 'missing_payload'): number =>
    Array.from({ length: times }, () => mayNote(team, code)).filter(Boolean).length
  return {
    noted,
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('the first twenty are noted, and one in each second from there on', () => {
  const { noted, pass } = sharesAt()
  expect(noted(1_000)).toBe(20)
  pass(999)
  expect(noted(1_000)).toBe(0)
  pass(1)
  expect(noted(1_000)).toBe(1)
  pass(3_600_000)
  expect(noted(1_000)).toBe(20)
})

test('a flood hides neither another code nor another Team', () => {
  const { noted } = sharesAt()
  noted(1_000_000)
  expect(noted(1_000, 'a', 'invalid_api_key')).toBe(20)
  expect(noted(1_000, 'b')).toBe(20)
})

test('a Team that makes every mistake there is leaves room for the others, then and later', () => {
  const { noted, pass } = sharesAt()
  const flood = (team: string): void => {
    for (let code = 0; code < 50; code += 1) noted(100, team, `code-${code}`)
  }
  for (let second = 0; second < 60; second += 1) {
    flood('a')
    flood('b')
    expect(noted(1, 'c')).toBe(1)
    pass(1_000)
  }
})

test('all together are bounded, however many Teams there are', () => {
  const { noted, pass } = sharesAt()
  const all = (): number =>
    Array.from({ length: 100 }, (_, n) => noted(100, `team-${n}`)).reduce((sum, count) => sum + count)
  // The last one stays free, as no Team may take more than three times what is left.
  expect(all()).toBe(199)
  pass(10_000)
  expect(all()).toBe(199)
  pass(1_000)
  expect(all()).toBe(20)
})

test('a clock that is set back gives nothing and takes nothing', () => {
  const { noted, pass } = sharesAt(1_000_000)
  expect(noted(15)).toBe(15)
  pass(-500_000)
  expect(noted(100)).toBe(5)
})

test('of what all gateways note together, one notes its share', () => {
  let time = 0
  const mayNote = createShares(
    () => time,
    () => 0.25,
  )
  const all = (): number =>
    Array.from({ length: 1_000 }, (_, n) => mayNote(`team-${n}`, 'missing_payload')).filter(Boolean).length
  all()
  time += 10_000
  expect(all()).toBe(50)
})
