import { describe, expect, test } from 'vitest'
import { createDemo } from '../../../../deploy/server/first-start.ts'
import { type Journal, unpacked } from '../../../../shared/journal/journal.ts'
import { createRegistryAdmin } from '../../../../shared/registry/admin.ts'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import { NOW, overtaken, registryIn, registryOnMemory } from '../../../support/registry-topic.ts'

type Setup = ReturnType<typeof registryOnMemory>

const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const FILE = `
teams:  [{ id: payments, apiKeys: ["${KEY}"] }, { id: keyless, apiKeys: [] }]
events: [{ identifier: order-placed, team: payments }]
`

async function withFile(text = FILE): Promise<Setup> {
  const setup = registryOnMemory()
  expect(await setup.admin.applyFile(text, { prune: false })).toMatchObject({ outcome: 'applied' })
  return setup
}

const HOUR = 3_600_000

async function rotated(admin: Setup['admin'], team: string, options = { revokeOld: false }): Promise<string> {
  const result = await admin.rotateKey(team, options)
  if (result.outcome !== 'rotated') throw new Error(result.reason)
  return result.key
}

describe('apply', () => {
  test('writes the file into the topic', async () => {
    const setup = await withFile()
    const registry = registryIn(setup)
    expect(registry.keyOpens('payments', KEY)).toBe(true)
    expect(registry.entity('order-placed')?.team).toBe('payments')
  })

  test('appends nothing the second time', async () => {
    const setup = await withFile()
    const before = setup.journal.recordsOf(setup.topic).length
    expect(await setup.admin.applyFile(FILE, { prune: true })).toEqual({ outcome: 'applied', changes: [], notes: [] })
    expect(setup.journal.recordsOf(setup.topic)).toHaveLength(before)
  })

  test('changes nothing where anything is wrong, in the file alone or against the registry, and lists both', async () => {
    const setup = await withFile()
    const before = setup.journal.recordsOf(setup.topic).length
    const bad = `teams: [{ id: new, colour: red }]
events:
  - { identifier: fine, team: new }
  - { identifier: lost, team: nobody }`
    expect(await setup.admin.applyFile(bad, { prune: false })).toEqual({
      outcome: 'refused',
      problems: [
        { line: 1, message: 'a Team has no field "colour"; it has id, name, apiKeys, defaultProject, limits' },
        { line: 4, message: 'there is no Team "nobody", neither in the file nor in the registry' },
      ],
    })
    expect(await setup.admin.applyFile('teams: [', { prune: true })).toMatchObject({ outcome: 'refused' })
    expect(setup.journal.recordsOf(setup.topic)).toHaveLength(before)
  })

  test('a dry run says what would change and changes nothing', async () => {
    const setup = await withFile()
    const before = setup.journal.recordsOf(setup.topic).length
    const result = await setup.admin.applyFile('teams: []', { prune: true, dryRun: true })
    expect(result).toMatchObject({ outcome: 'applied' })
    expect('changes' in result && result.changes.length).toBe(4)
    expect(setup.journal.recordsOf(setup.topic)).toHaveLength(before)
  })

  test('a large file is written in batches that a broker takes', async () => {
    const setup = registryOnMemory()
    const sizes: number[] = []
    const append: Journal['append'] = async (batch) => {
      sizes.push(
        batch.records.map(unpacked).reduce((sum, { key, value }) => sum + Buffer.byteLength(`${key}${value}`), 0),
      )
      expect(batch.records.length).toBeLessThanOrEqual(500)
      await setup.journal.append(batch)
    }
    const admin = createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
    const events = Array.from({ length: 1_200 }, (_, n) => ({ identifier: `${n}${'e'.repeat(1_000)}`, team: 'a' }))
    const file = JSON.stringify({ teams: [{ id: 'a' }], events })
    expect(await admin.applyFile(file, { prune: false })).toMatchObject({ outcome: 'applied' })
    expect(sizes.length).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(900_000)
    expect(registryIn(setup).eventsOf('a')).toHaveLength(1_200)
  })

  test('an append that failed half way is finished by applying again', async () => {
    const setup = registryOnMemory()
    const events = Array.from({ length: 600 }, (_, n) => ({ identifier: `e${n}`, team: 'a' }))
    const file = JSON.stringify({ teams: [{ id: 'a' }], events })
    let appends = 0
    const append: Journal['append'] = async (batch) => {
      appends += 1
      if (appends === 2) setup.journal.failAppends('not_written')
      await setup.journal.append(batch)
    }
    const admin = createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
    await expect(admin.applyFile(file, { prune: false })).rejects.toMatchObject({ outcome: 'not_written' })
    expect(registryIn(setup).eventsOf('a').length).toBeLessThan(600)
    expect(await admin.applyFile(file, { prune: false })).toMatchObject({ outcome: 'applied' })
    expect(registryIn(setup).eventsOf('a')).toHaveLength(600)
  })

  test('unreadable records are healed by applying the file again', async () => {
    const setup = await withFile()
    await setup.journal.append({
      topic: setup.topic,
      partition: 0,
      records: [{ key: 'event/order-placed', value: '{', headers: {} }],
    })
    expect(registryIn(setup).entity('order-placed')).toBeUndefined()
    await setup.admin.applyFile(FILE, { prune: false })
    expect(registryIn(setup).entity('order-placed')).toBeDefined()
  })
})

