import { execFileSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseTime } from '../../../../../views/api/time.ts'
import { clockText, dayText, durationText, timeText } from '../../../../../views/flow-layout/times.ts'
import { agoText, iso, isRelative, PRESETS, timeOf, zoneText } from '../../../../../views/web/lib/times.ts'

const NOW = Date.parse('2026-02-01T12:00:00.000Z')
const moment = fc.integer({ min: 0, max: Date.parse('2261-01-01T00:00:00Z') })

describe('timeOf', () => {
  test('means the same as the API does', () => {
    const relative = fc
      .tuple(fc.constantFrom('-', '+'), fc.nat(999), fc.constantFrom('s', 'm', 'h', 'd', 'w'))
      .map(([sign, amount, unit]) => `now${sign}${amount}${unit}`)
    fc.assert(
      fc.property(fc.oneof(relative, fc.constant('now'), moment.map(iso)), (text) => {
        expect(iso(timeOf(text, NOW) ?? 0)).toBe(parseTime(text, NOW))
      }),
    )
  })

  test.each(['Europe/Berlin', 'America/St_Johns'])('a time without a zone is UTC, as in the API, in %s too', (zone) => {
    const texts = ['2026-01-31T09:30:00', '2026-01-31t09:30:00.5', '2026-01-31', '2026-01-31T09:30:00+02:00']
    // The zone of a process is that of its start.
    const program = `import { iso, timeOf } from './views/web/lib/times.ts'
      console.log(JSON.stringify(${JSON.stringify(texts)}.map((text) => iso(timeOf(text, 0)))))`
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const printed = execFileSync(process.execPath, args, { env: { TZ: zone }, encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual(texts.map((text) => parseTime(text, 0)))
  })

  test.each(['', 'yesterday', 'now-1y', 'now - 1h', '12', '2026-13-01'])('%j is no time', (text) => {
    expect(timeOf(text, NOW)).toBeUndefined()
  })

  test('every preset is a range that the API takes', () => {
    for (const { from } of PRESETS) {
      expect(isRelative(from)).toBe(true)
      expect(parseTime(from, NOW)).toBeDefined()
    }
  })
})

test('the zone is UTC or the distance of the reader from it', () => {
  expect(zoneText(true, NOW)).toBe('UTC')
  const minutes = -new Date(NOW).getTimezoneOffset()
  const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)
  expect(zoneText(false, NOW)).toBe(minutes === 0 ? 'UTC' : (minutes < 0 ? '-' : '+') + clock)
})

describe('times as text', () => {
  test('in UTC they are the digits of ISO 8601', () => {
    fc.assert(
      fc.property(moment, (ms) => {
        const whole = iso(ms)
        expect(`${dayText(ms, true)}T${clockText(ms, true)}Z`).toBe(whole)
        expect(timeText(whole, true)).toBe(`${whole.slice(0, 10)} ${whole.slice(11)}`)
      }),
    )
  })

  test("in the reader's zone they are what its clock shows", () => {
    fc.assert(
      fc.property(moment, (ms) => {
        const local = new Date(ms)
        expect(clockText(ms, false).slice(0, 5)).toBe(
          `${String(local.getHours()).padStart(2, '0')}:${String(local.getMinutes()).padStart(2, '0')}`,
        )
        expect(Number(dayText(ms, false).slice(8))).toBe(local.getDate())
      }),
    )
  })

  test('what is no time is shown as it is', () => {
    expect(timeText('soon', true)).toBe(' soonZ')
  })
})

describe('durations', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [9_990, '9.9 s'],
    [59_999, '59 s'],
    [60_000, '1 m'],
    [123_000, '2 m 3 s'],
    [3 * 3_600_000 + 59_000, '3 h'],
    [3 * 86_400_000 + 4 * 3_600_000, '3 d 4 h'],
    [-61_000, '-1 m 1 s'],
  ])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  test.each([
    [999, '999 ms'],
    [3 * 3_600_000 + 2_000, '3 h 2 s'],
    [2 * 3_600_000 + 59 * 60_000 + 52_000, '2 h 59 m 52 s'],
    [86_400_000 + 52_000, '1 d'],
    [-61_000, '-1 m 1 s'],
  ])('%d ms in three units is %s', (ms, text) => {
    expect(durationText(ms, 3)).toBe(text)
  })

  test.each([
    [0, 'now'],
    [-90_000, '1 m ago'],
    [-3 * 86_400_000, '3 d ago'],
    [5_000, 'in 5 s'],
  ])('%d ms from now is %s', (ms, text) => {
    expect(agoText(NOW + ms, NOW)).toBe(text)
  })
})
