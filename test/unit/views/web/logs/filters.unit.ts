import { describe, expect, test } from 'vitest'
import { ALL_TIME, filterOf, frozenParams, rangeLabel } from '../../../../../views/web/logs/filters.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')

describe('what the API is asked with', () => {
  test('a relative range becomes absolute, so that list, histogram and facets speak of the same', () => {
    expect(filterOf({ from: 'now-1h', q: 'a', level: 'warning', utc: '1', id: 'x' }, NOW)).toEqual({
      q: 'a',
      level: 'warning',
      from: '2026-01-31T11:00:00.000Z',
    })
  })

  test.each([
    [{}, '2026-01-30T12:00:00.000Z', undefined],
    [{ to: 'now-1h' }, undefined, '2026-01-31T11:00:00.000Z'],
    [{ from: ALL_TIME }, undefined, undefined],
    [{ from: '1970-01-01T00:00:00.000Z', to: 'now' }, undefined, '2026-01-31T12:00:00.000Z'],
    [{ from: '2026-01-31T09:00:00+01:00' }, '2026-01-31T08:00:00.000Z', undefined],
    [{ from: 'yesterday' }, 'yesterday', undefined],
    [{ from: 'now-999999w' }, 'now-999999w', undefined],
  ])('the range of %j', (params, from, to) => {
    expect(filterOf(params, NOW)).toMatchObject({ from, to })
  })
})

describe('a link', () => {
  test('shows the same tomorrow: absolute, and not live', () => {
    expect(frozenParams({ from: 'now-1h', q: 'a', live: '1', id: 'x', tab: 'json' }, NOW)).toEqual({
      q: 'a',
      id: 'x',
      tab: 'json',
      live: undefined,
      from: '2026-01-31T11:00:00.000Z',
      to: '2026-01-31T12:00:00.000Z',
    })
    expect(frozenParams({ from: ALL_TIME }, NOW)).toMatchObject({ from: ALL_TIME, to: '2026-01-31T12:00:00.000Z' })
    expect(frozenParams({}, NOW)).toMatchObject({ from: '2026-01-30T12:00:00.000Z' })
    const range = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }
    expect(frozenParams(range, NOW)).toMatchObject(range)
  })
})

describe('the range in words', () => {
  test.each([
    [{}, 'Last 24 hours'],
    [{ from: 'now-15m' }, 'Last 15 minutes'],
    [{ from: 'now-2h' }, 'Last 2h'],
    [{ from: ALL_TIME }, 'All time'],
    [{ from: '2026-01-31T09:00:00.000Z', to: '2026-01-31T10:00:00.000Z' }, '2026-01-31 09:00Z – 10:00Z'],
    [{ from: '2026-01-31T09:00:01.000Z', to: '2026-01-31T09:00:00.001Z' }, '2026-01-31 09:00:01Z – 09:00:00.001Z'],
    [{ from: '2026-01-30T09:00:00.000Z', to: '2026-01-31T10:00:00.000Z' }, '2026-01-30 09:00Z – 2026-01-31 10:00Z'],
    [{ from: '2026-01-31T09:00:00.000Z', to: 'now' }, '2026-01-31 09:00Z – now'],
    [{ to: '2026-01-31T10:00:00.000Z' }, 'Until 2026-01-31 10:00Z'],
    [{ from: 'now-2d', to: 'now-1d' }, 'now-2d – now-1d'],
    [{ from: 'now-2d', to: 'now-2d' }, 'now-2d – now-2d'],
  ])('%j', (params, expected) => {
    expect(rangeLabel(params, true)).toBe(expected)
  })
})
