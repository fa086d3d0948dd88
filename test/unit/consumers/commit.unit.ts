import { describe, expect, test } from '@jest/globals'
import { commitPatiently } from '../../../consumers/commit.ts'
import type { PartitionBatch } from '../../../shared/journal/journal.ts'

/** A batch whose commits fail with the given errors, one after another, before they work. */
function batchOf(failures: readonly Error[]) {
  const abort = new AbortController()
  const tried: number[] = []
  const warned: object[] = []
  const batch: PartitionBatch = {
    topic: 'logs',
    partition: 0,
    records: [],
    endPosition: 9,
    signal: abort.signal,
    commit: async (position) => {
      const failure = failures[tried.length]
      tried.push(position)
      if (failure !== undefined) throw failure
    },
  }
  const logger = { warn: (facts: object) => void warned.push(facts) }
  return { commit: () => commitPatiently(batch, 7, logger as never), tried, warned, abort }
}

describe('a commit', () => {
  test('that the journal cannot take for a while is tried again, and warned of once', async () => {
    const { commit, tried, warned } = batchOf([new Error('the disk is full'), new Error('the disk is full')])
    await commit()
    expect(tried).toEqual([7, 7, 7])
    expect(warned).toHaveLength(1)
  })

  test('is given up when the partition is taken away', async () => {
    const { commit, tried, abort } = batchOf(Array.from({ length: 99 }, () => new Error('the disk is full')))
    const committing = commit()
    abort.abort(new Error('taken away'))
    await expect(committing).rejects.toThrow('taken away')
    expect(tried).toEqual([7])
  })

  test('of a position that cannot be is a fault that is thrown', async () => {
    const { commit, tried } = batchOf([new RangeError('beyond the end')])
    await expect(commit()).rejects.toThrow('beyond the end')
    expect(tried).toEqual([7])
  })
})
