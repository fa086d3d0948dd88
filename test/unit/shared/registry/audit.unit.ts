import { expect, test } from 'vitest'
import { createAudit } from '../../../../shared/journal/audit.ts'
import { createRegistryAdmin } from '../../../../shared/registry/admin.ts'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import { AUDIT_TOPIC, registryOnMemory, toldBy } from '../../../support/registry-topic.ts'

const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const SEARCH = '3f2504e0-4f89-11d3-9a0c-0305e82c3399'
const FILE = `
teams: [{ id: a, name: A, apiKeys: ["${KEY}"] }]
events: [{ identifier: order, team: a }]
projects: [{ id: ${PROJECT}, team: a }]
`

async function setUp() {
  const setup = registryOnMemory()
  const { journal, clock } = setup
  const audit = createAudit({ journal, topic: AUDIT_TOPIC, clock, onFailure: () => undefined })
  const origin = { actor: { kind: 'operator', id: 'root', key: null }, via: 'a test', from: 'host' } as const
  const admin = createRegistryAdmin({ ...setup, audited: audit(origin) })
  await admin.applyFile(FILE, { prune: false })
  let before = 0
  /** The changes since the last call. */
  const told = async () => {
    const changes = (await toldBy(journal)).slice(before)
    before += changes.length
    return changes
  }
  return { ...setup, admin, told }
}

const lines = (changes: Awaited<ReturnType<typeof toldBy>>) =>
  changes.map(({ team, action, subject, outcome }) => `${team} ${action} ${subject.kind} ${subject.id} ${outcome}`)

test('every change of the registry is told, with its values before and after', async () => {
  const { admin, told } = await setUp()
  const applied = await told()
  expect(lines(applied)).toEqual([
    'a created team a success',
    'a created key k3y-01 success',
    'a created event order success',
    `a created project ${PROJECT} success`,
  ])
  expect(new Set(applied.map(({ id }) => id)).size).toBe(1)

  await admin.applyFile('teams: [{ id: a, limits: { entriesPerSecond: 5 } }]', { prune: false })
  expect(await told()).toMatchObject([
    { action: 'changed', before: { name: 'A' }, after: { name: 'A', limits: { entriesPerSecond: 5 } } },
  ])
  await admin.setDefaultProject('a', PROJECT)
  expect(await told()).toMatchObject([{ action: 'changed', after: { defaultProject: PROJECT } }])
  await admin.changeOwn('a', { kind: 'event', id: 'order', archived: true }, 'change')
  await admin.changeOwn('a', { kind: 'event', id: 'order', archived: false }, 'change')
  await admin.changeOwn('a', { kind: 'event', id: 'order', name: 'Order placed' }, 'change')
  expect(lines(await told())).toEqual([
    'a archived event order success',
    'a restored event order success',
    'a changed event order success',
  ])
  await admin.changeSearch('a', { id: SEARCH, to: { name: 'Errors', page: 'event-logs', params: { level: 'Error' } } })
  await admin.changeSearch('a', { id: SEARCH, to: null })
  expect(lines(await told())).toEqual([`a created search ${SEARCH} success`, `a deleted search ${SEARCH} success`])
  const backup = (await admin.export()) ?? ''
  await admin.applyFile('teams: []', { prune: true })
  expect(lines(await told())).toEqual([
    'a deleted event order success',
    `a deleted project ${PROJECT} success`,
    'a revoked key k3y-01 success',
    'a deleted team a success',
  ])
  await admin.restore(Buffer.from(backup), { dryRun: false })
  expect(lines(await told())).toEqual([
    'a created team a success',
    'a created event order success',
    `a created project ${PROJECT} success`,
  ])
})

test('a rotation is told as keys that were made and revoked, and never by a key or its hash', async () => {
  const { admin, told, journal } = await setUp()
  await told()
  const result = await admin.rotateKey('a', { revokeOld: true })
  if (result.outcome !== 'rotated') throw new Error(result.reason)
  const { key } = result
  expect(lines(await told())).toEqual([`a created key ${key.slice(0, 6)} success`, 'a revoked key k3y-01 success'])
  const texts = journal.recordsOf(AUDIT_TOPIC).map(({ value }) => String(value))
  for (const secret of [KEY, key].flatMap((one) => [one.slice(0, 7), hashKeyHex(one).slice(0, 16)]))
    expect(texts.filter((text) => text.includes(secret))).toEqual([])
})

test('nothing is told of what changes nothing, and nothing is changed where it cannot be told', async () => {
  const { admin, told, journal, topic } = await setUp()
  await told()
  await admin.applyFile(FILE, { prune: false })
  await admin.applyFile('teams: []', { prune: true, dryRun: true })
  await admin.changeOwn('a', { kind: 'event', id: 'order', name: 'order' }, 'change')
  expect(await admin.revokeKey('a', 'nope')).toMatchObject({ outcome: 'refused' })
  expect(await told()).toEqual([])

  const before = journal.recordsOf(topic).length
  journal.failAppends('unknown')
  await expect(admin.rotateKey('a', { revokeOld: false })).rejects.toMatchObject({ outcome: 'not_written' })
  expect(journal.recordsOf(topic)).toHaveLength(before)
})

test('a large file is told in batches that a broker takes, each change once', async () => {
  const { admin, told } = await setUp()
  await told()
  const events = Array.from({ length: 1_200 }, (_, n) => ({ identifier: `${n}${'e'.repeat(1_000)}`, team: 'a' }))
  await admin.applyFile(JSON.stringify({ teams: [{ id: 'a' }], events }), { prune: false })
  const changes = await told()
  expect(new Set(changes.map(({ subject }) => subject.id)).size).toBe(1_200)
  expect(changes.every(({ outcome }) => outcome === 'success')).toBe(true)
})
