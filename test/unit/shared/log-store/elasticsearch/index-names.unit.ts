import { expect, test } from 'vitest'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'

const names = indexNames('sluice')

test('an entry goes to the index of its kind and day', () => {
  expect(names.day('event', '2026-01-31')).toBe('sluice-event-logs-v1-2026.01.31')
  expect(names.day('application', '2026-01-31')).toBe('sluice-application-logs-v1-2026.01.31')
  expect(names.flows).toBe('sluice-flows-v1')
})

test('the name of an index tells its day and kind; others tell nothing', () => {
  expect(names.dayOf('sluice-event-logs-v1-2026.01.31')).toBe('2026-01-31')
  expect(names.kindOf('sluice-event-logs-v1-2026.01.31')).toBe('event')
  for (const other of ['sluice-flows-v1', 'other-event-logs-v1-2026.01.31', 'sluice-event-logs-v1-old']) {
    expect(names.dayOf(other)).toBeUndefined()
  }
})

test('generations count from 2, and have the day and kind of the index that they replace', () => {
  const day = names.day('event', '2026-01-31')
  const second = names.nextGeneration(day, day)
  expect(second).toBe('sluice-event-logs-v1.2-2026.01.31')
  expect(names.nextGeneration(day, second)).toBe('sluice-event-logs-v1.3-2026.01.31')
  expect([names.dayOf(second), names.kindOf(second), names.isRebuilt(second)]).toEqual(['2026-01-31', 'event', true])
  expect(names.nextGeneration(names.flows, names.flows)).toBe('sluice-flows-v1.2')
  expect(names.nextGeneration(names.flows, 'sluice-flows-v1.9')).toBe('sluice-flows-v1.10')
  expect([names.isRebuilt(day), names.isRebuilt('sluice-flows-v1.2')]).toEqual([false, true])
  expect([names.dayOf('sluice-flows-v1.2'), names.kindOf('sluice-flows-v1.2')]).toEqual([undefined, undefined])
})

test('an index of any generation has the name of the first', () => {
  const day = names.day('application', '2026-01-31')
  for (const index of [day, names.nextGeneration(day, day)]) expect(names.nameOf(index)).toBe(day)
  for (const index of [names.flows, 'sluice-flows-v1.12']) expect(names.nameOf(index)).toBe(names.flows)
  expect(names.nameOf('sluice-event-logs-v1.2-old')).toBeUndefined()
})

test('no kind named means both', () => {
  expect(names.all([])).toBe(names.all(['event', 'application']))
  expect(names.all(['event'])).toBe('sluice-event-logs-v1-*')
})

test.each(['', 'Sluice', '-a', '_a', '.a', 'a b', 'a*', 'a,b', 'a/b', 'ä', 'a'.repeat(101)])(
  'a prefix that cannot begin the name of an index is refused: %p',
  (prefix) => {
    expect(() => indexNames(prefix)).toThrow('index prefix')
  },
)
