import { describe, expect, test } from 'vitest'
import { createAppendQueue } from '../../../../../shared/journal/sqlite/appender.ts'
import * as fc from '../../../../support/fast-check.ts'

describe('the append queue', () => {
  test('batches that come in one turn are written together up to the limit, in their order', async () => {
    const groups: (readonly string[])[] = []
    const queue = createAppendQueue<string>((batches) => groups.push(batches), 30)
    await Promise.all(['a', 'b', 'c'].map((batch) => queue.add(batch, 10)))
    await queue.add('d', 10)
    await Promise.all(['e', 'f'].map((batch) => queue.add(batch, 16)))
    expect(groups).toEqual([['a', 'b', 'c'], ['d'], ['e'], ['f']])
  })

  test('whatever the sizes: all are written once and in order, and no group of several is beyond the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 40 }), async (sizes) => {
        const groups: (readonly number[])[] = []
        const queue = createAppendQueue<number>((batches) => groups.push(batches), 100)
        await Promise.all(sizes.map((size, index) => queue.add(index, size)))
        expect(groups.flat()).toEqual(sizes.map((_, index) => index))
        for (const group of groups) {
          const bytes = group.reduce((sum, index) => sum + sizes[index]!, 0)
          expect(group.length === 1 || bytes <= 100).toBe(true)
        }
      }),
    )
  })

  test('a group that fails takes none of the others with it', async () => {
    const queue = createAppendQueue<string>((batches) => {
      if (batches.includes('bad')) throw new Error('no room')
    }, 100)
    const outcomes = await Promise.allSettled([queue.add('good', 60), queue.add('bad', 60), queue.add('later', 60)])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('flush writes at once all that waits', () => {
    const written: string[] = []
    const queue = createAppendQueue<string>((batches) => written.push(...batches), 10)
    void queue.add('a', 10)
    void queue.add('b', 10)
    queue.flush()
    expect(written).toEqual(['a', 'b'])
  })
})
