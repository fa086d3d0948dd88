import { expect, test } from 'vitest'
import { median, ratio, table, whole } from '../../../bench/numbers.ts'

test('the median is the middle value, or the mean of the two in the middle', () => {
  expect([median([3]), median([9, 1, 3]), median([4, 1]), median([8, 1, 2, 4])]).toEqual([3, 3, 2.5, 3])
  expect(median([])).toBeNaN()
})

test('numbers and tables are written as Markdown has them', () => {
  expect([whole(1234.5), ratio(0.666)]).toEqual(['1,235', '0.67'])
  expect(table(['a', 'b'], [['1', '2']])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n')
})
