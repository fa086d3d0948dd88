import { describe, expect, test } from 'vitest'
import { LEVELS, levelRank, parseLevel } from '../../../../shared/contract/levels.ts'

describe('specification 2.2: log levels', () => {
  test.each(LEVELS)('%s is matched in any case and given in its own spelling', (level) => {
    const mixed = [...level].map((letter, index) => (index % 2 ? letter.toUpperCase() : letter.toLowerCase())).join('')
    for (const text of [level, level.toLowerCase(), level.toUpperCase(), mixed]) expect(parseLevel(text)).toBe(level)
  })

  test.each(['', ' Error', 'Err', 'Fatal', 'None', '3', 'ınformation'])('%j names none', (text) => {
    expect(parseLevel(text)).toBeUndefined()
  })

  test('severity rises from Trace 0 to Critical 5', () => {
    expect(LEVELS.map(levelRank)).toEqual([0, 1, 2, 3, 4, 5])
  })
})
