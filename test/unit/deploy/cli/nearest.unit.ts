import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { nearest } from '../../../../deploy/cli/nearest.ts'

test('a word that begins like a candidate, or has a slip or two, stands for it', () => {
  const words = ['start', 'registry', 'dry-run', 'prune']
  expect(['strat', 'regis', 'registyr', 'dryrun', 'pruen'].map((word) => nearest(word, words))).toEqual([
    'start',
    'registry',
    'registry',
    'dry-run',
    'prune',
  ])
})

test('a word that is far from all stands for none', () => {
  expect(nearest('frobnicate', ['start', 'registry'])).toBeUndefined()
  expect(nearest('x', [])).toBeUndefined()
})

test('every candidate is nearest to itself', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1 }), (words) => {
      for (const word of words) expect(nearest(word, words)).toBe(word)
    }),
  )
})