describe('rotate-key', () => {
  test('adds a random key and leaves the old one live', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'payments')
    expect(key).toMatch(/^sl_[\w-]{32}$/)
    const registry = registryIn(setup)
    expect([registry.keyOpens('payments', key), registry.keyOpens('payments', KEY)]).toEqual([true, true])
    expect(JSON.stringify(setup.journal.recordsOf(setup.topic).map(({ value }) => value?.toString()))).not.toContain(
      key,
    )
  })

  test('gives a Team without a key its first', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'keyless')
    expect(registryIn(setup).teamOfKey(key)?.id).toBe('keyless')
  })

  test('refuses a third live key, and says which two there are', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'payments')
    const before = setup.journal.recordsOf(setup.topic).length
    const result = await setup.admin.rotateKey('payments', { revokeOld: false })
    expect(result).toEqual({
      outcome: 'refused',
      because: 'too_many_keys',
      reason: `the Team has 2 live keys already (k3y-01… of 2026-03-04, ${key.slice(0, 6)}… of 2026-03-04); end one with \`registry revoke-key\`, or all of them with --revoke-old`,
    })
    expect(setup.journal.recordsOf(setup.topic)).toHaveLength(before)
  })

  test('--revoke-old ends the others at once', async () => {
    const setup = await withFile()
    const second = await rotated(setup.admin, 'payments')
    const result = await setup.admin.rotateKey('payments', { revokeOld: true })
    expect(result).toMatchObject({ outcome: 'rotated', revoked: ['k3y-01', second.slice(0, 6)] })
    const registry = registryIn(setup)
    expect(registry.keysOf('payments').filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
    expect([registry.keyOpens('payments', KEY), registry.keyOpens('payments', second)]).toEqual([false, false])
  })

  test('takes a key that is given, unless it is weak, unfit for a header or was used before', async () => {
    const setup = await withFile()
    const rotate = (key: string) => setup.admin.rotateKey('keyless', { revokeOld: false, key })
    expect(await rotate('secret')).toEqual({
      outcome: 'refused',
      because: 'unfit_key',
      reason:
        'the key is too short for 128 bits of randomness, which take 22 letters and digits or 32 hexadecimal digits',
    })
    expect(await rotate('two words'.repeat(5))).toMatchObject({ reason: expect.stringContaining('without blanks') })
    expect(await rotate(KEY)).toEqual({
      outcome: 'refused',
      because: 'unfit_key',
      reason: 'the key was in use before; make a new one',
    })
    const own = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
    expect(await rotate(own)).toMatchObject({ outcome: 'rotated', key: own })
    expect(registryIn(setup).keyOpens('keyless', own)).toBe(true)
  })

  test('by the Team itself makes twenty keys within 24 hours, whoever made some of them; an operator makes more', async () => {
    const setup = await withFile()
    const rotate = (byTeam: boolean) => setup.admin.rotateKey('payments', { revokeOld: true, byTeam })
    const now = setup.clock.now()
    setup.clock.now = () => now + HOUR
    for (let count = 1; count < 20; count += 1) expect((await rotate(count % 2 === 0)).outcome).toBe('rotated')
    setup.clock.now = () => now + 2 * HOUR
    expect(await rotate(true)).toEqual({
      outcome: 'refused',
      because: 'too_often',
      reason: 'the Team has made 20 keys within 24 hours',
      waitMs: 22 * HOUR,
    })
    expect((await setup.admin.rotateKey('keyless', { revokeOld: true, byTeam: true })).outcome).toBe('rotated')
    expect((await rotate(false)).outcome).toBe('rotated')
    setup.clock.now = () => now + 25 * HOUR - 1
    expect(await rotate(true)).toMatchObject({ because: 'too_often', waitMs: 1 })
    setup.clock.now = () => now + 25 * HOUR
    expect((await rotate(true)).outcome).toBe('rotated')
  })

  test('by the Team itself is possible after a clock that was a year ahead was set back', async () => {
    const setup = await withFile()
    const rotate = () => setup.admin.rotateKey('payments', { revokeOld: true, byTeam: true })
    const now = setup.clock.now()
    setup.clock.now = () => now + 8_760 * HOUR
    for (let count = 1; count <= 20; count += 1) expect((await rotate()).outcome).toBe('rotated')
    expect((await rotate()).outcome).toBe('refused')
    setup.clock.now = () => now
    expect((await rotate()).outcome).toBe('rotated')
  })

  test('refuses a Team that is not there', async () => {
    const { admin } = await withFile()
    expect(await admin.rotateKey('nobody', { revokeOld: false })).toEqual({
      outcome: 'refused',
      because: 'no_team',
      reason: 'there is no Team "nobody"; `registry list` shows all',
    })
  })
})

