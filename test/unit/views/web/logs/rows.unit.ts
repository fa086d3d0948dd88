import { describe, expect, test } from 'vitest'
import { timestampOf } from '../../../../../shared/contract/timestamp.ts'
import type { Entry } from '../../../../../views/schemas/answers.ts'
import {
  FOLLOWED_MAX,
  type Followed,
  follow,
  HELD_MAX,
  NO_ROWS,
  NOTHING_FOLLOWED,
  queue,
  type Rows,
  readAgain,
  released,
  withPage,
} from '../../../../../views/web/logs/rows.ts'
import * as fc from '../../../../support/fast-check.ts'
import { eventEntry } from '../../details/entries.ts'

/** An entry at a second; entries of one second are told apart by their id. */
const at = (second: number, id = String(second).padStart(6, '0')): Entry =>
  eventEntry({ id, timestamp: timestampOf(second * 1_000) })

const idsOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ id }) => id)
const ids = ({ rows }: Pick<Followed, 'rows'>): readonly string[] => idsOf(rows.entries)
const range = (from: number, count: number): readonly Entry[] => Array.from({ length: count }, (_, i) => at(from - i))
const rowsOf = (entries: readonly Entry[], more: Partial<Rows> = {}): Rows => ({ ...NO_ROWS, entries, ...more })
const listOf = (entries: readonly Entry[], more: Partial<Rows> = {}): Followed => ({
  ...NOTHING_FOLLOWED,
  rows: rowsOf(entries, more),
})

describe('a page after the last row', () => {
  test('goes on, and says where to go on from', () => {
    const rows = withPage(rowsOf([at(3), at(2)], { next: { cursor: 'a' } }), [at(1)], { cursor: 'b' })
    expect(idsOf(rows.entries)).toEqual(idsOf([at(3), at(2), at(1)]))
    expect(rows.next).toEqual({ cursor: 'b' })
  })

  test('brings what is there already no second time', () => {
    const rows = withPage(rowsOf([at(3), at(2)], { next: { cursor: 'a' } }), [at(2), at(1), at(1)], null)
    expect(idsOf(rows.entries)).toEqual(idsOf([at(3), at(2), at(1)]))
  })
})

