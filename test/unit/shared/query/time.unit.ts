import { describe, expect, test } from 'vitest'
import { parseTimestamp } from '../../../../shared/contract/timestamp.ts'
import { parseTime } from '../../../../shared/query/time.ts'
import * as fc from '../../../support/fast-check.ts'

const NOW = Date.parse('2026-02-01T12:00:00.500Z')

describe('from and to', () => {
  test.each([
    ['now', '2026-02-01T12:00:00.500Z'],
    ['NOW', '2026-02-01T12:00:00.500Z'],
    ['now-30s', '2026-02-01T11:59:30.500Z'],
    ['now-15m', '2026-02-01T11:45:00.500Z'],
    ['now-1h', '2026-02-01T11:00:00.500Z'],
    ['now-7d', '2026-01-25T12:00:00.500Z'],
    ['now-2w', '2026-01-18T12:00:00.500Z'],
    ['now+1h', '2026-02-01T13:00:00.500Z'],
    ['Now-1H', '2026-02-01T11:00:00.500Z'],
    ['now-0s', '2026-02-01T12:00:00.500Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T10:00:00+02:00', '2026-01-31T08:00:00.000Z'],
  ])('%s is read', (text, expected) => {
    expect(parseTime(text, NOW)).toBe(expected)
  })

  test.each([
    '',
    'now-',
    'now-1',
    'now-1y',
    // A month elsewhere.
    'now-1M',
    'now - 1h',
    'now-1h ',
    'yesterday',
    'now-9999999s',
    'now-999999w',
    'now+999999w',
    '2026-02-30',
  ])('%j is not', (text) => {
    expect(parseTime(text, NOW)).toBeUndefined()
  })

  test('whatever is read is canonical', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^now[+-]\d{1,6}[smhdw]$/))
    fc.assert(
      fc.property(texts, (text) => {
        const time = parseTime(text, NOW)
        expect(time === undefined || parseTimestamp(time) === time).toBe(true)
      }),
    )
  })
})