describe('revoke-key', () => {
  test('ends the key that begins so', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'payments')
    expect(await setup.admin.revokeKey('payments', 'k3y')).toEqual({
      outcome: 'revoked',
      prefix: 'k3y-01',
      liveKeys: 1,
    })
    const registry = registryIn(setup)
    expect([registry.keyOpens('payments', KEY), registry.keyOpens('payments', key)]).toEqual([false, true])
    expect(registry.keysOf('payments').map(({ revokedAt }) => revokedAt)).toContain(NOW)
  })

  test('says so where it was revoked before', async () => {
    const { admin } = await withFile()
    await admin.revokeKey('payments', 'k3y')
    expect(await admin.revokeKey('payments', 'k3y')).toMatchObject({ outcome: 'already_revoked', liveKeys: 0 })
  })

  test('refuses a prefix of several live keys, and lists them', async () => {
    const setup = await withFile(
      'teams: [{ id: a, apiKeys: [abcdef-aaaaaaaaaaaaaaaaaaaaaaaa, abcdeg-bbbbbbbbbbbbbbbbbbbbbbbb] }]',
    )
    const { admin } = setup
    expect(await admin.revokeKey('a', 'abc')).toEqual({
      outcome: 'refused',
      because: 'several_keys',
      reason:
        'more than one key may begin so; live are: abcdef… of 2026-03-04, abcdeg… of 2026-03-04; give more characters, or the whole key',
    })
    expect(await admin.revokeKey('a', 'abcdeg')).toMatchObject({ outcome: 'revoked', prefix: 'abcdeg', liveKeys: 1 })
    // Repeated, the command does not go on to the next key.
    expect(await admin.revokeKey('a', 'abcde')).toMatchObject({ because: 'several_keys' })
    expect(await admin.revokeKey('a', 'abcdef')).toMatchObject({ outcome: 'revoked', liveKeys: 0 })
  })

  test('refuses what every new key begins with, also of the only one', async () => {
    const { admin } = await withFile('teams: [{ id: a, apiKeys: [sl_x7Q-aaaaaaaaaaaaaaaaaaaaaaaa] }]')
    for (const prefix of ['s', 'sl_']) {
      expect(await admin.revokeKey('a', prefix)).toMatchObject({
        because: 'several_keys',
        reason: expect.stringContaining('live are: sl_x7Q… of 2026-03-04'),
      })
    }
    expect(await admin.revokeKey('a', 'sl_x')).toMatchObject({ outcome: 'revoked' })
  })

  test('a whole key names itself, also where others begin alike', async () => {
    const keys = ['abcdef-aaaaaaaaaaaaaaaaaaaaaaaa', 'abcdef-bbbbbbbbbbbbbbbbbbbbbbbb']
    const setup = await withFile(`teams: [{ id: a, apiKeys: [${keys}] }]`)
    expect(await setup.admin.revokeKey('a', 'abcdef')).toMatchObject({
      because: 'keys_alike',
      reason: 'the live keys abcdef… of 2026-03-04, abcdef… of 2026-03-04 begin alike; give the whole key',
    })
    expect(await setup.admin.revokeKey('a', keys[1]!)).toMatchObject({ outcome: 'revoked', liveKeys: 1 })
    expect(registryIn(setup).keyOpens('a', keys[0]!)).toBe(true)
    // A key so short that others begin with all of it.
    const short = await withFile(`teams: [{ id: a, apiKeys: [abcd, ${keys[0]}] }]`)
    expect(await short.admin.revokeKey('a', 'abcd')).toMatchObject({ outcome: 'revoked', liveKeys: 1 })
    expect(registryIn(short).keyOpens('a', 'abcd')).toBe(false)
  })

  test('says so where another process makes the key live again at the same time', async () => {
    const { journal, topic, ...setup } = await withFile()
    const live = journal.recordsOf(topic).filter(({ key }) => String(key).startsWith('key/'))
    const append: Journal['append'] = async (batch) => {
      await journal.append(batch)
      await journal.append({ ...batch, records: live })
    }
    const admin = createRegistryAdmin({ ...setup, topic, journal: { ...journal, append } })
    expect(await admin.revokeKey('payments', 'k3y')).toMatchObject({ outcome: 'refused', because: 'overtaken' })
  })

  test('refuses what no key begins with, more characters than are known, and nothing at all', async () => {
    const { admin } = await withFile()
    for (const prefix of ['zzz', `${KEY}x`, KEY.slice(0, 7)]) {
      expect(await admin.revokeKey('payments', prefix)).toEqual({
        outcome: 'refused',
        because: 'no_such_key',
        reason: 'the Team has no key with these first characters as shown; live are: k3y-01… of 2026-03-04',
      })
    }
    expect(await admin.revokeKey('payments', '')).toMatchObject({ outcome: 'refused' })
    expect(await admin.revokeKey('keyless', 'k3y')).toMatchObject({ reason: expect.stringContaining('live are: none') })
    expect(await admin.revokeKey('nobody', 'k3y')).toMatchObject({ outcome: 'refused' })
  })
})

