import { expect, test } from 'vitest'
import { createLanes, type Job } from '../../../../views/watches/lanes.ts'

/** Jobs that end in the order in which they begin; `begun` has their keys. */
function slowJobs() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const job = (owner: string, number: number, isRepeat = false): Job => ({
    owner,
    key: `${owner}${number}`,
    isRepeat,
    run: () => {
      begun.push(`${owner}${number}`)
      return new Promise<void>((resolve) => ends.set(`${owner}${number}`, resolve))
    },
  })
  const endAll = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number += 1) {
      ends.get(begun[number] ?? '')?.()
      await new Promise(setImmediate)
    }
  }
  return { begun, job, endAll }
}

test('an owner with many slow jobs leaves the next lane to the others', async () => {
  const { begun, job, endAll } = slowJobs()
  const lanes = createLanes(2, 1)
  lanes.offer([job('a', 1), job('a', 2), job('a', 3), job('b', 1), job('b', 2), job('c', 1), job('c', 2)])
  await endAll(7)
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3'])
  await lanes.end()
})

test('the repeats of many owners leave the next lane to one who was served after them', async () => {
  const { begun, job, endAll } = slowJobs()
  const lanes = createLanes(1, 1)
  lanes.offer([job('healthy', 1)])
  await endAll(1)
  lanes.offer([job('a', 1, true), job('b', 1, true), job('c', 1, true)])
  lanes.offer([job('b', 1, true), job('c', 1, true), job('healthy', 2), job('healthy', 3)])
  await endAll(6)
  expect(begun).toEqual(['healthy1', 'a1', 'healthy2', 'healthy3', 'b1', 'c1'])
  await lanes.end()
})