describe('a list that a tail goes on', () => {
  test('takes what arrives, each once', () => {
    const next = follow(listOf([at(9), at(5)]), [at(10), at(9), at(7), at(10)], false)
    expect(ids(next)).toEqual(idsOf([at(10), at(9), at(7), at(5)]))
    expect(next).toMatchObject({ held: [], heldCount: 0, elsewhere: 0 })
  })

  test('what arrives late stands in its place, and what is further down is told', () => {
    const next = follow(listOf([at(9), at(5)], { next: { cursor: 'more' } }), [at(7), at(10), at(1)], false)
    expect(ids(next)).toEqual(idsOf([at(10), at(9), at(7), at(5)]))
    expect(next.elsewhere).toBe(1)
  })

  test('the oldest go where there are too many, and reading on brings them back', () => {
    const { rows } = follow(listOf(range(10_000, FOLLOWED_MAX)), [at(10_001), at(10_002)], false)
    expect(rows.entries).toHaveLength(FOLLOWED_MAX)
    expect(rows.entries[0]).toEqual(at(10_002))
    const last = 10_003 - FOLLOWED_MAX
    expect(rows.entries.at(-1)).toEqual(at(last))
    expect(rows.next).toEqual({ to: new Date(last * 1_000 + 1).toISOString() })
    const page = [at(last), at(last - 1), at(last - 2)]
    expect(idsOf(withPage(rows, page, null).entries)).toEqual(idsOf(range(10_002, FOLLOWED_MAX + 2)))
  })

  test('the oldest that wait for a list go where there are too many, and reading on brings them back', () => {
    const all = range(10_000, FOLLOWED_MAX + 5)
    const waiting: Entry[] = []
    for (const entry of all.toReversed()) queue(waiting, entry)
    expect(waiting).toHaveLength(FOLLOWED_MAX)
    const { rows } = follow(listOf(all.slice(0, 3), { next: { cursor: 'more' } }), waiting, false)
    expect(idsOf(withPage(rows, all.slice(3), null).entries)).toEqual(idsOf(all))
  })

  test('nanoseconds and ids order what arrives in the same millisecond', () => {
    const one = eventEntry({ id: 'a', timestamp: '2026-01-31T09:30:00.123Z' })
    const two = eventEntry({ id: 'b', timestamp: '2026-01-31T09:30:00.123Z' })
    const three = eventEntry({ id: '0', timestamp: '2026-01-31T09:30:00.123000001Z' })
    expect(ids(follow(NOTHING_FOLLOWED, [one, three, two], false))).toEqual(['0', 'b', 'a'])
  })

  test('holds it back while one reads, and what is there or held already does not count', () => {
    const list = listOf([at(9), at(5)])
    const next = follow(follow(list, [at(10), at(9)], true), [at(10), at(11)], true)
    expect(next.rows).toBe(list.rows)
    expect(idsOf(next.held)).toEqual(idsOf([at(10), at(11)]))
    expect(next.heldCount).toBe(2)
  })

  test('there is a most that is held, and the count goes on', () => {
    const next = follow(NOTHING_FOLLOWED, range(10_000, HELD_MAX + 5), true)
    expect(next.held).toHaveLength(HELD_MAX)
    expect(next.heldCount).toBe(HELD_MAX + 5)
  })

  test('counts what happened before the range, which no tail knows', () => {
    const next = follow(listOf([at(9), at(5)], { from: timestampOf(4_000) }), [at(10), at(4), at(3)], false)
    expect(ids(next)).toEqual(idsOf([at(10), at(9), at(5), at(4)]))
    expect(next.elsewhere).toBe(1)
  })

  test('what was held back is shown; where it is not all there, the list has to be read again', () => {
    const next = released(follow(listOf([at(9), at(5)]), [at(10), at(11)], true))
    expect(ids(next ?? NOTHING_FOLLOWED)).toEqual(idsOf([at(11), at(10), at(9), at(5)]))
    expect(next).toMatchObject({ held: [], heldCount: 0 })
    expect(released({ ...listOf([at(9)]), held: [at(10)], heldCount: 2 })).toBeUndefined()
  })

  const entries = fc.uniqueArray(
    fc.tuple(fc.nat(30), fc.nat(3)).map(([second, id]) => at(second, `${second}-${id}`)),
    { selector: ({ id }) => id, maxLength: 40 },
  )

  test('any list and any tail that overlap: every entry once, in the order of the list', () => {
    fc.assert(
      fc.property(entries, fc.nat(40), fc.nat(40), fc.boolean(), (all, from, to, paused) => {
        const list = follow(NOTHING_FOLLOWED, all.slice(0, Math.max(from, to)), false)
        const tailed = all.slice(Math.min(from, to))
        const joined = released(follow(list, [...tailed, ...tailed], paused)) ?? NOTHING_FOLLOWED
        expect(ids(joined)).toEqual(ids(follow(NOTHING_FOLLOWED, all, false)))
        expect(joined.elsewhere).toBe(0)
      }),
    )
  })

  test('any beginning of a list: what arrives is added or told, and reading on finds the rest', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 40 }), fc.nat(40), (all, size, cut) => {
        const whole = follow(NOTHING_FOLLOWED, all, false).rows.entries
        const listed = follow(NOTHING_FOLLOWED, all.slice(cut), false).rows.entries
        fc.pre(listed.length > 0)
        const list = listOf(listed.slice(0, size), { next: size < listed.length ? { cursor: 'more' } : null })
        const { rows, elsewhere } = follow(list, all.slice(0, cut), false)
        expect(rows.entries.length - list.rows.entries.length + elsewhere).toBe(Math.min(cut, all.length))
        const rest = whole.slice(idsOf(whole).indexOf(rows.entries.at(-1)?.id ?? '') + 1)
        expect(idsOf(withPage(rows, rest, null).entries)).toEqual(idsOf(whole))
      }),
    )
  })
})

describe('a first page that was read again', () => {
  test('adds what is new, and what was read on stays', () => {
    const list = readAgain(
      listOf(range(5, 5), { next: { cursor: 'a' } }),
      [at(7), at(6), at(5)],
      { cursor: 'b' },
      false,
    )
    expect(ids(list)).toEqual(idsOf(range(7, 7)))
    expect(list.rows.next).toEqual({ cursor: 'a' })
  })

  test('holds back what is new from a reader who is not to be disturbed', () => {
    const list = readAgain(listOf(range(5, 5), { next: { cursor: 'a' } }), [at(6), at(5)], { cursor: 'b' }, true)
    expect([ids(list), idsOf(list.held), list.heldCount]).toEqual([idsOf(range(5, 5)), idsOf([at(6)]), 1])
  })

  test('says that there is more where all of it is new: what lies between is not known', () => {
    const list = readAgain(listOf(range(5, 5), { next: { cursor: 'a' } }), range(9, 2), { cursor: 'b' }, false)
    expect([ids(list), list.held, list.heldCount]).toEqual([idsOf(range(5, 5)), [], 2])
    expect(released(list)).toBeUndefined()
  })

  test('fills a list that was empty', () => {
    expect(ids(readAgain(listOf([]), range(3, 2), null, false))).toEqual(idsOf(range(3, 2)))
  })

  test('of the oldest first leaves a list that goes on alone, and takes the place of one that was whole', () => {
    const oldest = [at(1), at(2)]
    expect(
      ids(readAgain(listOf(oldest, { order: 'asc', next: { cursor: 'a' } }), [at(1)], { cursor: 'b' }, false)),
    ).toEqual(idsOf(oldest))
    const whole = readAgain(listOf(oldest, { order: 'asc' }), [...oldest, at(3)], null, false)
    expect(ids(whole)).toEqual(idsOf([...oldest, at(3)]))
  })
})
