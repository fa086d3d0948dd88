import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { isRelative, parseTime } from '../../../../../shared/query/time.ts'
import { clockText, dayText, durationText, timeText } from '../../../../../views/flow-layout/times.ts'
import { agoText, iso, PRESETS } from '../../../../../views/web/lib/times.ts'
import * as fc from '../../../../support/fast-check.ts'

const NOW = Date.parse('2026-02-01T12:00:00.000Z')
const moment = fc.integer({ min: 0, max: Date.parse('2261-01-01T00:00:00Z') })

/** Moments on both sides of midnight, in summer and in winter, and in the hour that Berlin's clocks leave out and repeat. */
const MOMENTS = [
  '2026-01-31T23:45:06.789Z',
  '2026-03-29T01:30:00.000Z',
  '2026-07-01T00:15:00.000Z',
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.000Z',
]

/** The values of expressions in a process of a zone: a process has the zone of its start. */
function valuesIn(zone: string, expressions: readonly string[]): readonly unknown[] {
  const program = `import { parseTime } from './shared/query/time.ts'
    import { clockText, dayText, timeText } from './views/flow-layout/times.ts'
    import { agoText, zoneText } from './views/web/lib/times.ts'
    console.log(JSON.stringify([${expressions.join()}]))`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { env: { TZ: zone }, encoding: 'utf8' }))
}

/** The same as Intl has it, which takes the zone by its name. */
function partsIn(zone: string, at: string) {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    ...{ fractionalSecondDigits: 3, hourCycle: 'h23', timeZoneName: 'longOffset' },
  } as Intl.DateTimeFormatOptions)
  const part = Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]))
  return {
    day: `${part['year']}-${part['month']}-${part['day']}`,
    clock: `${part['hour']}:${part['minute']}:${part['second']}.${part['fractionalSecond']}`,
    offset: part['timeZoneName']?.slice('GMT'.length).replace('+00:00', 'UTC'),
  }
}

describe.each(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata'])('a reader in %s', (zone) => {
  test("sees the day, clock and distance of its zone, or UTC's", () => {
    const shown = MOMENTS.map(
      (at) =>
        `[dayText('${at}', false), clockText('${at}', false), timeText('${at}', false), zoneText(false, Date.parse('${at}')),
          timeText('${at}', true), zoneText(true, 0)]`,
    )
    expect(valuesIn(zone, shown)).toEqual(
      MOMENTS.map((at) => {
        const { day, clock, offset } = partsIn(zone, at)
        return [day, clock, `${day} ${clock}`, offset, at.replace('T', ' '), 'UTC']
      }),
    )
  })

  test('reads a time without a zone as UTC, and one relative to now by the present alone', () => {
    const texts = ['2026-01-31T09:30:00', '2026-01-31t09:30:00.5', '2026-01-31', '2026-01-31T09:30:00+02:00', 'now-1d']
    expect(
      valuesIn(zone, [
        ...texts.map((text) => `parseTime('${text}', ${NOW})`),
        `agoText('2026-01-31T12:00:00.000Z', ${NOW})`,
      ]),
    ).toEqual([
      '2026-01-31T09:30:00.000Z',
      '2026-01-31T09:30:00.500Z',
      '2026-01-31T00:00:00.000Z',
      '2026-01-31T07:30:00.000Z',
      '2026-01-31T12:00:00.000Z',
      '1 d ago',
    ])
  })
})

test('every preset is a relative range that the API takes', () => {
  for (const { from } of PRESETS) {
    expect(isRelative(from)).toBe(true)
    expect(parseTime(from, NOW)).toBeDefined()
  }
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
