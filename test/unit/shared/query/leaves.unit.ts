import { describe, expect, test } from 'vitest'
import {
  LEAF_DEPTH_MAX,
  LEAF_PATH_LENGTH_MAX,
  LEAF_VALUE_LENGTH_MAX,
  LEAVES_MAX,
  leaves,
} from '../../../../shared/query/leaves.ts'
import * as fc from '../../../support/fast-check.ts'

describe('leaves', () => {
  test('names are joined by dots, arrays add nothing, and null is no leaf', () => {
    const value = { order: { id: 4711, paid: true, note: null, lines: [{ sku: 'A' }, { sku: 'B' }, [1.5]] }, 'a.b': '' }
    expect(leaves(value)).toEqual([
      ['order.id', '4711'],
      ['order.paid', 'true'],
      ['order.lines.sku', 'A'],
      ['order.lines.sku', 'B'],
      ['order.lines', '1.5'],
      ['a.b', ''],
    ])
  })

  test('an array of objects has leaves, what has no name has none', () => {
    expect(leaves([{ a: 1 }, 'x', ['y']])).toEqual([['a', '1']])
    for (const value of ['text', 1, true, null, [], {}, [1, 2]]) expect(leaves(value)).toEqual([])
  })

  test('NUL, lone surrogates and empty names are replaced', () => {
    expect(leaves(JSON.parse('{"":{"":"a\\u0000b"},"c\\u0000":"\\ud800","__proto__":{"x":1}}'))).toEqual([
      ['_._', 'a\uFFFDb'],
      ['c\uFFFD', '\uFFFD'],
      ['__proto__.x', '1'],
    ])
  })

  test('long values, long paths and all that is too deep are left out', () => {
    const long = 'x'.repeat(LEAF_VALUE_LENGTH_MAX)
    expect(leaves({ a: long, b: `${long}x` })).toEqual([['a', long]])
    const name = 'n'.repeat(LEAF_PATH_LENGTH_MAX)
    expect(leaves({ [name]: 1, [`${name}n`]: 2, a: { [name]: 3 } })).toEqual([[name, '1']])
    expect(leaves(nested(LEAF_DEPTH_MAX))).toHaveLength(1)
    expect(leaves(nested(LEAF_DEPTH_MAX + 1))).toEqual([])
  })

  test('hostile nesting and numbers of leaves are bounded', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(leaves({ deep, after: 1 })).toEqual([['after', '1']])
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
    expect(leaves(wide)).toHaveLength(LEAVES_MAX)
  })

  test('every leaf of any JSON is well-formed and within the limits', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        for (const [path, text] of leaves(value)) {
          expect(path).not.toBe('')
          expect(`${path}${text}`.isWellFormed()).toBe(true)
          expect(`${path}${text}`).not.toContain('\0')
        }
      }),
    )
  })
})

/** An object with one leaf inside so many objects. */
function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = { a: value }
  return value
}
