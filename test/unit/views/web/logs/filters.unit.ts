import { describe, expect, test } from '@jest/globals'
import { ALL_TIME, filterOf, frozenParams, rangeLabel, typedRange } from '../../../../../views/web/logs/filters.ts'

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
    [{ from: 'now-2h' }, 'Since now-2h'],
    [{ from: ALL_TIME }, 'All time'],
    [{ from: '2026-01-31T09:00:00.000Z', to: '2026-01-31T10:00:00.000Z' }, '<09> – <10>'],
    [{ to: '2026-01-31T10:00:00.000Z' }, 'Until <10>'],
    [{ from: 'now-2d', to: 'now-1d' }, 'now-2d – now-1d'],
  ])('%j', (params, expected) => {
    expect(rangeLabel(params, (time) => `<${time.slice(11, 13)}>`)).toBe(expected)
  })

  const typed = (from: string, to = '', utc = true) => typedRange({ from, to }, utc, NOW)
  const problem = (text: string) => ({
    problem: `“${text}” is neither a time such as 2026-01-31 09:30 nor one such as now-2h.`,
  })

  test.each([
    ['now-2h', 'now-2h'],
    [' 2026-01-31 ', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T9:30:05,25', '2026-01-31T09:30:05.250Z'],
    ['2026-01-31T09:30+01:00', '2026-01-31T09:30+01:00'],
    ['', ALL_TIME],
  ])('%j typed in UTC is from %j', (text, from) => {
    expect(typed(text)).toEqual({ from, to: undefined })
  })

  test('a time typed without a zone is meant in the zone that is shown', () => {
    expect(typed('2026-01-29 09:30', '', false)).toMatchObject({ from: new Date(2026, 0, 29, 9, 30).toISOString() })
  })

  test.each([
    ['soon', '', problem('soon')],
    ['', ' later ', problem('later')],
    ['2026-02-31', '', problem('2026-02-31')],
    ['2026-13-01', '', problem('2026-13-01')],
    ['2026-01-31 25:00', '', problem('2026-01-31 25:00')],
    ['now', 'now-1h', { problem: 'The end has to be later than the beginning.' }],
    ['now+1h', '', { problem: 'The end has to be later than the beginning.' }],
    ['2026-01-31 10:00', '2026-01-31 10:00', { problem: 'The end has to be later than the beginning.' }],
  ])('from %j to %j cannot be used', (from, to, expected) => {
    expect(typed(from, to)).toEqual(expected)
  })
})
