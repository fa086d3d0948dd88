import { describe, expect, test } from 'vitest'
import type { Journal } from '../../../../shared/journal/journal.ts'
import { createRegistryAdmin } from '../../../../shared/registry/admin.ts'
import { readTopic } from '../../../../shared/registry/journal-access.ts'
import { OWN_ITEMS_MAX, type OwnItem } from '../../../../shared/registry/team-admin.ts'
import { NOW, overtaken, registryIn, registryOnMemory } from '../../../support/registry-topic.ts'

const GUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const OTHER_GUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
const FILE = `
teams: [{ id: a }, { id: b }]
events: [{ identifier: order, team: a, name: Order }, { identifier: secret, team: b }]
steps: [{ identifier: order.pay, team: a, event: order, name: Pay }, { identifier: secret.step, team: b }]
projects: [{ id: ${GUID}, team: a, name: Api }, { id: ${OTHER_GUID}, team: b }]
`

async function setUp() {
  const setup = registryOnMemory()
  await setup.admin.applyFile(FILE, { prune: false })
  /** The keys of all records of the registry. */
  const keys = () => setup.journal.recordsOf(setup.topic).map(({ key }) => String(key))
  return { ...setup, registry: () => registryIn(setup), keys }
}

type Setup = Awaited<ReturnType<typeof setUp>>
const create = ({ admin }: Pick<Setup, 'admin'>, item: OwnItem) => admin.changeOwn('a', item, 'create')
const change = ({ admin }: Pick<Setup, 'admin'>, item: OwnItem) => admin.changeOwn('a', item, 'change')
const refused = (because: string) => ({ outcome: 'refused', because })

describe('a Team creates', () => {
  test('Events, Steps at the end of their Event, and Projects', async () => {
    const setup = await setUp()
    const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3309'
    for (const item of [
      { kind: 'event', id: 'refund', name: 'Refund' },
      { kind: 'step', id: 'order.ship', event: 'order', name: 'Ship' },
      { kind: 'step', id: 'nightly' },
      { kind: 'project', id, name: 'Worker' },
    ] as const) {
      const before = setup.keys()
      expect(await create(setup, item)).toMatchObject({ outcome: 'changed' })
      expect(setup.keys()).toEqual([...before, `${item.kind}/${item.id}`])
    }
    const registry = setup.registry()
    expect(registry.entity('refund')).toMatchObject({ team: 'a', name: 'Refund' })
    expect(registry.entity('order.ship')).toMatchObject({ team: 'a', event: 'order', order: 2 })
    expect(registry.entity('nightly')).toMatchObject({ event: null, name: 'nightly' })
    expect(registry.project(id)).toMatchObject({ team: 'a', name: 'Worker' })
  })

  test('nothing that is there already, and is told whether it is archived', async () => {
    const setup = await setUp()
    expect(await create(setup, { kind: 'event', id: 'order' })).toEqual(refused('exists'))
    expect(await create(setup, { kind: 'step', id: 'order' })).toEqual(refused('exists'))
    await change(setup, { kind: 'event', id: 'order', archived: true })
    expect(await create(setup, { kind: 'event', id: 'order' })).toEqual(refused('exists_archived'))
  })

  test('nothing that another Team has', async () => {
    const setup = await setUp()
    const before = setup.journal.recordsOf(setup.topic).length
    for (const item of [
      { kind: 'event', id: 'secret' },
      { kind: 'event', id: 'secret.step' },
      { kind: 'step', id: 'secret' },
      { kind: 'project', id: OTHER_GUID },
    ] as const)
      expect(await create(setup, item)).toEqual(refused('taken'))
    expect(await create(setup, { kind: 'step', id: 'mine', event: 'secret' })).toEqual(refused('unknown_event'))
    expect(await create(setup, { kind: 'step', id: 'mine', event: 'nowhere' })).toEqual(refused('unknown_event'))
    expect(setup.journal.recordsOf(setup.topic)).toHaveLength(before)
  })

  test('no Step of an archived Event', async () => {
    const setup = await setUp()
    await change(setup, { kind: 'event', id: 'order', archived: true })
    expect(await create(setup, { kind: 'step', id: 'late', event: 'order' })).toEqual(refused('archived_event'))
  })

  test('no more than a process can hold', async () => {
    const setup = await setUp()
    const events = Array.from({ length: OWN_ITEMS_MAX - 2 }, (_, n) => ({ identifier: `e${n}`, team: 'a' }))
    await setup.admin.applyFile(JSON.stringify({ events }), { prune: false })
    expect(await create(setup, { kind: 'event', id: 'last' })).toMatchObject({ outcome: 'changed' })
    expect(await create(setup, { kind: 'event', id: 'one-more' })).toEqual(refused('too_many'))
    expect(await create(setup, { kind: 'step', id: 'a-step' })).toMatchObject({ outcome: 'changed' })
  })
})

