import { expect, test } from 'vitest'
import { createReadiness } from '../../../../deploy/http/operations.ts'

const LIMIT_MS = 10

test('tells of every part, and of parts of parts', async () => {
  const readiness = createReadiness([
    { name: 'journal', health: async () => ({ name: 'journal', ready: true }) },
    {
      name: 'consumers',
      health: async () => [
        { name: 'flows', ready: true },
        { name: 'event-logs', ready: false, reason: 'it halted' },
      ],
    },
  ])
  expect(await readiness()).toEqual([
    { name: 'journal', ready: true },
    { name: 'flows', ready: true },
    { name: 'event-logs', ready: false, reason: 'it halted' },
  ])
})

test('a part that does not answer, or fails, is not ready; the others are told of all the same', async () => {
  let asked = 0
  const readiness = createReadiness(
    [
      { name: 'journal', health: async () => ({ name: 'journal', ready: true }) },
      {
        name: 'consumers',
        health: () => {
          asked += 1
          return new Promise(() => undefined)
        },
      },
      { name: 'log-store', health: () => Promise.reject(new Error('the thread log-store is closed')) },
    ],
    LIMIT_MS,
  )
  const expected = [
    { name: 'journal', ready: true },
    { name: 'consumers', ready: false, reason: 'it does not answer' },
    { name: 'log-store', ready: false, reason: 'the thread log-store is closed' },
  ]
  expect(await readiness()).toEqual(expected)
  expect(await Promise.all([readiness(), readiness()])).toEqual([expected, expected])
  expect(asked).toBe(1)
})

test.each([
  [60_000, { name: 'consumers', ready: true }],
  [0, { name: 'consumers', ready: false, reason: 'it does not answer' }],
])('a part that was heard of %i ms ago at most is as it was', async (goodForMs, expected) => {
  let asked = 0
  const health = (): Promise<{ name: string; ready: true }> => {
    asked += 1
    return asked === 1 ? Promise.resolve({ name: 'consumers', ready: true }) : new Promise(() => undefined)
  }
  const readiness = createReadiness([{ name: 'consumers', health }], LIMIT_MS, goodForMs)
  await readiness()
  expect(await readiness()).toEqual([expected])
})
