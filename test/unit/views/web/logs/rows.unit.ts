import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { timestampOf } from '../../../../../shared/contract/timestamp.ts'
import type { Entry } from '../../../../../views/web/api/types.ts'
import {
  type Followed,
  follow,
  HELD_MAX,
  hold,
  NO_ROWS,
  NOTHING_HELD,
  type Order,
  ROWS_MAX,
  type Rows,
  released,
  withAfter,
  withArrived,
  withBefore,
} from '../../../../../views/web/logs/rows.ts'
import { eventEntry } from '../../details/entries.ts'

/** An entry at a second; entries of one second are told apart by their id. */
const at = (second: number, id = String(second).padStart(6, '0')): Entry =>
  eventEntry({ id, timestamp: timestampOf(second * 1_000) })

const ids = ({ entries }: { readonly entries: readonly Entry[] }): readonly string[] => entries.map(({ id }) => id)
const range = (from: number, count: number): readonly Entry[] => Array.from({ length: count }, (_, i) => at(from - i))
const rowsOf = (entries: readonly Entry[], more: Partial<Rows> = {}): Rows => ({ ...NO_ROWS, entries, ...more })

describe('the rows in sight', () => {
  test('a page after the last row; rows beyond the most go in front', () => {
    const rows = withAfter(rowsOf(range(10_000, ROWS_MAX)), range(10_000 - ROWS_MAX, 100), true)
    expect(rows.entries).toHaveLength(ROWS_MAX)
    expect(rows).toMatchObject({ moreBefore: true, moreAfter: true })
    expect(rows.entries[0]).toEqual(at(9_900))
    expect(rows.entries.at(-1)).toEqual(at(10_000 - ROWS_MAX - 99))
  })

  test('a page before the first row; rows beyond the most go at the end', () => {
    const rows = withBefore(rowsOf(range(10_000, ROWS_MAX), { moreBefore: true }), range(10_100, 100), false)
    expect(rows.entries).toHaveLength(ROWS_MAX)
    expect(rows).toMatchObject({ moreBefore: false, moreAfter: true })
    expect(rows.entries[0]).toEqual(at(10_100))
  })

  test('an entry of a page that is there already is there once', () => {
    expect(ids(withAfter(rowsOf([at(3), at(2)]), [at(2), at(1), at(1)], false))).toEqual(
      ids(rowsOf([at(3), at(2), at(1)])),
    )
  })

  test('what arrives late stands in its place, and what is further down is told', () => {
    const { rows, added, elsewhere } = withArrived(rowsOf([at(9), at(5)], { moreAfter: true }), [at(7), at(10), at(1)])
    expect(ids(rows)).toEqual(ids(rowsOf([at(10), at(9), at(7), at(5)])))
    expect(added).toHaveLength(2)
    expect(elsewhere).toBe(1)
  })

  test('nanoseconds and ids order what arrives in the same millisecond', () => {
    const one = eventEntry({ id: 'a', timestamp: '2026-01-31T09:30:00.123Z' })
    const two = eventEntry({ id: 'b', timestamp: '2026-01-31T09:30:00.123Z' })
    const three = eventEntry({ id: '0', timestamp: '2026-01-31T09:30:00.123000001Z' })
    expect(ids(withArrived(NO_ROWS, [one, three, two]).rows)).toEqual(['0', 'b', 'a'])
    expect(ids(withArrived({ ...NO_ROWS, order: 'asc' }, [three, two, one]).rows)).toEqual(['a', 'b', '0'])
  })

  const entries = fc.uniqueArray(
    fc.tuple(fc.nat(30), fc.nat(3)).map(([second, id]) => at(second, `${second}-${id}`)),
    { selector: ({ id }) => id, maxLength: 40 },
  )

  test('any list and any tail that overlap: every entry once, in the order of the list', () => {
    fc.assert(
      fc.property(entries, fc.nat(40), fc.nat(40), fc.constantFrom<Order>('desc', 'asc'), (all, from, to, order) => {
        const sorted = withArrived({ ...NO_ROWS, order }, all).rows
        const listed = all.slice(0, Math.max(from, to))
        const tailed = all.slice(Math.min(from, to))
        const list = withArrived({ ...NO_ROWS, order }, listed).rows
        const joined = withArrived(list, [...tailed, ...tailed])
        expect(ids(joined.rows)).toEqual(ids(sorted))
        expect(joined.elsewhere).toBe(0)
      }),
    )
  })

  test('any window: what arrives is added or told, and reading on finds the rest', () => {
    fc.assert(
      fc.property(entries, fc.nat(40), fc.nat(40), (all, size, cut) => {
        const listed = withArrived(NO_ROWS, all.slice(cut)).rows.entries
        const window = rowsOf(listed.slice(0, size), { moreAfter: size < listed.length })
        const { rows, added, elsewhere } = withArrived(window, all.slice(0, cut))
        expect(added.length + elsewhere).toBe(Math.min(cut, all.length))
        const last = rows.entries.at(-1)
        const after = withArrived(NO_ROWS, all).rows.entries
        const rest = window.entries.length === 0 ? [] : after.slice(ids({ entries: after }).indexOf(last?.id ?? '') + 1)
        if (window.entries.length > 0) expect(ids(withAfter(rows, rest, false))).toEqual(ids({ entries: after }))
      }),
    )
  })
})

