import { describe, expect, test } from 'vitest'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import { keyRecordId } from '../../../../shared/registry/plan-keys.ts'
import { emptyState, encodeRecord, fold, type RegistryRecord } from '../../../../shared/registry/records.ts'
import { createRegistryFold } from '../../../../shared/registry/registry-fold.ts'
import { registryOf } from '../../../support/registry-topic.ts'

const ID = '3f2504e0-4f89-11d3-9a0c-0305e82c3303'
const GUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const NOW = '2026-01-01T00:00:00.000Z'

const FILE = `
teams:
  - { id: payments, name: Payments, apiKeys: [payments-key-one, payments-key-two] }
  - { id: billing, apiKeys: [billing-key] }
  - { id: keyless, apiKeys: [] }
events:
  - { identifier: order-placed, team: payments, name: Order placed }
  - { identifier: invoiced, team: billing }
steps:
  - { identifier: ship, team: payments, event: order-placed, order: 3 }
  - { identifier: validate, team: payments, event: order-placed, order: 1 }
  - { identifier: charge, team: payments, event: order-placed, order: 2 }
  - { identifier: also-second, team: payments, event: order-placed, order: 2 }
  - { identifier: alone, team: payments }
projects:
  - { id: ${GUID}, team: payments, name: Checkout API }
`

const key = (team: string, text: string, revokedAt: string | null = null, createdAt = NOW): RegistryRecord => ({
  kind: 'key',
  id: keyRecordId(team, text),
  value: { prefix: text.slice(0, 3), createdAt, revokedAt },
})

function viewOf(...records: RegistryRecord[]) {
  const view = createRegistryFold()
  const add = (...more: RegistryRecord[]): void =>
    view.fold(
      more.map(encodeRecord).map(({ key, value }) => ({
        offset: 0,
        key: Buffer.from(key as string),
        value: value === null ? null : Buffer.from(value),
      })),
    )
  add(...records)
  return { registry: view.registry, add }
}

describe('the registry in memory', () => {
  const registry = registryOf(FILE)

  test('finds an Event or Step by its exact identifier', () => {
    expect(registry.entity('order-placed')).toEqual({
      kind: 'event',
      identifier: 'order-placed',
      team: 'payments',
      name: 'Order placed',
    })
    expect(registry.entity('validate')).toEqual({
      kind: 'step',
      identifier: 'validate',
      team: 'payments',
      event: 'order-placed',
      name: 'validate',
      order: 1,
    })
    expect([registry.entity('Validate'), registry.entity(' validate'), registry.entity('')]).toEqual(
      Array(3).fill(undefined),
    )
  })

  test('finds a Project by its canonical GUID, and a Team', () => {
    expect(registry.project(GUID)).toEqual({ id: GUID, team: 'payments', name: 'Checkout API' })
    expect(registry.project(GUID.toUpperCase())).toBeUndefined()
    expect(registry.team('billing')).toEqual({ id: 'billing', name: 'billing' })
  })

  test('finds the Projects of a Team by name, in any case, and after a change', () => {
    const other = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
    const { registry, add } = viewOf(
      { kind: 'team', id: 'a', value: { name: 'A' } },
      { kind: 'project', id: GUID, value: { team: 'a', name: 'Checkout API' } },
      { kind: 'project', id: other, value: { team: 'b', name: 'Checkout API' } },
    )
    expect(registry.projectsNamed('a', 'checkout api').map(({ id }) => id)).toEqual([GUID])
    expect([registry.projectsNamed('a', 'Checkout'), registry.projectsNamed('b', 'Checkout API')]).toEqual([[], []])
    add({ kind: 'project', id: other, value: { team: 'a', name: 'CHECKOUT api', archivedAt: NOW } })
    expect(registry.projectsNamed('a', 'Checkout API').map(({ id }) => id)).toEqual([GUID, other])
    expect(registry.projectsNamed('a', '__proto__')).toEqual([])
  })

  test('finds a Project by a name in any normal form, and takes no time for one of endless combining marks', () => {
    const marks = (count: number): string => '\u0301'.repeat(count) + '\u0316'.repeat(count)
    const { registry } = viewOf(
      { kind: 'team', id: 'a', value: { name: 'A' } },
      { kind: 'project', id: GUID, value: { team: 'a', name: `Café ${marks(20)}` } },
      { kind: 'project', id: ID, value: { team: 'a', name: 'Été' } },
    )
    const named = (name: string): readonly string[] => registry.projectsNamed('a', name).map(({ id }) => id)
    expect([named('été'), named('E\u0301te\u0301')]).toEqual([[ID], [ID]])
    expect(named(`café ${marks(20)}`)).toEqual([GUID])
    // To normalise it would take longer than a test may.
    expect(named(`Été${marks(150_000)}`)).toEqual([])
  })

  test('lists what a Team owns, and nothing of another Team', () => {
    expect(registry.teams().map(({ id }) => id)).toEqual(['billing', 'keyless', 'payments'])
    expect(registry.eventsOf('payments').map(({ identifier }) => identifier)).toEqual(['order-placed'])
    expect(registry.projectsOf('payments').map(({ id }) => id)).toEqual([GUID])
    expect(registry.eventsOf('billing').map(({ identifier }) => identifier)).toEqual(['invoiced'])
    expect([registry.stepsOf('billing'), registry.projectsOf('billing')]).toEqual([[], []])
    expect([registry.eventsOf('nobody'), registry.keysOf('nobody')]).toEqual([[], []])
  })

  test('lists Steps in their order, those that share a place by identifier', () => {
    expect(registry.stepsOf('payments').map(({ identifier }) => identifier)).toEqual([
      'alone',
      'validate',
      'also-second',
      'charge',
      'ship',
    ])
  })

  test('a name that every object has is no entry', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect([registry.entity(name), registry.team(name), registry.project(name)]).toEqual(Array(3).fill(undefined))
    }
  })
})

