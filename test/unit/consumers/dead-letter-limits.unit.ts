import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type DeadLetterLimits, judgeDeadLetters, NO_HISTORY } from '../../../consumers/dead-letter-limits.ts'

const LIMITS: DeadLetterLimits = { runMax: 3, ratioMax: 0.5, windowRecords: 10 }

const judge = (isDeadLetter: readonly boolean[], limits = LIMITS) => judgeDeadLetters(NO_HISTORY, isDeadLetter, limits)
const dead = (count: number): readonly boolean[] => Array<boolean>(count).fill(true)
const good = (count: number): readonly boolean[] => Array<boolean>(count).fill(false)

/** The same rule, told record by record over all that ever was. */
function isFlood(all: readonly boolean[], { runMax, ratioMax, windowRecords }: DeadLetterLimits): boolean {
  return all.some((_, index) => {
    const seen = all.slice(0, index + 1)
    const run = seen.length - 1 - seen.lastIndexOf(false)
    const window = seen.slice(-windowRecords)
    const share = window.filter(Boolean).length / windowRecords
    return run > runMax || (window.length === windowRecords && share > ratioMax)
  })
}

describe('dead letters are a flood', () => {
  test('when more than the limit come in a row', () => {
    expect(judge(dead(3)).flood).toBeNull()
    expect(judge(dead(4)).flood).toBe('more than 3 dead letters in a row')
    expect(judge([...dead(3), false, ...dead(2)]).flood).toBeNull()
  })

  test('when they are more than the ratio of a full window', () => {
    const alternating = [true, true, false, true, true, false, true, true, false]
    expect(judge(alternating).flood).toBeNull()
    expect(judge([...alternating, false]).flood).toBe('6 dead letters among 10 records')
    expect(judge([...good(1), ...alternating.slice(0, 8)]).flood).toBeNull()
  })

  test('also when the run began in an earlier chunk', () => {
    const { history } = judge(dead(3))
    expect(judgeDeadLetters(history, [true], LIMITS).flood).not.toBeNull()
    expect(judgeDeadLetters(history, [false], LIMITS).flood).toBeNull()
  })

  test('by the same rule however the records are cut into chunks', () => {
    const limits = fc.record({
      runMax: fc.integer({ min: 0, max: 6 }),
      ratioMax: fc.constantFrom(0.2, 0.5, 0.75, 1),
      windowRecords: fc.integer({ min: 1, max: 12 }),
    })
    fc.assert(
      fc.property(fc.array(fc.array(fc.boolean(), { maxLength: 8 }), { maxLength: 12 }), limits, (chunks, limit) => {
        let history = NO_HISTORY
        let flooded = false
        for (const chunk of chunks) {
          const judged = judgeDeadLetters(history, chunk, limit)
          history = judged.history
          flooded ||= judged.flood !== null
        }
        expect(flooded).toBe(isFlood(chunks.flat(), limit))
        expect(history.window.length).toBeLessThanOrEqual(limit.windowRecords)
      }),
    )
  })
})
