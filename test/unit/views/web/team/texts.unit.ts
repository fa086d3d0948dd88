import { describe, expect, test } from '@jest/globals'
import { actionTexts, fieldTexts, problemText, seenText } from '../../../../../views/web/team/texts.ts'

describe('why a change was refused', () => {
  const problem = { code: 'x', message: 'No.', retryable: false, status: 400, retryAfter: null }

  test('is told field by field, else by its message', () => {
    const details = [
      { path: '/name', message: 'is empty' },
      { path: '', message: 'must be a JSON object' },
    ]
    expect(problemText({ ...problem, details })).toBe('name is empty. must be a JSON object.')
    expect(problemText({ ...problem, details: null })).toBe('No.')
    expect(problemText({ ...problem, details: { outcome: 'unknown' } })).toBe('No.')
  })
})

test('a key is named by its first characters wherever it is revoked', () => {
  const { name, title, done } = actionTexts('revoke', 'sl_3fA')
  expect([name, title, done]).toEqual(['Revoke sl_3fA', 'Revoke the key sl_3fA…', 'The key sl_3fA… was revoked.'])
})

test('an optional name says what stands for it', () => {
  expect(fieldTexts({ name: 'name' })).toEqual({ label: 'Name', hint: 'Left empty: the identifier.' })
  expect(fieldTexts({ name: 'name', required: true })).toEqual({ label: 'Name' })
})

test.each([
  [null, 'not known'],
  [0, 'not in 24 h'],
  [42, '42 in 24 h'],
])('%j entries of a day are told as: %s', (count, text) => {
  expect(seenText(count)).toBe(text)
})
