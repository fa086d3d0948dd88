import { describe, expect, test } from 'vitest'
import { actionTexts, fieldTexts, limitedOf, quotaText, seenText } from '../../../../../views/web/team/texts.ts'

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

describe('the quota', () => {
  const none = { entriesPerSecond: null, bytesPerSecond: null, burstSeconds: 10, shadow: false }

  test('is told where there is one', () => {
    expect(quotaText(none)).toBeUndefined()
    expect(quotaText({ ...none, entriesPerSecond: 0 })).toBe('0 entries a second: nothing is taken.')
    expect(quotaText({ ...none, entriesPerSecond: 2_000, bytesPerSecond: 4_000_000 })).toBe(
      '2,000 entries and 4,000,000 bytes a second. A burst may be as large as 10 s of that.',
    )
  })

  test('is told with what was refused for it, over all clients', () => {
    const one = { userAgent: null, keyPrefix: 'sl_3fA', endpoint: '/v1/logs', code: 'rate_limited' as const }
    const refused = [
      { ...one, count: 1_200, lastAt: '2026-03-04T05:06:07.000Z' },
      { ...one, code: 'missing_message' as const, count: 7, lastAt: '2026-03-04T09:00:00.000Z' },
      { ...one, endpoint: '/ingest/clef', count: 34, lastAt: '2026-03-04T06:06:07.000Z' },
    ]
    expect(limitedOf(refused)).toEqual({
      text: '1,234 requests were refused for it in 24 h,',
      lastAt: '2026-03-04T06:06:07.000Z',
    })
    expect(limitedOf(refused.slice(1, 2))).toEqual({ text: 'Nothing was refused for it in 24 h.', lastAt: undefined })
    expect(limitedOf([{ ...one, count: 1, lastAt: 'x' }]).text).toBe('1 request was refused for it in 24 h,')
    expect(limitedOf(null).lastAt).toBeUndefined()
  })
})
