import { describe, expect, test } from 'vitest'
import { eventsOf, type SentEvents } from '../../../../gateway/json-events/events.ts'
import type { Checked, Problem } from '../../../../shared/contract/errors.ts'
import * as fc from '../../../support/fast-check.ts'
import { runAtOnce } from '../../../support/run-at-once.ts'

const memory = { hold: () => true, release: () => undefined }

const refusal = (problem: Partial<Problem>) => expect.objectContaining({ problem: expect.objectContaining(problem) })

/** The events of a body, and the number of rests on the way. */
function read(content: string): { result: Checked<SentEvents>; rests: number } {
  const steps = eventsOf({ content, contentBytes: content.length, memory, owner: 'x' })
  let rests = 0
  let step = steps.next()
  while (step.done !== true) {
    rests += 1
    step = steps.next()
  }
  return { result: step.value, rests }
}

describe('reading rests', () => {
  test.each([
    ['before the end of many blanks', ' \n'.repeat(1_000_000), 2_000_000 / 65_536],
    ['at every line', '{"a":1}\n'.repeat(5_000), 5_000 - 1],
    ['at every line of blanks that JSON does not know', '\u00a0\n'.repeat(5_000), 5_000],
    ['at every element', `[${'1,'.repeat(5_000)}1]`, 5_001],
    ['in a long line', `{"a":"${'x'.repeat(1_000_000)}"}`, 1_000_000 / 65_536 - 1],
  ])('%s', (_name, content, rests) => {
    expect(read(content).rests).toBeGreaterThanOrEqual(Math.floor(rests))
  })
})

test('lines are told by their numbers, whatever stands between them', () => {
  const blank = fc.constantFrom('', ' ', '\t', '\r', '\u00a0')
  const line = fc.constantFrom('{"a":1}', '  {"a":1} ', '{', 'x', '[INFO] y', '5')
  fc.assert(
    fc.property(fc.array(fc.oneof(blank, line), { maxLength: 20 }), (lines) => {
      const body = lines.join('\n')
      const sent = lines
        .map((text, index) => ({ text: text.trim(), number: index + 1 }))
        .filter(({ text }) => text !== '')
      const { value, problem } = read(body).result
      // Not lines, but an object over several.
      const isSpread = sent.length > 1 && sent[0]?.text === '{'
      if (sent.length === 0 || isSpread) return void expect(problem?.code).toBe('malformed_json')
      expect(value?.isBatch).toBe(sent.length > 1)
      const told = value?.events.map(({ text, event }) => ({
        text,
        number: (event.problem?.details as { line?: number } | null)?.line,
      }))
      const isJson = (text: string): boolean => text === '{"a":1}' || text === '5'
      expect(told).toEqual(sent.map(({ text, number }) => ({ text, number: isJson(text) ? undefined : number })))
    }),
  )
})

test('a text with no room for its values is told so, and no other way is tried', () => {
  const content = `{"a":\n[${'1,'.repeat(200_000)}1]}`
  const steps = eventsOf({
    content,
    contentBytes: content.length,
    memory: { ...memory, hold: () => false },
    owner: 'x',
  })
  expect(() => runAtOnce(steps)).toThrow(refusal({ code: 'server_error', retryable: true }))
})

describe('the values of a long body of lines', () => {
  const lines = (count: number, values: number): string =>
    Array<string>(count)
      .fill(`{"a":[${'1,'.repeat(values)}1]}`)
      .join('\n')

  test.each([
    ['short', 100_000],
    ['long', 150_000],
  ])('are limited together, in %s lines', (_name, values) => {
    expect(read(lines(6, values)).result.problem).toBeUndefined()
    expect(() => read(lines(11, values))).toThrow(
      refusal({ code: 'payload_too_large', details: { values: 1_000_000 } }),
    )
  })

  test.each([
    ['short', 100_000],
    ['long', 150_000],
  ])('take memory, in %s lines', (_name, values) => {
    const content = lines(4, values)
    const room = 64 * 2 * values
    let held = 0
    const hold = (bytes: number): boolean => {
      held += bytes
      return held < room
    }
    const steps = eventsOf({ content, contentBytes: content.length, memory: { ...memory, hold }, owner: 'x' })
    expect(() => runAtOnce(steps)).toThrow(refusal({ code: 'server_error' }))
    expect(held).toBeGreaterThan(room)
  })
})
