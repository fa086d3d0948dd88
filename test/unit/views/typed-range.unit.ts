import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeAll(async () => {
  views = await startViews()
})
afterAll(() => views.close())

const typed = (params: Readonly<Record<string, string>>) => views.get(`/api/query/range?${new URLSearchParams(params)}`)

describe('GET /api/query/range', () => {
  test.each([
    ['now-2h', 'now-2h'],
    [' 2026-01-31 ', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T9:30:05,25', '2026-01-31T09:30:05.250Z'],
    ['2026-01-31 9:30:05.5 z', '2026-01-31T09:30:05.500Z'],
    ['2026-01-31T09:30+01:00', '2026-01-31T08:30:00.000Z'],
    ['2h', 'now-2h'],
    ['-15m', 'now-15m'],
    ['', null],
  ])('%j typed in UTC is from %j', async (begin, from) => {
    expect((await typed({ begin })).data).toEqual({ from, to: null })
  })

  test.each([
    ['Asia/Kolkata', '2026-01-31 09:30', '2026-01-31T04:00:00.000Z'],
    ['Europe/Berlin', '2026-01-31 09:30', '2026-01-31T08:30:00.000Z'],
    // The last minute before clocks go forward, and the first one after.
    ['Europe/Berlin', '2026-03-29 01:59', '2026-03-29T00:59:00.000Z'],
    ['Europe/Berlin', '2026-03-29 03:00', '2026-03-29T01:00:00.000Z'],
    ['America/New_York', '2026-07-01 00:00', '2026-07-01T04:00:00.000Z'],
    ['America/New_York', '2026-07-01T00:00Z', '2026-07-01T00:00:00.000Z'],
  ])('in %s %j is %s', async (zone, end, to) => {
    expect((await typed({ end, zone })).data).toEqual({ from: null, to })
  })

  test.each([
    ['2026-01-31 09:30:00.1231', '2026-01-31 09:30:00,1239', '2026-01-31T08:30:00.1231Z', '2026-01-31T08:30:00.1239Z'],
    ['2026-01-31 09:30:00.1231', '9:30:00.123100001', '2026-01-31T08:30:00.1231Z', '2026-01-31T08:30:00.123100001Z'],
    ['2026-01-31T08:30:00.1231Z', '2026-01-31 09:30:00.1239', '2026-01-31T08:30:00.1231Z', '2026-01-31T08:30:00.1239Z'],
  ])('the digits below a millisecond of %j to %j count', async (begin, end, from, to) => {
    expect((await typed({ begin, end, zone: 'Europe/Berlin' })).data).toEqual({ from, to })
  })

  test.each([
    // 01:00 to 02:00 UTC: the clocks go from 02:00 to 03:00, and back from 03:00 to 02:00.
    ['Europe/Berlin', '2026-03-29 02:30', '2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25 02:30', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25 03:00', '2026-10-25T02:00:00.000Z', '2026-10-25T02:00:00.000Z'],
    ['America/New_York', '2026-11-01 01:30', '2026-11-01T05:30:00.000Z', '2026-11-01T06:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-04-05 01:45', '2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z'],
  ])('in %s, where the clocks change, %j begins at %s and ends at %s', async (zone, time, from, to) => {
    expect((await typed({ begin: time, end: '2027-01-01', zone })).data).toMatchObject({ from })
    expect((await typed({ end: time, zone })).data).toEqual({ from: null, to })
  })

  // At 2026-03-01 00:10 in Berlin, which is 2026-02-28 23:10 UTC.
  test.each([
    ['00:05', '', '2026-02-28T23:05:00.000Z', null],
    ['23:50', '0:05', '2026-02-28T22:50:00.000Z', '2026-02-28T23:05:00.000Z'],
    ['23:50:07,171', '', '2026-02-28T22:50:07.171Z', null],
    // An end that is still to come.
    ['00:05', '00:15', '2026-02-28T23:05:00.000Z', '2026-02-28T23:15:00.000Z'],
    ['00:15', '00:15', '2026-02-27T23:15:00.000Z', '2026-02-28T23:15:00.000Z'],
    ['2026-01-31 09:30', '10:00', '2026-01-31T08:30:00.000Z', '2026-01-31T09:00:00.000Z'],
    // In a day of 23 hours.
    ['2026-03-28 23:30', '23:00', '2026-03-28T22:30:00.000Z', '2026-03-29T21:00:00.000Z'],
    ['', '23:50', null, '2026-02-28T22:50:00.000Z'],
  ])('without a day, %j to %j is from %s to %s', async (begin, end, from, to) => {
    views.time.now = Date.parse('2026-02-28T23:10:00Z')
    expect((await typed({ begin, end, zone: 'Europe/Berlin' })).data).toEqual({ from, to })
  })

  // The same instant, at which it is still the day before in UTC.
  test.each([
    ['Europe/Berlin', 'today', '', '2026-02-28T23:00:00.000Z', null],
    ['Europe/Berlin', 'yesterday', 'Today', '2026-02-27T23:00:00.000Z', '2026-02-28T23:00:00.000Z'],
    ['Europe/Berlin', 'yesterday 9:30', '10:00', '2026-02-28T08:30:00.000Z', '2026-02-28T09:00:00.000Z'],
    ['UTC', 'yesterday 14:05', 'today 14:05', '2026-02-27T14:05:00.000Z', '2026-02-28T14:05:00.000Z'],
    // Yesterday has 23 hours.
    [
      'Europe/Berlin',
      'yesterday',
      'today 0:30',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:30:00.000Z',
      '2026-03-29T23:00Z',
    ],
  ])('in %s, %j to %j is from %s to %s', async (zone, begin, end, from, to, now = '2026-02-28T23:10Z') => {
    views.time.now = Date.parse(now)
    expect((await typed({ begin, end, zone })).data).toEqual({ from, to })
  })

  const neither = (text: string): string =>
    `“${text}” is neither a time such as 2026-01-31 09:30 or yesterday 9:30 nor one such as now-2h (s, m, h, d, w).`
  const absent = (text: string): string => `“${text}” does not exist, or lies outside 1970 to 2261 in UTC.`
  const tooEarly = 'The end has to be later than the beginning.'

  test.each([
    [{ begin: 'soon' }, 'begin', neither('soon')],
    [{ end: ' later ' }, 'end', neither('later')],
    [{ begin: '2026-02-31' }, 'begin', absent('2026-02-31')],
    [{ begin: '2026-13-01' }, 'begin', absent('2026-13-01')],
    [{ begin: '2026-01-31 25:00' }, 'begin', absent('2026-01-31 25:00')],
    [{ begin: '1969-12-31' }, 'begin', absent('1969-12-31')],
    [{ begin: '1970-01-01', zone: 'Asia/Tokyo' }, 'begin', absent('1970-01-01')],
    [{ begin: '2026-02-29' }, 'begin', absent('2026-02-29')],
    [{ begin: '25:00' }, 'begin', absent('25:00')],
    [{ begin: '2026-01-31 24:00' }, 'begin', absent('2026-01-31 24:00')],
    [{ begin: '2026-01-31T09:30+25:00' }, 'begin', absent('2026-01-31T09:30+25:00')],
    [{ begin: '2026-01-31 soon' }, 'begin', neither('2026-01-31 soon')],
    [{ begin: 'yesterday 25:00' }, 'begin', absent('yesterday 25:00')],
    [{ begin: 'yesterdays' }, 'begin', neither('yesterdays')],
    [{ begin: 'today', end: 'yesterday' }, 'end', tooEarly],
    [{ begin: 'now-999999w' }, 'begin', neither('now-999999w')],
    [{ begin: 'now', end: 'now-1h' }, 'end', tooEarly],
    [{ begin: 'now+1h' }, 'end', tooEarly],
    [{ begin: '2026-01-31 10:00', end: '2026-01-31 10:00' }, 'end', tooEarly],
    [{ begin: '2026-01-31', zone: 'Mars/Base' }, 'zone', 'The zone must be one such as Europe/Berlin or UTC.'],
  ])('%j is refused', async (params, path, message) => {
    const { status, error } = await typed(params as Readonly<Record<string, string>>)
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', message, details: [{ path, message }] }])
  })
})
