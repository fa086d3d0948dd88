import { describe, expect, test } from 'vitest'
import { StoreHaltError } from '../../../../../shared/log-store/log-store.ts'
import { StoreUnavailableError } from '../../../../../shared/log-store/sqlite/database.ts'
import { createPersistence } from '../../../../../shared/log-store/sqlite/sqlite-log-store.ts'
import { eventually } from '../../../../support/eventually.ts'

function setUp() {
  const warnings: unknown[] = []
  return { warnings, ...createPersistence({ warn: (fields: unknown) => void warnings.push(fields) }) }
}

/** Fails so many times, then gives its number. */
function failing(times: number, error: Error): () => Promise<number> {
  let attempts = 0
  return async () => {
    attempts += 1
    if (attempts <= times) throw error
    return attempts
  }
}

const full = new StoreUnavailableError('the disk is full')
const { signal } = new AbortController()

describe('persistence', () => {
  test('what may pass is tried until it has passed, and warned of once', async () => {
    const { persist, warnings, health } = setUp()
    expect(await persist(failing(3, full), signal)).toBe(4)
    expect(warnings).toEqual([{ reason: 'the disk is full' }])
    expect(health()).toEqual({ name: 'log-store', ready: true })
  })

  test('a file that is damaged is tried again a few times, as a disk that failed to read it looks the same', async () => {
    const { persist, warnings } = setUp()
    const damaged = new StoreHaltError('it is damaged')
    expect(await persist(failing(3, damaged), signal)).toBe(4)
    await expect(persist(failing(1_000, damaged), signal)).rejects.toBe(damaged)
    expect(warnings).toHaveLength(2)
  })

  test('any other failure is thrown at once', async () => {
    const { persist, warnings, health } = setUp()
    const error = new Error('no')
    await expect(persist(failing(1, error), signal)).rejects.toBe(error)
    expect(warnings).toEqual([])
    expect(health().ready).toBe(true)
  })

  test('an abort ends the pause with its reason, and nothing is tried after it', async () => {
    const { persist, health } = setUp()
    const controller = new AbortController()
    const reason = new Error('enough')
    let attempts = 0
    const persisting = persist(async () => {
      attempts += 1
      throw full
    }, controller.signal)
    await eventually(() => attempts === 2)
    expect(health()).toEqual({ name: 'log-store', ready: false, reason: 'the disk is full' })
    controller.abort(reason)
    await expect(persisting).rejects.toBe(reason)
    expect(attempts).toBeLessThanOrEqual(3)
    await expect(persist(failing(0, full), controller.signal)).rejects.toBe(reason)
  })

  test('the store is well again when the last failing write is', async () => {
    const { persist, health } = setUp()
    let broken = true
    const attempt = async () => {
      if (broken) throw full
    }
    const writes = [persist(attempt, signal), persist(attempt, signal)]
    await eventually(() => !health().ready)
    broken = false
    await Promise.all(writes)
    expect(health().ready).toBe(true)
  })
})
