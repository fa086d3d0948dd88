import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { encodeBackup, planRestore, readBackup } from '../../../../shared/registry/backup.ts'
import { emptyState, type RegistryState } from '../../../../shared/registry/records.ts'
import * as fc from '../../../support/fast-check.ts'
import { NOW, registryOnMemory, stateOf, TOPIC, withChanges } from '../../../support/registry-topic.ts'

const LATER = '2026-04-01T00:00:00.000Z'
const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const FILE = `
teams: [{ id: payments, name: Zahlungen 💶, apiKeys: [${KEY}] }, { id: billing }]
events: [{ identifier: order-placed, team: payments }]
steps: [{ identifier: order-placed.charge, team: payments, event: order-placed, archived: true }]
projects: [{ id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: payments, name: "Checkout \\"API\\"" }]
`
const SEARCH = { name: 'Errors', page: 'event-logs', params: { level: 'Error' } } as const
const SEARCH_ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3303'
const STATE = { ...stateOf(FILE), search: new Map([[`payments/${SEARCH_ID}`, SEARCH]]) }
const BACKUP = Buffer.from(encodeBackup(STATE, NOW))
const [KEY_ID = ''] = STATE.key.keys()

/** The same whatever the order in which the records came. */
const content = (state: RegistryState): object =>
  Object.fromEntries(Object.entries(state).map(([kind, things]) => [kind, Object.fromEntries(things)]))

/** The state with its key revoked, or live. */
const withKey = (revokedAt: string | null, id = KEY_ID): RegistryState => ({
  ...STATE,
  key: new Map([[id, { prefix: 'k3y-01', createdAt: NOW, revokedAt }]]),
})

const problemOf = (bytes: Uint8Array): string | undefined => {
  const read = readBackup(bytes)
  return 'problem' in read ? read.problem.message : undefined
}

/** A file of these lines, with a checksum that fits. */
function sealed(...lines: readonly object[]): Buffer {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return Buffer.from(`${text}${JSON.stringify({ records: lines.length - 1, sha256: hash('sha256', text) })}\n`)
}
const HEAD = { format: 'sluice-registry', version: 1, exportedAt: NOW }

describe('a backup', () => {
  test('has everything, and is read as it was', () => {
    const read = readBackup(BACKUP)
    expect('state' in read && content(read.state)).toEqual(content(STATE))
    expect(BACKUP.toString()).toContain('"team/payments"')
    expect(BACKUP.toString()).not.toContain(KEY)
  })

  test('is the same for the same state, in whatever order it came about', () => {
    const turned = Object.fromEntries(
      Object.entries(STATE).map(([kind, things]) => [
        kind,
        new Map([...(things as ReadonlyMap<string, unknown>)].toReversed()),
      ]),
    ) as unknown as RegistryState
    expect(encodeBackup(turned, NOW)).toBe(BACKUP.toString())
  })

  test('is refused where it ends early, anywhere', () => {
    for (let length = 0; length < BACKUP.length; length += 1)
      expect([length, problemOf(BACKUP.subarray(0, length))]).not.toEqual([length, undefined])
  })

  test('is refused where a byte is another one, lines are changed about, or something follows', () => {
    fc.assert(
      fc.property(fc.nat(BACKUP.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const damaged = Buffer.from(BACKUP)
        damaged[at] = (damaged[at] ?? 0) ^ by
        // Of the line of the checksum only what it says counts.
        const read = readBackup(damaged)
        if ('state' in read) expect(content(read.state)).toEqual(content(STATE))
        else expect(read.problem.message).not.toBe('')
        if (at < BACKUP.lastIndexOf('\n', -2)) expect(problemOf(damaged)).toBeDefined()
      }),
    )
    const [head, first, second, ...others] = BACKUP.toString().split('\n')
    expect(problemOf(Buffer.from([head, second, first, ...others].join('\n')))).toContain('is damaged')
    expect(problemOf(Buffer.from(`${BACKUP}\n`))).toContain('is cut off')
    expect(problemOf(Buffer.concat([BACKUP, BACKUP]))).toContain('is damaged')
  })

  test.each<[string, Buffer, string]>([
    [
      'a file that was saved as UTF-16',
      Buffer.from(`\ufeff{"format":"sluice-registry"}`, 'utf16le'),
      'save it as UTF-8',
    ],
    ['a registry file', Buffer.from(FILE), 'no file of `registry export`'],
    ['an empty file', Buffer.alloc(0), 'no file of `registry export`'],
    ['a newer form', sealed({ ...HEAD, version: 2 }), 'version 2, and this program reads 1'],
    ['an unknown kind', sealed(HEAD, { key: 'planet/mars', value: {} }), 'unknown_kind'],
    ['a value that is none', sealed(HEAD, { key: 'team/a', value: { name: 7 } }), 'invalid_value'],
    ['a line that is no record', sealed(HEAD, [1, 2]), 'cannot be read'],
  ])('is refused: %s', (_, bytes, message) => {
    expect(problemOf(bytes)).toContain(message)
  })
})