test('the Project for unknown services is one of the Team that takes logs, whatever the topic says', () => {
  const project = (value: { team: string; archivedAt?: string } | null): RegistryRecord => ({
    kind: 'project',
    id: GUID,
    value: value && { name: 'Checkout', ...value },
  })
  const { registry, add } = viewOf({ kind: 'team', id: 'a', value: { name: 'A', defaultProject: GUID } })
  const seen = (record: RegistryRecord) => {
    add(record)
    return registry.team('a')?.defaultProject
  }
  expect(registry.team('a')).toEqual({ id: 'a', name: 'A' })
  expect(seen(project({ team: 'a' }))).toBe(GUID)
  expect(seen(project({ team: 'a', archivedAt: NOW }))).toBeUndefined()
  expect(seen(project({ team: 'b' }))).toBeUndefined()
  expect(seen(project({ team: 'a' }))).toBe(GUID)
  expect(seen(project(null))).toBeUndefined()
})

describe('keys', () => {
  const registry = registryOf(FILE)

  test('each live key of a Team opens it, and no other Team', () => {
    for (const text of ['payments-key-one', 'payments-key-two']) {
      expect(registry.keyOpens('payments', text)).toBe(true)
      expect(registry.keyOpens('billing', text)).toBe(false)
      expect(registry.teamOfKey(text)?.id).toBe('payments')
    }
    expect(registry.keyOpens('billing', 'billing-key')).toBe(true)
  })

  test('nothing else opens a Team: no other text, no hash, no part of a key', () => {
    const wrong = ['', 'payments-key-on', 'payments-key-one ', 'PAYMENTS-KEY-ONE', hashKeyHex('payments-key-one')]
    for (const text of wrong) {
      expect(registry.keyOpens('payments', text)).toBe(false)
      expect(registry.teamOfKey(text)).toBeUndefined()
    }
    expect(registry.keyOpens('nobody', 'payments-key-one')).toBe(false)
  })

  test('a Team may have none', () => {
    expect(registry.hasKey('keyless')).toBe(false)
    expect(registry.hasKey('payments')).toBe(true)
    expect(registry.keyOpens('keyless', '')).toBe(false)
  })

  test('a revoked key opens nothing, and is still listed', () => {
    const { registry, add } = viewOf({ kind: 'team', id: 'a', value: { name: 'A' } }, key('a', 'the-key'))
    expect([registry.hasKey('a'), registry.keyOpens('a', 'the-key')]).toEqual([true, true])
    expect(registry.formerTeamOfKey('the-key')).toBeUndefined()
    add(key('a', 'the-key', '2026-02-01T00:00:00.000Z'))
    expect([registry.hasKey('a'), registry.keyOpens('a', 'the-key')]).toEqual([false, false])
    expect(registry.teamOfKey('the-key')).toBeUndefined()
    expect(registry.formerTeamOfKey('the-key')?.id).toBe('a')
    expect(registry.keysOf('a')).toEqual([
      { hash: hashKeyHex('the-key'), prefix: 'the', createdAt: NOW, revokedAt: '2026-02-01T00:00:00.000Z' },
    ])
  })

  test('are listed by their age', () => {
    const { registry } = viewOf(
      { kind: 'team', id: 'a', value: { name: 'A' } },
      key('a', 'new', null, '2026-02-01T00:00:00.000Z'),
      key('a', 'old', NOW),
    )
    expect(registry.keysOf('a').map(({ prefix }) => prefix)).toEqual(['old', 'new'])
  })
})

