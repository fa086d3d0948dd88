import { expect, test } from 'vitest'
import { createLanes, type Job } from '../../../../views/watches/lanes.ts'

test('an owner with many slow jobs leaves the next lane to the others', async () => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const job = (owner: string, number: number): Job => ({
    owner,
    key: `${owner}${number}`,
    run: () => {
      begun.push(`${owner}${number}`)
      return new Promise<void>((resolve) => ends.set(`${owner}${number}`, resolve))
    },
  })
  const lanes = createLanes(2, 1)
  lanes.offer([job('a', 1), job('a', 2), job('a', 3), job('b', 1), job('b', 2), job('c', 1), job('c', 2)])
  for (let number = 0; number < 7; number += 1) {
    ends.get(begun[number] ?? '')?.()
    await new Promise(setImmediate)
  }
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3'])
  await lanes.end()
})
