import { describe, expect, test } from 'vitest'
import { createChanges } from '../../../../../shared/journal/sqlite/changes.ts'

describe('the watch for changes', () => {
  test('does not wait where something changed since the version was taken', async () => {
    const changes = createChanges(async () => 1, 1_000_000)
    const seen = changes.version('logs')
    changes.notify()
    await changes.after('logs', seen)
    changes.close()
  })

  test('an append to one topic wakes nobody who reads another', async () => {
    const changes = createChanges(async () => 1, 1_000_000)
    const woken: string[] = []
    const waiting = ['logs', 'registry'].map((topic) =>
      changes.after(topic, changes.version(topic)).then(() => void woken.push(topic)),
    )
    const seen = changes.version('registry')
    changes.notify('logs')
    await waiting[0]
    expect(changes.version('registry')).toBe(seen)
    changes.notify()
    await waiting[1]
    expect(woken).toEqual(['logs', 'registry'])
    changes.close()
  })

  test('wakes those who wait when another connection has written', async () => {
    let current = 1
    const changes = createChanges(async () => current, 1)
    // The first look has nothing to compare with and wakes everyone.
    await changes.after('logs', changes.version('logs'))
    const seen = changes.version('logs')
    let woken = false
    const waiting = changes.after('logs', seen).then(() => {
      woken = true
    })
    expect(woken).toBe(false)
    current = 2
    await waiting
    expect(changes.version('logs')).toBeGreaterThan(seen)
    changes.close()
  })

  test('wakes them when it cannot look, so that they meet the failure themselves', async () => {
    let looks = 0
    const changes = createChanges(async () => {
      looks += 1
      if (looks > 1) throw new Error('the file is gone')
      return 1
    }, 1)
    await changes.after('logs', changes.version('logs'))
    await changes.after('logs', changes.version('logs'))
    expect(looks).toBe(2)
    changes.close()
  })

  test('does not look while nobody waits', async () => {
    let looks = 0
    const look = async () => {
      looks += 1
      return looks
    }
    const [idle, sentinel] = [createChanges(look, 1), createChanges(async () => Math.random(), 1)]
    for (let turn = 0; turn < 5; turn++) await sentinel.after('logs', sentinel.version('logs'))
    expect(looks).toBe(0)
    idle.close()
    sentinel.close()
  })

  test('lets everyone go when it is closed', async () => {
    const changes = createChanges(async () => 1, 1_000_000)
    const waiting = changes.after('logs', changes.version('logs'))
    changes.close()
    await waiting
    await changes.after('logs', changes.version('logs'))
  })
})
