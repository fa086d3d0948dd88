import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createRepeater } from '../../../../shared/runtime/repeat.ts'
import { eventually } from '../../../support/eventually.ts'

describe('a repeater', () => {
  test('runs once more after each end, never twice at a time, and tells of failures', async () => {
    const failures: unknown[] = []
    let running = 0
    let runs = 0
    const repeater = createRepeater({
      name: 'repeater',
      intervalMs: 1,
      run: async () => {
        runs += 1
        running += 1
        expect(running).toBe(1)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (runs === 2) throw new Error('once')
      },
      onError: (error) => failures.push(error),
    })
    await repeater.start()
    await repeater.start()
    await eventually(() => runs >= 5)
    await repeater.stop(Number.MAX_SAFE_INTEGER)
    expect(failures).toEqual([new Error('once')])
  })

  test('that is stopped in the middle of a run cuts it short, waits for it and runs no more', async () => {
    const failures: unknown[] = []
    let runs = 0
    const stopped = createRepeater({
      name: 'repeater',
      intervalMs: 1,
      run: async (signal) => {
        runs += 1
        await once(signal, 'abort')
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('cut short')
      },
      onError: (error) => failures.push(error),
    })
    await stopped.start()
    await stopped.stop(Number.MAX_SAFE_INTEGER)

    let sentinelRuns = 0
    const sentinel = createRepeater({
      name: 'repeater',
      intervalMs: 1,
      run: async () => {
        sentinelRuns += 1
      },
      onError: () => undefined,
    })
    await sentinel.start()
    await eventually(() => sentinelRuns >= 5)
    await sentinel.stop(Number.MAX_SAFE_INTEGER)
    expect(runs).toBe(1)
    expect(failures).toEqual([])
  })
})