describe('a Team changes', () => {
  test('a name, and nothing else by it', async () => {
    const setup = await setUp()
    await change(setup, { kind: 'step', id: 'order.pay', name: 'Charge' })
    expect(setup.registry().entity('order.pay')).toEqual({
      kind: 'step',
      identifier: 'order.pay',
      team: 'a',
      event: 'order',
      name: 'Charge',
      order: 1,
    })
  })

  test('archived and back; what is so already is no change', async () => {
    const setup = await setUp()
    const archive = { kind: 'project', id: GUID, archived: true } as const
    const before = setup.keys()
    const item = { id: GUID, team: 'a', name: 'Api', archivedAt: NOW }
    expect(await change(setup, archive)).toEqual({ outcome: 'changed', item })
    expect(setup.registry().project(GUID)).toEqual(item)
    expect(await change(setup, archive)).toEqual({ outcome: 'changed', item })
    expect(setup.keys()).toEqual([...before, `project/${GUID}`])
    await change(setup, { ...archive, archived: false })
    expect(setup.registry().project(GUID)).toEqual({ id: GUID, team: 'a', name: 'Api' })
  })

  test('a Step of an archived Event comes back with its Event only; it may be renamed or leave it', async () => {
    const setup = await setUp()
    await change(setup, { kind: 'event', id: 'order', archived: true })
    const step = { kind: 'step', id: 'order.pay' } as const
    expect(await change(setup, { ...step, archived: false })).toEqual(refused('archived_event'))
    expect(await change(setup, { ...step, name: 'Charge' })).toMatchObject({ outcome: 'changed' })
    expect(await change(setup, { ...step, event: null })).toMatchObject({ outcome: 'changed' })
    expect(setup.registry().entity('order.pay')).not.toHaveProperty('archivedAt')
    expect(await change(setup, { ...step, event: 'order' })).toEqual(refused('archived_event'))
  })

  test('nothing that is not its own, as if it were not there', async () => {
    const setup = await setUp()
    for (const item of [
      { kind: 'event', id: 'secret' },
      { kind: 'event', id: 'nowhere' },
      { kind: 'event', id: 'order.pay' },
      { kind: 'step', id: 'secret.step' },
      { kind: 'project', id: OTHER_GUID },
    ] as const)
      expect(await change(setup, { ...item, name: 'Mine', archived: true })).toEqual(refused('not_found'))
    const step = { kind: 'step', id: 'order.pay', event: 'secret' } as const
    expect(await change(setup, step)).toEqual(refused('unknown_event'))
    expect(setup.registry().entity('secret')).toMatchObject({ team: 'b', name: 'secret' })
  })
})

test('an identifier that another Team takes at the same moment is told to be lost', async () => {
  const setup = await setUp()
  const append: Journal['append'] = async (batch) => {
    await setup.journal.append(batch)
    const value = JSON.stringify({ team: 'b', name: 'Theirs' })
    await setup.journal.append({ ...batch, records: [{ key: 'event/new', value, headers: {} }] })
  }
  const admin = createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
  expect(await create({ admin }, { kind: 'event', id: 'new' })).toEqual(refused('overtaken'))
})

describe('between the first reading and the append of a change, another process', () => {
  const GOT_AHEAD = { kind: 'event', id: 'order' } as const

  test('changes another field: both changes stand', async () => {
    const setup = await setUp()
    const rename = () => change(setup, { ...GOT_AHEAD, name: 'Purchase' })
    const item = { kind: 'event', identifier: 'order', team: 'a', name: 'Purchase', archivedAt: NOW }
    expect(await change({ admin: overtaken(setup, rename) }, { ...GOT_AHEAD, archived: true })).toEqual({
      outcome: 'changed',
      item,
    })
    expect(setup.registry().entity('order')).toEqual(item)
  })

  test('takes the identifier for another Team: it keeps it', async () => {
    const setup = await setUp()
    const take = () => setup.admin.changeOwn('b', { kind: 'event', id: 'new', name: 'Theirs' }, 'create')
    expect(await create({ admin: overtaken(setup, take) }, { kind: 'event', id: 'new' })).toEqual(refused('overtaken'))
    expect(setup.registry().entity('new')).toEqual({ kind: 'event', identifier: 'new', team: 'b', name: 'Theirs' })
  })

  test('takes the identifier for a Step: no Event has it as well', async () => {
    const setup = await setUp()
    const take = () => create(setup, { kind: 'step', id: 'new' })
    expect(await create({ admin: overtaken(setup, take) }, { kind: 'event', id: 'new' })).toEqual(refused('overtaken'))
    expect(
      setup
        .registry()
        .eventsOf('a')
        .map(({ identifier }) => identifier),
    ).toEqual(['order'])
    expect(await change(setup, { kind: 'step', id: 'new', name: 'New' })).toMatchObject({ outcome: 'changed' })
  })

  test('creates the last item that there may be: the later one is taken back', async () => {
    const setup = await setUp()
    const events = Array.from({ length: OWN_ITEMS_MAX - 2 }, (_, n) => ({ identifier: `e${n}`, team: 'a' }))
    await setup.admin.applyFile(JSON.stringify({ events }), { prune: false })
    const take = () => create(setup, { kind: 'event', id: 'last' })
    expect(await create({ admin: overtaken(setup, take) }, { kind: 'event', id: 'late' })).toEqual(refused('too_many'))
    expect([setup.registry().entity('last')?.team, setup.registry().entity('late')]).toEqual(['a', undefined])
  })
})

test.each([
  ['was made anew', ''],
  ['has lost its last records', 'teams: [{ id: a }]'],
])('a change in a topic that %s, of which the process knows more, is made once', async (_what, file) => {
  const known = await readTopic(await setUp())
  const rest = registryOnMemory()
  if (file !== '') await rest.admin.applyFile(file, { prune: false })
  const keys = () => rest.journal.recordsOf(rest.topic).map(({ key }) => String(key))
  const before = keys()
  const admin = createRegistryAdmin({ ...rest, known: () => known })
  expect(await create({ admin }, { kind: 'event', id: 'refund' })).toMatchObject({ outcome: 'changed' })
  expect(keys()).toEqual([...before, 'event/refund'])
})
