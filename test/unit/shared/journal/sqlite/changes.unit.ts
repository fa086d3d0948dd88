import { describe, expect, test } from 'vitest'
import { TOPICS } from '../../../../../shared/contract/topics.ts'
import { createChanges } from '../../../../../shared/journal/sqlite/changes.ts'
import { createGroups } from '../../../../../shared/journal/sqlite/groups.ts'
import { follow } from '../../../../../shared/journal/sqlite/reading.ts'
import { packRecords } from '../../../../../shared/journal/sqlite/record-codec.ts'
import { openStore, type StoreCalls } from '../../../../../shared/journal/sqlite/store.ts'
import { subscribe } from '../../../../../shared/journal/sqlite/subscription.ts'
import { callHere } from '../../../../../shared/runtime/threads/thread.ts'
import { eventually } from '../../../../support/eventually.ts'
import { createJournalFolder, recordsOf, valuesOf } from '../../../../support/journal-fixture.ts'

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

describe('a record that is appended while its topic is read', () => {
  /** A store that appends another record after each of its first reads, before their pages arrive. */
  async function appending() {
    const folder = await createJournalFolder()
    const { calls, close } = openStore({ file: folder.file() })
    const real: StoreCalls = callHere('journal', { calls, close }, () => false)
    const changes = createChanges(async () => 1, 1_000_000)
    let left = 3
    const append = async (): Promise<void> => {
      await real.call('append', [{ topic: 'logs', partition: 0, batches: packRecords(recordsOf('a', 1)) }, 0])
      changes.notify('logs')
    }
    const failures: Error[] = []
    const call: StoreCalls['call'] = (name, args) => {
      const failure = name === 'read' ? failures.shift() : undefined
      if (failure !== undefined) return Promise.reject(failure)
      const called = real.call(name, args)
      return name === 'read' && left-- > 0 ? called.then((page) => append().then(() => page)) : called
    }
    await real.call('createTopics', [[{ ...TOPICS['event-logs'], name: 'logs', partitions: 1 }]])
    await append()
    const end = async (): Promise<void> => {
      changes.close()
      await real.close()
      await folder.remove()
    }
    return { store: { ...real, call }, changes, append, failures, end }
  }

  test('is not missed by a follower', async () => {
    const { store, changes, end } = await appending()
    const seen: unknown[] = []
    const deps = { store, changes, logger: undefined }
    const follower = await follow(deps, 'logs', (records) => void seen.push(...valuesOf(records)))
    await eventually(() => seen.length === 4)
    await follower.close()
    await end()
  })

  test('nor is one after a read that failed', async () => {
    const { store, changes, append, failures, end } = await appending()
    const [seen, logged] = [[] as unknown[], [] as unknown[]]
    const logger = { error: (facts: unknown) => void logged.push(facts) }
    const follower = await follow({ store, changes, logger }, 'logs', (records) => void seen.push(...records))
    await eventually(() => seen.length === 4)
    const err = new Error('the disk fails')
    failures.push(err)
    await append()
    await eventually(() => seen.length === 5)
    expect(logged).toEqual([{ err, topic: 'logs' }])
    await follower.close()
    await end()
  })

  test('is not missed by a group', async () => {
    const { store, changes, end } = await appending()
    const seen: unknown[] = []
    const commit = async (): Promise<void> => undefined
    const deps = { store, changes, commit, groups: createGroups(), logger: undefined }
    const subscription = await subscribe(
      deps,
      { group: 'group', topics: ['logs'], recordsMax: 10 },
      async ({ records }) => {
        seen.push(...valuesOf(records))
      },
    )
    await eventually(() => seen.length === 4)
    await subscription.close()
    await end()
  })
})
