import { describe, expect, test } from 'vitest'
import { apiOf, comparisonOf, listOf, toggled } from '../../../../../views/web/flow/flow-address.ts'
import * as fc from '../../../../support/fast-check.ts'

describe('a list in one parameter', () => {
  test('takes a value in and out again, whatever it holds', () => {
    const values = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed()))
    fc.assert(
      fc.property(values, (all) => {
        const text = all.reduce<string | undefined>((list, value) => toggled(list, value), undefined)
        expect(listOf(text)).toEqual(new Set(all))
        expect(all.reduce(toggled, text ?? '')).toBe('')
      }),
    )
  })

  test('keeps commas and percent signs of its values', () => {
    const text = toggled(toggled(undefined, 'a,b'), '50%25')
    expect(text).toBe('a%2Cb,50%2525')
    expect(listOf(text)).toEqual(new Set(['a,b', '50%25']))
  })

  test('is read though it is no percent-encoded text', () => {
    expect(listOf('a,%E0,,b%2Cc')).toEqual(new Set(['a', '%E0', 'b,c']))
    expect(listOf(undefined)).toEqual(new Set())
  })
})

describe('where the API has a flow', () => {
  test('is its key in the path, or beside it where no path can hold it', () => {
    expect(apiOf('order:47 11')).toEqual({ path: '/api/flows/order%3A47%2011', params: {} })
    expect(apiOf('k', '/tail')).toEqual({ path: '/api/flows/k/tail', params: {} })
    for (const key of ['', '.', '..', 'Statistics', 'order/4711', 'a\\b'])
      expect(apiOf(key, '/tail')).toEqual({ path: '/api/flows/-/tail', params: { key } })
    expect(apiOf('\ud800').path).toBe('/api/flows/%EF%BF%BD')
  })

  test('is both keys where two flows are compared', () => {
    expect(comparisonOf('a b', 'c')).toEqual({ path: '/api/flows/a%20b/compare/c', params: {} })
    expect(comparisonOf('.', '..')).toEqual({ path: '/api/flows/-/compare/-', params: { key: '.', other: '..' } })
  })
})
