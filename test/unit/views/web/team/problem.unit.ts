import { describe, expect, test } from '@jest/globals'
import { problemText } from '../../../../../views/web/team/problem.ts'

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