describe('revoke-key that keeps the last', () => {
  const keepLast = { keepLast: true }

  test('refuses the only live key, and leaves it live', async () => {
    const setup = await withFile()
    expect(await setup.admin.revokeKey('payments', 'k3y-01', keepLast)).toMatchObject({ because: 'last_key' })
    expect(registryIn(setup).keyOpens('payments', KEY)).toBe(true)
    const key = await rotated(setup.admin, 'payments')
    expect(await setup.admin.revokeKey('payments', 'k3y-01', keepLast)).toMatchObject({ outcome: 'revoked' })
    expect(registryIn(setup).keyOpens('payments', key)).toBe(true)
  })

  test('two ended at once by two processes: neither leaves the Team without one', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'payments')
    let other: unknown
    const result = await overtaken(setup, async () => {
      other = await setup.admin.revokeKey('payments', key.slice(0, 6), keepLast)
    }).revokeKey('payments', 'k3y-01', keepLast)
    expect(other).toMatchObject({ outcome: 'revoked' })
    expect(result).toMatchObject({ outcome: 'refused', because: 'overtaken' })
    expect(registryIn(setup).keyOpens('payments', KEY)).toBe(true)
  })

  test('a key that is about to be given back is not told to be revoked', async () => {
    const setup = await withFile()
    const other = await rotated(setup.admin, 'payments')
    const again = Promise.withResolvers<unknown>()
    const append: Journal['append'] = async (batch) => {
      if (registryIn(setup).keyOpens('payments', other)) await setup.admin.revokeKey('payments', other)
      await setup.journal.append(batch)
      again.resolve(await setup.admin.revokeKey('payments', 'k3y-01', keepLast))
    }
    const admin = createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
    const overtakenOnes = [await admin.revokeKey('payments', 'k3y-01', keepLast), await again.promise]
    for (const result of overtakenOnes) expect(result).toMatchObject({ outcome: 'refused', because: 'overtaken' })
    expect(registryIn(setup).keyOpens('payments', KEY)).toBe(true)
  })

  test('a key that others revoked as well is not given back', async () => {
    const setup = await withFile()
    const key = await rotated(setup.admin, 'payments')
    const { now } = setup.clock
    const both = async () => {
      setup.clock.now = () => now() + 1
      await setup.admin.revokeKey('payments', 'k3y-01')
      await setup.admin.revokeKey('payments', key)
    }
    await overtaken(setup, both).revokeKey('payments', 'k3y-01', keepLast)
    expect(registryIn(setup).hasKey('payments')).toBe(false)
  })
})

