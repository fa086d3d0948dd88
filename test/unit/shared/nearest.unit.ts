import { describe, expect, test } from 'vitest'
import { createNearest, nearestOf } from '../../../shared/nearest.ts'
import * as fc from '../../support/fast-check.ts'

const meant = (word: string, words: readonly string[]): string | undefined =>
  nearestOf(word, words, String, { beginnings: true })

test('a word that begins like a candidate, or has a slip or two, stands for it', () => {
  const words = ['start', 'registry', 'dry-run', 'prune']
  expect(['strat', 'regis', 'registyr', 'dryrun', 'pruen'].map((word) => meant(word, words))).toEqual([
    'start',
    'registry',
    'registry',
    'dry-run',
    'prune',
  ])
})

test('a word that is far from all stands for none', () => {
  expect(meant('frobnicate', ['start', 'registry'])).toBeUndefined()
  expect(meant('x', [])).toBeUndefined()
})

test('every candidate is nearest to itself', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1 }), (words) => {
      for (const word of words) expect(meant(word, words)).toBe(word)
    }),
  )
})

describe('the nearest known identifier', () => {
  const known = ['order-placed', 'order-placed.validate', 'order-placed.charge', 'refund', 'a', 'Zahlung', 'zahlung-2']
  const nearest = (text: string) => nearestOf(text, known, (one) => one)

  test.each([
    ['order-plcaed', 'order-placed'],
    ['Order-Placed', 'order-placed'],
    ['ORDER-PLACED.CHARGE', 'order-placed.charge'],
    ['order_placed.validte', 'order-placed.validate'],
    ['refunds', 'refund'],
    ['b', 'a'],
    ['zahlung', 'Zahlung'],
  ])('of %s is %s', (text, expected) => {
    expect(nearest(text)).toBe(expected)
  })

  test.each(['invoice-sent', 'order', 'x'.repeat(256), 'order-placed.validate.by.hand'])('of %s is none', (text) => {
    expect(nearest(text)).toBeUndefined()
  })

  test('is looked for within bounds, and once for each text', () => {
    let reads = 0
    const many = Array.from({ length: 5_000 }, (_, n) => `identifier-${n}`)
    const find = createNearest(
      () => many,
      (one) => {
        reads += 1
        return one
      },
    )
    for (let n = 0; n < 1_000; n += 1) find(`identifer-${n}`)
    expect(reads).toBeLessThanOrEqual(1_000_000)
    const before = reads
    expect(find('identifer-7')).toBe('identifier-7')
    expect(reads).toBe(before)
  })

  test('costs no more where identifiers are long and alike, or many and of another length', () => {
    const room = { cells: 1_000_000 }
    const alike = Array.from({ length: 5_000 }, (_, n) => `${'x'.repeat(1_000)}${n}`)
    const find = createNearest(() => [...alike, ...Array.from({ length: 5_000 }, (_, n) => `${n}`)], String, room)
    for (let n = 0; n < 1_000; n += 1) find(`${'x'.repeat(999)}y-${n}`)
    expect(room.cells).toBeLessThan(0)
    expect(room.cells).toBeGreaterThan(-5_000)
  })
})