describe('records written past the administration', () => {
  test('an Event whose Team is gone is found, its Team is not, and its keys open nothing', () => {
    const { registry } = viewOf(
      { kind: 'event', id: 'e', value: { team: 'gone', name: 'E' } },
      { kind: 'project', id: GUID, value: { team: 'gone', name: 'P' } },
      key('gone', 'the-key'),
    )
    expect(registry.entity('e')?.team).toBe('gone')
    expect(registry.project(GUID)?.team).toBe('gone')
    expect(registry.team('gone')).toBeUndefined()
    expect([registry.hasKey('gone'), registry.keyOpens('gone', 'the-key')]).toEqual([false, false])
    expect(registry.teamOfKey('the-key')).toBeUndefined()
  })

  test('an identifier of both an Event and a Step is the Event’s, whichever came last', () => {
    const event: RegistryRecord = { kind: 'event', id: 'x', value: { team: 'a', name: 'Event' } }
    const step: RegistryRecord = { kind: 'step', id: 'x', value: { team: 'a', event: null, name: 'Step', order: 1 } }
    expect(viewOf(event, step).registry.entity('x')?.kind).toBe('event')
    expect(viewOf(step, event).registry.entity('x')?.kind).toBe('event')
  })

  test('a key of two Teams opens both and tells neither', () => {
    const { registry } = viewOf(
      { kind: 'team', id: 'a', value: { name: 'A' } },
      { kind: 'team', id: 'b', value: { name: 'B' } },
      key('a', 'shared'),
      key('b', 'shared'),
    )
    expect([registry.keyOpens('a', 'shared'), registry.keyOpens('b', 'shared')]).toEqual([true, true])
    expect(registry.teamOfKey('shared')).toBeUndefined()
    expect(registry.formerTeamOfKey('shared')).toBeUndefined()
  })

  test('what cannot be read is told and changes nothing else', () => {
    const heard: unknown[] = []
    const view = createRegistryFold(emptyState(), (reason, offset) => heard.push([reason, offset]))
    const bytes = (text: string) => Buffer.from(text)
    view.fold([
      { offset: 3, key: null, value: bytes('{}') },
      { offset: 4, key: bytes('team/a'), value: bytes('{"name":"A"}') },
      { offset: 7, key: bytes('team/b'), value: bytes('{') },
    ])
    expect(heard).toEqual([
      ['invalid_key', 3],
      ['invalid_json', 7],
    ])
    expect(view.registry.teams()).toEqual([{ id: 'a', name: 'A' }])
  })
})