describe('two operators at once', () => {
  test('the same file applied twice at once is applied once', async () => {
    const setup = registryOnMemory()
    const other = () => setup.admin.applyFile(FILE, { prune: false })
    expect(await overtaken(setup, other).applyFile(FILE, { prune: false })).toMatchObject({ outcome: 'applied' })
    expect(await setup.admin.applyFile(FILE, { prune: true })).toMatchObject({ changes: [] })
  })

  test('a key that was revoked meanwhile stays so, though the same file adds it', async () => {
    const setup = registryOnMemory()
    const other = async () => {
      await setup.admin.applyFile(FILE, { prune: false })
      await setup.admin.revokeKey('payments', 'k3y-01')
    }
    expect(await overtaken(setup, other).applyFile(FILE, { prune: false })).toMatchObject({ outcome: 'applied' })
    expect(registryIn(setup).keyOpens('payments', KEY)).toBe(false)
  })

  test('a file that says otherwise comes last and stands', async () => {
    const setup = registryOnMemory()
    const other = () => setup.admin.applyFile('teams: [{ id: a, name: One }]', { prune: false })
    const result = await overtaken(setup, other).applyFile('teams: [{ id: a, name: Two }]', { prune: false })
    expect(result).toMatchObject({ outcome: 'applied' })
    expect(registryIn(setup).team('a')?.name).toBe('Two')
  })

  test('what another process overwrote is written again, and given up where it never ends', async () => {
    const setup = registryOnMemory()
    let left = 2
    const append: Journal['append'] = async (batch) => {
      await setup.journal.append(batch)
      if (left > 0) await setup.admin.applyFile(`teams: [{ id: a, name: Other ${left} }]`, { prune: false })
      left -= 1
    }
    const admin = createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
    const mine = 'teams: [{ id: a, name: Mine }]'
    expect(await admin.applyFile(mine, { prune: false })).toMatchObject({ outcome: 'applied' })
    expect(registryIn(setup).team('a')?.name).toBe('Mine')
    await setup.admin.applyFile('teams: [{ id: a, name: Yours }]', { prune: false })
    left = 1_000
    expect(await admin.applyFile(mine, { prune: false })).toMatchObject({ outcome: 'disturbed', problems: [] })
    expect(left).toBe(995)
  })

  test('what another process took away meanwhile is told', async () => {
    const setup = await withFile()
    const other = () => setup.admin.applyFile('teams: [{ id: keyless }]', { prune: true })
    const result = await overtaken(setup, other).applyFile('events: [{ identifier: late, team: payments }]', {
      prune: false,
    })
    expect(result).toMatchObject({
      outcome: 'disturbed',
      changes: [{ kind: 'event', id: 'late' }],
      problems: [{ line: 1, message: 'there is no Team "payments", neither in the file nor in the registry' }],
    })
  })

  test('rotating twice at once leaves two live keys: the later one is taken back', async () => {
    const setup = await withFile()
    let first = ''
    const other = async () => {
      first = await rotated(setup.admin, 'payments')
    }
    const result = await overtaken(setup, other).rotateKey('payments', { revokeOld: false })
    expect(result).toEqual({
      outcome: 'refused',
      because: 'overtaken',
      reason: 'another process changed the keys of the Team at the same time; the new key was taken back',
    })
    const registry = registryIn(setup)
    expect(registry.keysOf('payments').filter(({ revokedAt }) => revokedAt === null)).toHaveLength(2)
    expect([registry.keyOpens('payments', KEY), registry.keyOpens('payments', first)]).toEqual([true, true])
  })

  test('many rotations at once never leave more than two live keys, and each key that was given out opens', async () => {
    const setup = registryOnMemory()
    await setup.admin.applyFile('teams: [{ id: a, apiKeys: [] }]', { prune: false })
    const results = await Promise.all(Array.from({ length: 8 }, () => setup.admin.rotateKey('a', { revokeOld: false })))
    const given = results.flatMap((result) => (result.outcome === 'rotated' ? [result.key] : []))
    const registry = registryIn(setup)
    expect(given.map((key) => registry.keyOpens('a', key))).toEqual(given.map(() => true))
    expect(given.length).toBe(2)
    expect(registry.keysOf('a').filter(({ revokedAt }) => revokedAt === null)).toHaveLength(2)
  })

  test('a Team that goes while its key is made takes the key with it', async () => {
    const setup = await withFile()
    const other = () => setup.admin.applyFile('teams: [{ id: keyless }]', { prune: true })
    expect(await overtaken(setup, other).rotateKey('payments', { revokeOld: false })).toMatchObject({
      outcome: 'refused',
    })
    await setup.admin.applyFile('teams: [{ id: payments }]', { prune: false })
    expect(registryIn(setup).hasKey('payments')).toBe(false)
  })
})

