import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { createRepeater } from '../../../../shared/runtime/repeat.ts'
import { eventually } from '../../../support/eventually.ts'

/** A repeater with its failures. */
function rig(run: (signal: AbortSignal) => Promise<void>) {
  const failures: unknown[] = []
  const onError = (error: unknown) => failures.push(error)
  return { failures, ...createRepeater({ name: 'repeater', intervalMs: 1, run, onError }) }
}

/** Waits as long as a repeater would take to run several times. */
async function waitForRuns(): Promise<void> {
  let runs = 0
  const sentinel = rig(async () => {
    runs += 1
  })
  await sentinel.start()
  await eventually(() => runs >= 5)
  await sentinel.stop(Number.MAX_SAFE_INTEGER)
}

describe('a repeater', () => {
  test('runs once more after each end, never twice at a time, and tells of failures', async () => {
    let running = 0
    let runs = 0
    const repeater = rig(async () => {
      runs += 1
      running += 1
      expect(running).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      if (runs === 2) throw new Error('once')
    })
    await repeater.start()
    await repeater.start()
    await eventually(() => runs >= 5)
    await repeater.stop(Number.MAX_SAFE_INTEGER)
    expect(repeater.failures).toEqual([new Error('once')])
  })

  test('that is stopped in the middle of a run cuts it short, waits for it and runs no more', async () => {
    let runs = 0
    let hasEnded = false
    const { start, stop, failures } = rig(async (signal) => {
      runs += 1
      await once(signal, 'abort')
      await new Promise((resolve) => setImmediate(resolve))
      hasEnded = true
      throw new Error('cut short')
    })
    await start()
    await stop(Number.MAX_SAFE_INTEGER)
    expect(hasEnded).toBe(true)
    await waitForRuns()
    await stop(Number.MAX_SAFE_INTEGER)
    expect(runs).toBe(1)
    expect(failures).toEqual([])
  })

  test('is stopped by the deadline though a run does not end', async () => {
    const { start, stop } = rig(() => new Promise(() => undefined))
    await start()
    await stop(Date.now())
  })

  test('can wait before its first run', async () => {
    vi.useFakeTimers()
    try {
      const run = vi.fn(async () => undefined)
      const options = { name: 'repeater', intervalMs: 1_000, firstAfterMs: 500, run, onError: () => undefined }
      const { start, stop } = createRepeater(options)
      await start()
      await start()
      await vi.advanceTimersByTimeAsync(499)
      expect(run).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(run).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(run).toHaveBeenCalledTimes(2)
      await stop(Number.MAX_SAFE_INTEGER)
    } finally {
      vi.useRealTimers()
    }
  })

  test('that is stopped before its start never runs', async () => {
    let runs = 0
    const { start, stop } = rig(async () => {
      runs += 1
    })
    await stop(Number.MAX_SAFE_INTEGER)
    await start()
    await waitForRuns()
    expect(runs).toBe(0)
  })
})
