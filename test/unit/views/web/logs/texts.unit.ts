import { describe, expect, test } from 'vitest'
import type { Absence } from '../../../../../views/schemas/answers.ts'
import { emptyTexts, ungroupedText, wayText, wayValue } from '../../../../../views/web/logs/texts.ts'

const NOW = Date.parse('2026-02-01T12:00:00.000Z')
const absence = (facts: Partial<Absence>): Absence => ({
  kept: true,
  newestAt: null,
  conditions: [],
  ways: [],
  ...facts,
})
const earlier = (ms: number): string => new Date(NOW - ms).toISOString()

describe('an empty list', () => {
  test.each([
    [{ newestAt: earlier(7_200_000) }, 'Nothing in this time', 'The newest log is from 2 h ago.'],
    [{ newestAt: earlier(40_500) }, 'Nothing in this time', 'The newest log is from 40 s ago.'],
    [{ newestAt: earlier(-90_000) }, 'Nothing in this time', 'The newest log is ahead of this clock.'],
    [
      { newestAt: earlier(3 * 86_400_000), conditions: ['level'] },
      'Nothing in this time',
      'The newest log that matches is from 3 d ago.',
    ],
    [{ conditions: ['step'] }, 'Nothing matches', 'No event log of any time matches this.'],
    [{ conditions: ['q', 'level'] }, 'Nothing matches', 'No event log of any time matches all of these.'],
  ])('%j', (facts, title, reason) => {
    expect(emptyTexts('event', absence(facts), NOW)).toEqual([title, reason])
  })

  test.each([
    ['newest', { from: 'x', to: 'y' }, 'Go to the newest log'],
    ['since', { from: 'x', to: '' }, 'Everything since then'],
    ['without', { q: '' }, 'Remove the search', 'x'],
    ['without', { level: '' }, 'Remove level', 'Error'],
    ['without', { level: '', levelMax: '' }, 'Remove level', 'Error'],
    ['without', { exceptionGroup: '' }, 'Remove exception', 'x'],
    ['without', { q: '', level: '' }, 'Remove all', null],
  ] as const)('has a way out, %s %j: %s', (kind, params, text, value = null) => {
    expect(wayText({ kind, params, value, total: null })).toBe(text)
  })

  test.each([
    ['step', 'order-placed.charge', 'order-placed.charge'],
    ['project', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', null],
    ['exceptionGroup', '3de964af6b1f4', null],
  ])('names the %s %s as %s', (name, value, shown) => {
    expect(wayValue({ kind: 'without', params: { [name]: '' }, value, total: 0 })).toBe(shown)
  })
})

test('logs that are in no group are told with the reason', () => {
  expect(ungroupedText('exception', 1)).toBe('1 log without an exception, or stored before there were groups.')
  expect(ungroupedText('template', 1_200)).toBe(
    '1,200 logs in no group: without a text, or stored before there were groups.',
  )
})
