import { describe, expect, test } from 'vitest'
import { groupingAccuracy, linesOf, mistakes } from '../../../bench/fingerprints/grouping.ts'

describe('a dataset', () => {
  test('is read with quoted cells, empty ones and lines of Windows', () => {
    expect(linesOf('LineId,Content,EventId\r\n1,"a, ""b""\nc",E1\r\n2,,E2\n')).toEqual([
      { message: 'a, "b"\nc', label: 'E1' },
      { message: '', label: 'E2' },
    ])
  })

  test('without its columns is refused', () => {
    expect(() => linesOf('LineId,Message\n1,a\n')).toThrow('Content, EventId')
  })
})

describe('grouping accuracy', () => {
  const lines = [
    ...['a 1', 'a 2', 'b 1', 'b 2', 'c 1'].map((message) => ({ message, label: message.slice(0, 1) })),
    { message: 'c 2', label: 'd' },
  ]

  test('counts the lines of groups that have all of a label and nothing else', () => {
    const groupOf = (message: string): string => (message.startsWith('b') ? message : message.slice(0, 1))
    expect(groupingAccuracy(lines, groupOf)).toBeCloseTo(2 / 6)
    expect(mistakes(lines, groupOf)).toBe('    2  c d  c\n    1  b  b 1\n    1  b  b 2\n')
    expect(groupingAccuracy(lines, (message) => (message === 'c 2' ? 'd' : message.slice(0, 1)))).toBe(1)
  })
})
