import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { Follower, Journal } from '../../../../shared/journal/journal.ts'
import { createRegistryFollower } from '../../../../shared/registry/follower.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import type { Logger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { registryOnMemory } from '../../../support/registry-topic.ts'

const FILE = `
teams:  [{ id: payments, apiKeys: [payments-key] }]
events: [{ identifier: order-placed, team: payments }]
`

function followerOf(journal: Pick<Journal, 'follow'>, topic: string) {
  const warnings: Record<string, unknown>[] = []
  const log = { warn: (fields: Record<string, unknown>) => warnings.push(fields), info: () => undefined }
  const logger = log as unknown as Logger
  const metrics = createMetrics()
  const follower = createRegistryFollower({ journal, topic, logger, metrics, clock: systemClock })
  const metricOf = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value
  return { follower, warnings, metricOf, gauge: () => metricOf('sluice_registry_ready') }
}

const soon = () => systemClock.now() + 5_000

describe('a follower of the registry', () => {
  test('is ready when it has read all that stood in the topic', async () => {
    const { journal, admin, topic } = registryOnMemory()
    await admin.applyFile(FILE, { prune: false })
    const { follower, gauge } = followerOf(journal, topic)
    expect([follower.ready(), await gauge()]).toEqual([false, 0])
    expect(follower.health()).toEqual({ name: 'registry', ready: false, reason: 'the registry is being read' })
    await follower.start()
    expect([follower.ready(), await gauge()]).toEqual([true, 1])
    expect(follower.health()).toEqual({ name: 'registry', ready: true })
    expect(follower.registry.keyOpens('payments', 'payments-key')).toBe(true)
    await follower.stop(soon())
    expect([follower.ready(), await gauge()]).toEqual([false, 0])
  })

  test('tells how much it holds, and when the newest change that it has seen was written', async () => {
    const { journal, admin, topic } = registryOnMemory()
    const { follower, metricOf } = followerOf(journal, topic)
    await follower.start()
    expect(await metricOf('sluice_registry_applied_timestamp_seconds')).toBe(0)
    await admin.applyFile(FILE, { prune: false })
    await eventually(async () => expect(await metricOf('sluice_registry_records')).toBe(3))
    const writtenAt = journal.recordsOf(topic).at(-1)?.appendedAt ?? 0
    expect(await metricOf('sluice_registry_applied_timestamp_seconds')).toBe(writtenAt / 1_000)
    await follower.stop(soon())
  })

  test('is ready with an empty registry too', async () => {
    const { journal, topic } = registryOnMemory()
    const { follower } = followerOf(journal, topic)
    await follower.start()
    expect([follower.ready(), follower.registry.teams()]).toEqual([true, []])
    await follower.stop(soon())
  })

  test('is not ready before the journal has handed all over', async () => {
    const { promise, resolve } = Promise.withResolvers<Follower>()
    const { follower } = followerOf({ follow: () => promise }, 'registry')
    const starting = follower.start()
    await turn()
    expect(follower.ready()).toBe(false)
    resolve({ outdated: new Promise(() => undefined), close: async () => undefined })
    await starting
    expect(follower.ready()).toBe(true)
  })

  test('shows later changes, a revoked key among them', async () => {
    const { journal, admin, topic } = registryOnMemory()
    const { follower } = followerOf(journal, topic)
    await follower.start()
    await admin.applyFile(FILE, { prune: false })
    await eventually(() => follower.registry.keyOpens('payments', 'payments-key'))
    await admin.revokeKey('payments', 'payments-key')
    await eventually(() => !follower.registry.keyOpens('payments', 'payments-key'))
    expect(follower.registry.entity('order-placed')).toBeDefined()
    await follower.stop(soon())
  })

  test('reads the topic again where it may have missed deletions, and knows what it knew until it has', async () => {
    const { journal, admin, topic } = registryOnMemory()
    await admin.applyFile(FILE, { prune: false })
    const rereading = Promise.withResolvers<void>()
    const follow = vi.fn(journal.follow)
    const { follower, metricOf } = followerOf({ follow }, topic)
    await follower.start()
    follow.mockImplementation(async (...args) => {
      const opened = await journal.follow(...args)
      await rereading.promise
      return opened
    })
    // Ended first, so that it misses the deletions.
    journal.outdateFollowers(topic)
    await admin.applyFile('teams: [{ id: billing, apiKeys: [billing-key] }]', { prune: true })
    journal.compact(topic)
    await eventually(() => expect(follow).toHaveBeenCalledTimes(2))
    expect(follower.registry.keyOpens('payments', 'payments-key')).toBe(true)
    rereading.resolve()
    await eventually(() => expect(follower.registry.teams().map(({ id }) => id)).toEqual(['billing']))
    expect(follower.registry.entity('order-placed')).toBeUndefined()
    expect([follower.ready(), await metricOf('sluice_registry_records')]).toEqual([true, 3])
    await admin.revokeKey('billing', 'billing-key')
    await eventually(() => !follower.registry.keyOpens('billing', 'billing-key'))
    await follower.stop(soon())
  })

  test('reads the same from a topic that was compacted', async () => {
    const { journal, admin, topic } = registryOnMemory()
    await admin.applyFile(FILE, { prune: false })
    await admin.applyFile('teams: [{ id: payments, name: Renamed, apiKeys: [] }]', { prune: true })
    journal.compact(topic)
    const { follower } = followerOf(journal, topic)
    await follower.start()
    expect(follower.registry.team('payments')?.name).toBe('Renamed')
    expect(follower.registry.entity('order-placed')).toBeUndefined()
    expect(follower.registry.hasKey('payments')).toBe(false)
    await follower.stop(soon())
  })

  test('survives garbage with one warning for each kind of it, which shows no content', async () => {
    const { journal, admin, topic } = registryOnMemory()
    const garbage = [
      { key: 'team/x', value: 'secret {' },
      { key: 'team/y', value: 'secret' },
      { key: 'nonsense', value: 'secret' },
      { key: null, value: 'secret' },
      { key: Uint8Array.of(0xff), value: Uint8Array.of(0xff) },
    ]
    await journal.append({ topic, partition: 0, records: garbage.map((each) => ({ ...each, headers: {} })) })
    await admin.applyFile(FILE, { prune: false })
    const { follower, warnings } = followerOf(journal, topic)
    await follower.start()
    expect(warnings.map(({ reason, offset }) => [reason, offset])).toEqual([
      ['invalid_json', 0],
      ['unknown_kind', 2],
      ['invalid_key', 3],
    ])
    expect(JSON.stringify(warnings)).not.toContain('secret')
    expect(follower.registry.teams().map(({ id }) => id)).toEqual(['payments'])
    await follower.stop(soon())
  })

  test('fails to start where the topic is missing', async () => {
    const { journal } = registryOnMemory()
    const { follower } = followerOf(journal, 'nowhere')
    await expect(follower.start()).rejects.toThrow('the topic nowhere does not exist')
    expect(follower.ready()).toBe(false)
    await follower.stop(soon())
  })

  test('stops twice, without a start, and in the middle of one', async () => {
    const { journal, topic } = registryOnMemory()
    const idle = followerOf(journal, topic).follower
    await idle.stop(soon())
    await idle.stop(soon())
    const { follower } = followerOf(journal, topic)
    const starting = follower.start()
    await follower.stop(soon())
    await starting
    expect(follower.ready()).toBe(false)
  })

  test('stops by the deadline, whatever the journal does', async () => {
    const { follower } = followerOf({ follow: () => new Promise(() => undefined) }, 'registry')
    void follower.start()
    await follower.stop(systemClock.now())
    expect(follower.ready()).toBe(false)
  })
})