test('failures of the journal are passed on', async () => {
  const setup = await withFile()
  setup.journal.failAppends('unknown')
  await expect(setup.admin.rotateKey('payments', { revokeOld: false })).rejects.toMatchObject({ outcome: 'unknown' })
  const nowhere = createRegistryAdmin({ ...setup, topic: 'nowhere' })
  await expect(nowhere.read()).rejects.toThrow('the topic nowhere does not exist')
})

describe('the demo', () => {
  test('fills an empty registry with a Team, an Event of three Steps, a Project and a random key', async () => {
    const setup = registryOnMemory()
    const key = (await createDemo(setup)) ?? ''
    const registry = registryIn(setup)
    expect(registry.teams().map(({ id }) => id)).toEqual(['demo'])
    expect(registry.eventsOf('demo').map(({ identifier }) => identifier)).toEqual(['order-placed'])
    expect(registry.stepsOf('demo').map(({ identifier, event }) => [identifier, event])).toEqual(
      ['validate', 'charge', 'ship'].map((step) => [`order-placed.${step}`, 'order-placed']),
    )
    expect(registry.projectsOf('demo')).toHaveLength(1)
    expect(registry.keyOpens('demo', key)).toBe(true)
    expect(registry.keysOf('demo').map(({ hash }) => hash)).toEqual([hashKeyHex(key)])
  })

  test('is another one each time', async () => {
    const setups = [registryOnMemory(), registryOnMemory()]
    const keys = await Promise.all(setups.map(createDemo))
    const projects = setups.map((setup) => registryIn(setup).projectsOf('demo')[0]?.id)
    expect([new Set(keys).size, new Set(projects).size]).toEqual([2, 2])
  })

  test('is not put where anything is, or was', async () => {
    const setup = await withFile()
    expect(await createDemo(setup)).toBeNull()
    await setup.admin.applyFile('teams: []', { prune: true })
    expect(registryIn(setup).teams()).toEqual([])
    expect(await createDemo(setup)).toBeNull()
  })
})