describe('the plan of a restore', () => {
  test('brings all back to an empty registry, owners first, and has nothing to do after that', () => {
    const plan = planRestore(emptyState(), STATE)
    expect(plan).toMatchObject({ problems: [], notes: [] })
    expect(plan.changes[0]?.kind).toBe('team')
    const after = withChanges(emptyState(), plan)
    expect(content(after)).toEqual(content(STATE))
    expect(planRestore(after, STATE).changes).toEqual([])
  })

  test('leaves alone what the file lacks, and undoes what was changed', () => {
    const since = stateOf(FILE, 'teams: [{ id: billing, name: New }]\nevents: [{ identifier: added, team: billing }]')
    const { search } = STATE
    expect(planRestore({ ...since, search }, STATE).changes).toEqual([
      { kind: 'team', id: 'billing', value: { name: 'billing' } },
    ])
  })

  test.each([
    ['since', withKey(LATER), withKey(null)],
    ['before', withKey(null), withKey(LATER)],
    ['in both', withKey(LATER), withKey(NOW)],
  ])('a key that was revoked %s is revoked', (_, present, backup) => {
    const plan = planRestore(present, backup)
    expect(withChanges(present, plan).key.get(KEY_ID)?.revokedAt).toEqual(expect.any(String))
  })

  test('says which keys stay revoked, and where there are too many', () => {
    expect(planRestore(withKey(LATER), STATE).notes).toEqual([
      'Team "payments": the key k3y-01… was revoked since and stays so',
    ])
    const another = stateOf(FILE.replace(`[${KEY}]`, '[other-key-aaaaaaaaaaaaa]'))
    expect(planRestore(another, STATE).notes).toEqual([])
    const others = stateOf(FILE.replace(`[${KEY}]`, '[other-key-aaaaaaaaaaaaa, other-key-bbbbbbbbbbbbb]'))
    expect(planRestore(others, STATE).notes).toEqual([
      'Team "payments" has more than 2 live keys now; end some with `registry revoke-key`',
    ])
    // A Team of which nothing is restored had too many before.
    const ids = ['a', 'b', 'c'].map((digit) => `billing/${digit.repeat(64)}`)
    const keys = ids.map((id) => [id, { prefix: 'k3y-02', createdAt: NOW, revokedAt: null }] as const)
    expect(planRestore({ ...STATE, key: new Map(keys) }, STATE).notes).toEqual([])
  })

  test.each([
    ['an Event', 'teams: [{ id: b }]\nevents: [{ identifier: order-placed, team: b }]', '"order-placed" belongs to'],
    [
      'a Step as an Event',
      'teams: [{ id: payments }]\nsteps: [{ identifier: order-placed, team: payments }]',
      '"order-placed" is a Step now, and an Event in the file',
    ],
    [
      'an Event as a Step',
      'teams: [{ id: payments }]\nevents: [{ identifier: order-placed.charge, team: payments }]',
      '"order-placed.charge" is an Event now, and a Step in the file',
    ],
    ['a key', `teams: [{ id: b, apiKeys: [${KEY}] }]`, 'the key k3y-01… belongs to the Team "b" now'],
  ])('is refused where another has %s now', (_, file, message) => {
    const plan = planRestore(stateOf(file), STATE)
    expect(plan.changes).toEqual([])
    expect(plan.problems.map((problem) => problem.message).join('\n')).toContain(message)
  })
})

describe('export and restore', () => {
  const lost = async () => {
    const { admin } = registryOnMemory()
    await admin.applyFile(FILE, { prune: false })
    await admin.rotateKey('payments', { revokeOld: true })
    await admin.changeSearch('payments', { id: SEARCH_ID, to: SEARCH })
    return { text: (await admin.export()) ?? '', before: await admin.read() }
  }

  test('a registry that was lost answers as before: a revoked key opens nothing, a live one still does', async () => {
    const { text, before } = await lost()
    const { admin } = registryOnMemory()
    expect(await admin.restore(Buffer.from(text), { dryRun: false })).toMatchObject({ outcome: 'applied' })
    const after = await admin.read()
    for (const registry of [before, after]) expect(registry.keyOpens('payments', KEY)).toBe(false)
    expect(after.keysOf('payments')).toEqual(before.keysOf('payments'))
    expect(after.teams()).toEqual(before.teams())
    expect(after.stepsOf('payments')).toEqual(before.stepsOf('payments'))
    expect(after.projectsOf('payments')).toEqual(before.projectsOf('payments'))
    expect(after.searchesOf('payments')).toEqual([{ id: SEARCH_ID, ...SEARCH }])
    expect(await admin.restore(Buffer.from(text), { dryRun: false })).toMatchObject({ changes: [] })
  })

  test('a damaged file, a conflict and --dry-run change nothing', async () => {
    const { text } = await lost()
    const { admin, journal } = registryOnMemory()
    expect(await admin.restore(Buffer.from(text.slice(0, -3)), { dryRun: false })).toMatchObject({ outcome: 'refused' })
    expect(await admin.restore(Buffer.from(text), { dryRun: true })).toMatchObject({ outcome: 'applied' })
    expect(journal.recordsOf(TOPIC)).toEqual([])
    await admin.applyFile('teams: [{ id: b }]\nevents: [{ identifier: order-placed, team: b }]', { prune: false })
    const before = journal.recordsOf(TOPIC).length
    expect(await admin.restore(Buffer.from(text), { dryRun: false })).toMatchObject({ outcome: 'refused' })
    expect(journal.recordsOf(TOPIC)).toHaveLength(before)
  })

  test('of more records than are appended at once', async () => {
    const events = Array.from({ length: 1_200 }, (_, n) => `{ identifier: e${n}, team: a }`)
    const state = stateOf(`teams: [{ id: a }]\nevents: [${events.join(', ')}]`)
    const { admin } = registryOnMemory()
    expect(await admin.restore(Buffer.from(encodeBackup(state, NOW)), { dryRun: false })).toMatchObject({
      outcome: 'applied',
      notes: [],
    })
    expect((await admin.read()).eventsOf('a')).toHaveLength(1_200)
  })

  test('an empty registry has nothing to export', async () => {
    expect(await registryOnMemory().admin.export()).toBeUndefined()
  })
})