describe('what is held back', () => {
  test('every entry counts once', () => {
    const held = hold(hold(NOTHING_HELD, [at(1), at(2)]), [at(2), at(3)])
    expect(held.count).toBe(3)
    expect(ids(held)).toEqual(ids(rowsOf([at(1), at(2), at(3)])))
  })

  test('there is a most, and the count goes on', () => {
    const held = hold(NOTHING_HELD, range(10_000, HELD_MAX + 5))
    expect(held.entries).toHaveLength(HELD_MAX)
    expect(held.count).toBe(HELD_MAX + 5)
  })
})

describe('a list that a tail goes on', () => {
  const listed = (more: Partial<Rows> = {}): Followed => ({
    rows: rowsOf([at(9), at(5)], more),
    held: NOTHING_HELD,
    elsewhere: 0,
  })
  const open = { paused: false, from: undefined }

  test('takes what arrives, each once', () => {
    const { rows, held } = follow(listed(), [at(10), at(9), at(7)], open)
    expect(ids(rows)).toEqual(ids(rowsOf([at(10), at(9), at(7), at(5)])))
    expect(held).toEqual(NOTHING_HELD)
  })

  test.each([
    ['one reads', listed(), { ...open, paused: true }],
    ['the newest rows are not in sight', listed({ moreBefore: true }), open],
  ])('holds it back while %s, and what is there already does not count', (_why, list, how) => {
    const next = follow(list, [at(10), at(9)], how)
    expect(next.rows).toBe(list.rows)
    expect(next.held.count).toBe(1)
  })

  test('counts what happened before the range, which no tail knows', () => {
    const { rows, elsewhere } = follow(listed(), [at(10), at(3)], { ...open, from: timestampOf(4_000) })
    expect(rows.entries).toHaveLength(3)
    expect(elsewhere).toBe(1)
  })

  test('what was held back is shown; where it is not all there, the list has to be read again', () => {
    const held = follow(listed(), [at(10), at(11)], { ...open, paused: true })
    expect(ids(released(held)?.rows ?? NO_ROWS)).toEqual(ids(rowsOf([at(11), at(10), at(9), at(5)])))
    expect(released(held)?.held).toEqual(NOTHING_HELD)
    expect(released(follow(listed({ moreBefore: true }), [at(10)], open))).toBeUndefined()
    expect(released({ ...listed(), held: { entries: [at(10)], count: 2 } })).toBeUndefined()
  })
})
