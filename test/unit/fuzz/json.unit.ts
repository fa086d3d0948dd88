import { expect, test } from 'vitest'
import { documentOf, raw, replaced, sizeOf, treeOf } from '../../fuzz/json-tree.ts'
import { mutatedJson } from '../../fuzz/mutations/json.ts'
import { createRandom } from '../../fuzz/random.ts'
import * as fc from '../../support/fast-check.ts'

test('the tree of a value is the document of the value', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void expect(documentOf(treeOf(value))).toBe(JSON.stringify(value))))
})

test('exactly one place is replaced, by the order of the document', () => {
  const tree = treeOf({ a: [1, { b: 2 }], c: 3 })
  expect(sizeOf(tree)).toBe(6)
  const at = (place: number): string => documentOf(replaced(tree, place, () => raw('X')))
  expect(Array.from({ length: 6 }, (_, place) => at(place))).toEqual([
    'X',
    '{"a":X,"c":3}',
    '{"a":[X,{"b":2}],"c":3}',
    '{"a":[1,X],"c":3}',
    '{"a":[1,{"b":X}],"c":3}',
    '{"a":[1,{"b":2}],"c":X}',
  ])
})

test('the same seed makes the same mutation', () => {
  const tree = treeOf({ message: 'a', scopeData: { list: [1, 2, { three: null }] } })
  const documents = (): readonly string[] =>
    Array.from({ length: 100 }, (_, number) => documentOf(mutatedJson(tree, createRandom(5, number))[1]))
  expect(documents()).toEqual(documents())
  expect(new Set(documents()).size).toBeGreaterThan(60)
})