test('a change replaces what was, a deletion removes it', () => {
  const { registry, add } = viewOf(
    { kind: 'team', id: 'a', value: { name: 'A' } },
    { kind: 'event', id: 'e', value: { team: 'a', name: 'E' } },
  )
  expect(registry.eventsOf('a')).toHaveLength(1)
  add({ kind: 'event', id: 'e', value: { team: 'a', name: 'Renamed' } })
  expect(registry.entity('e')?.name).toBe('Renamed')
  add({ kind: 'event', id: 'e', value: null })
  expect([registry.entity('e'), registry.eventsOf('a')]).toEqual([undefined, []])
})

describe('what is archived', () => {
  const at = '2026-03-01T00:00:00.000Z'
  const event = (archivedAt?: string): RegistryRecord => ({
    kind: 'event',
    id: 'order',
    value: { team: 'a', name: 'Order', ...(archivedAt && { archivedAt }) },
  })
  const step = (id: string, archivedAt?: string): RegistryRecord => ({
    kind: 'step',
    id,
    value: { team: 'a', event: 'order', name: id, order: 1, ...(archivedAt && { archivedAt }) },
  })
  const team: RegistryRecord = { kind: 'team', id: 'a', value: { name: 'A' } }

  test('is there, and says since when', () => {
    const { registry } = viewOf(team, event(at))
    expect(registry.entity('order')).toMatchObject({ name: 'Order', archivedAt: at })
    expect(registry.eventsOf('a')).toHaveLength(1)
  })

  test('takes its Steps along, and gives back those that were in use', () => {
    const earlier = '2026-02-01T00:00:00.000Z'
    const { registry, add } = viewOf(team, event(at), step('one'), step('two', earlier))
    expect([registry.entity('one')?.archivedAt, registry.entity('two')?.archivedAt]).toEqual([at, earlier])
    add(event())
    expect([registry.entity('one')?.archivedAt, registry.entity('two')?.archivedAt]).toEqual([undefined, earlier])
  })
})

test('a change, and a read after it, looks at no more of the registry when other Teams have more', () => {
  const looksIn = (teams: number): number => {
    const records = Array.from({ length: teams }, (_, n): RegistryRecord[] => [
      { kind: 'team', id: `t${n}`, value: { name: 'T' } },
      { kind: 'event', id: `e${n}`, value: { team: `t${n}`, name: 'E' } },
      { kind: 'step', id: `s${n}`, value: { team: `t${n}`, event: `e${n}`, name: 'S', order: 1 } },
      key(`t${n}`, `key-of-${n}`),
    ])
    let looks = 0
    const state = emptyState()
    for (const record of records.flat()) fold(state, record)
    const { registry, fold: add } = createRegistryFold(state)
    for (const map of Object.values(state) as Map<string, unknown>[]) {
      const { get, has } = map
      const counted = (look: (id: string) => unknown) => (id: string) => {
        looks += 1
        return look.call(map, id)
      }
      const whole = () => {
        throw new Error('all of the registry was read')
      }
      const everything = { keys: whole, values: whole, entries: whole, [Symbol.iterator]: whole }
      Object.assign(map, { get: counted(get), has: counted(has), ...everything })
    }
    add([{ offset: 0, key: Buffer.from('event/e1'), value: Buffer.from('{"team":"t1","name":"Renamed"}') }])
    expect(registry.eventsOf('t1')).toMatchObject([{ name: 'Renamed' }])
    expect(registry.stepsOf('t1')).toHaveLength(1)
    expect([registry.entity('s1')?.kind, registry.keyOpens('t1', 'key-of-1')]).toEqual(['step', true])
    expect([registry.teamOfKey('key-of-1')?.id, registry.ownerOfKey('key-of-1')]).toEqual(['t1', 't1'])
    return looks
  }
  expect(looksIn(2_000)).toBe(looksIn(2))
})
