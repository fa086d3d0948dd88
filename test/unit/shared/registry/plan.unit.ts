import { describe, expect, test } from 'vitest'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import { keyRecordId } from '../../../../shared/registry/plan-keys.ts'
import { emptyState } from '../../../../shared/registry/records.ts'
import * as fc from '../../../support/fast-check.ts'
import { NOW, plain, planOf, stateOf, withChanges } from '../../../support/registry-topic.ts'

const GUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const OTHER_KEY = 'k3y-0123456789-abcdefghijkl-TWO'
const THIRD_KEY = 'k3y-0123456789-abcdefghijkl-THREE'

const PAYMENTS = `
teams:    [{ id: payments, name: Payments, apiKeys: ["${KEY}"] }]
events:   [{ identifier: order-placed, team: payments, name: Order placed }]
steps:    [{ identifier: order-placed.validate, team: payments, event: order-placed, name: Validate, order: 1 }]
projects: [{ id: ${GUID}, team: payments, name: Checkout API }]
`

const keyId = keyRecordId
const problems = (plan: ReturnType<typeof planOf>): string[] =>
  plan.problems.map(({ line, message }) => `${line}: ${message}`)
const written = (plan: ReturnType<typeof planOf>): string[] =>
  plan.changes.map(({ kind, id, value }) => `${value === null ? 'delete ' : ''}${kind}/${id}`)

describe('apply', () => {
  test('puts everything that the file has into an empty registry, owners first', () => {
    const plan = planOf(emptyState(), PAYMENTS)
    expect(problems(plan)).toEqual([])
    expect(plan.changes).toEqual([
      { kind: 'team', id: 'payments', value: { name: 'Payments' } },
      { kind: 'key', id: keyId('payments', KEY), value: { prefix: 'k3y-01', createdAt: NOW, revokedAt: null } },
      { kind: 'event', id: 'order-placed', value: { team: 'payments', name: 'Order placed' } },
      {
        kind: 'step',
        id: 'order-placed.validate',
        value: { team: 'payments', event: 'order-placed', name: 'Validate', order: 1 },
      },
      { kind: 'project', id: GUID, value: { team: 'payments', name: 'Checkout API' } },
    ])
  })

  test('is idempotent', () => {
    expect(planOf(stateOf(PAYMENTS), PAYMENTS, { now: '2027-01-01T00:00:00.000Z' }).changes).toEqual([])
    expect(planOf(stateOf(PAYMENTS), PAYMENTS, { prune: true }).changes).toEqual([])
  })

  test('merges: what the file lacks stays, what it has is written where it differs', () => {
    const plan = planOf(stateOf(PAYMENTS), 'teams: [{ id: payments, name: Payments and billing }]\nevents: []')
    expect(plan.changes).toEqual([{ kind: 'team', id: 'payments', value: { name: 'Payments and billing' } }])
  })

  test('merges: a field that is left out stays, and has a default where the thing is new', () => {
    const state = stateOf(PAYMENTS)
    const same = `teams: [{ id: payments }]
events: [{ identifier: order-placed, team: payments }]
steps: [{ identifier: order-placed.validate, team: payments }]
projects: [{ id: ${GUID}, team: payments }]`
    expect(planOf(state, same).changes).toEqual([])
    expect(
      plain(stateOf('teams: [{ id: a }]\nevents: [{ identifier: e, team: a }]\nsteps: [{ identifier: s, team: a }]')),
    ).toMatchObject({
      team: { a: { name: 'a' } },
      event: { e: { team: 'a', name: 'e' } },
      step: { s: { team: 'a', event: null, name: 's', order: 1 } },
      key: {},
    })
  })

  test('may refer to Teams and Events that are there already', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      'steps: [{ identifier: order-placed.ship, team: payments, event: order-placed, name: Ship, order: 2 }]',
    )
    expect(written(plan)).toEqual(['step/order-placed.ship'])
  })

  test('a Step may stand without an Event, also one that had one', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      'steps: [{ identifier: order-placed.validate, team: payments, event: null }]',
    )
    expect(plan.changes).toEqual([
      {
        kind: 'step',
        id: 'order-placed.validate',
        value: { team: 'payments', event: null, name: 'Validate', order: 1 },
      },
    ])
  })

  test('Steps without an order follow the last one of their Event, in the order of the file', () => {
    const first = `teams: [{ id: a }]
events: [{ identifier: e, team: a }, { identifier: f, team: a }]
steps:
  - { identifier: one, team: a, event: e }
  - { identifier: other, team: a, event: f }
  - { identifier: five, team: a, event: e, order: 5 }
  - { identifier: two, team: a, event: e }`
    const orders = (state: ReturnType<typeof stateOf>) =>
      Object.fromEntries([...state.step].map(([id, { order }]) => [id, order]))
    expect(orders(stateOf(first))).toEqual({ one: 6, other: 1, five: 5, two: 7 })
    const later = stateOf(
      first,
      'steps: [{ identifier: eight, team: a, event: e }, { identifier: one, team: a, event: f }]',
    )
    expect(orders(later)).toEqual({ one: 2, other: 1, five: 5, two: 7, eight: 8 })
    expect(planOf(stateOf(first), first).changes).toEqual([])
  })
})

describe('apply refuses, listing everything and changing nothing', () => {
  test('references to what is neither in the file nor in the registry', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      `teams: [{ id: billing }]
events:
  - { identifier: paid, team: billing }
  - { identifier: lost, team: nobody }
steps:
  - { identifier: lost.step, team: payments, event: nowhere }
projects:
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3302, team: nobody }`,
    )
    expect(problems(plan)).toEqual([
      '4: there is no Team "nobody", neither in the file nor in the registry',
      '6: there is no Event "nowhere", neither in the file nor in the registry',
      '8: there is no Team "nobody", neither in the file nor in the registry',
    ])
    expect([plan.changes, plan.notes]).toEqual([[], []])
  })

  test('an identifier of another Team, whichever it names', () => {
    const state = stateOf(PAYMENTS)
    for (const prune of [false, true]) {
      const plan = planOf(
        state,
        `teams: [{ id: billing }]
events: [{ identifier: order-placed, team: billing }]
steps: [{ identifier: order-placed.validate, team: billing }]
projects: [{ id: ${GUID}, team: billing }]`,
        { prune },
      )
      expect(problems(plan)).toEqual([
        '2: the identifier "order-placed" belongs to the Team "payments"',
        '3: the identifier "order-placed.validate" belongs to the Team "payments"',
        `4: the identifier "${GUID}" belongs to the Team "payments"`,
      ])
    }
  })

  test('an Event with the identifier of a Step and the other way round, for they share one namespace', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      `events: [{ identifier: order-placed.validate, team: payments }]
steps: [{ identifier: order-placed, team: payments }]`,
    )
    expect(problems(plan)).toEqual([
      '1: the registry has a Step "order-placed.validate"; Events and Steps share their identifiers',
      '2: the registry has an Event "order-placed"; Events and Steps share their identifiers',
    ])
  })

  test('identifiers are case-sensitive', () => {
    expect(problems(planOf(stateOf(PAYMENTS), 'steps: [{ identifier: Order-Placed, team: payments }]'))).toEqual([])
  })

  test('a Step of another Team’s Event', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      `teams: [{ id: billing }]
events: [{ identifier: paid, team: billing }]
steps:
  - { identifier: a, team: billing, event: order-placed }
  - { identifier: b, team: payments, event: paid }`,
    )
    expect(problems(plan)).toEqual([
      '4: the Event "order-placed" belongs to the Team "payments", and a Step to the Team of its Event',
      '5: the Event "paid" belongs to the Team "billing", and a Step to the Team of its Event',
    ])
  })
})

describe('keys', () => {
  const withKeys = (...keys: string[]): string => `teams: [{ id: payments, apiKeys: ${JSON.stringify(keys)} }]`

  test('are stored as SHA-256 with their first 6 characters; the key itself is in no record', () => {
    const { changes } = planOf(emptyState(), PAYMENTS)
    expect(JSON.stringify(changes)).not.toContain(KEY)
    expect(JSON.stringify(changes)).toContain(hashKeyHex(KEY))
  })

  test('weak ones may be given, with a note that does not show them', () => {
    const plan = planOf(emptyState(), withKeys('secret'))
    expect(plan.changes).toHaveLength(2)
    expect(plan.notes).toEqual([
      'Team "payments": the key s… is too short for 128 bits of randomness, which take 22 letters and digits or 32 hexadecimal digits; replace it with `registry rotate-key`',
    ])
  })

  test('a list of none is a Team with no key', () => {
    expect(planOf(emptyState(), withKeys()).changes).toEqual([
      { kind: 'team', id: 'payments', value: { name: 'payments' } },
    ])
  })

  test('two may be live, a third is refused, whether it is in the file or in the registry', () => {
    expect(problems(planOf(emptyState(), withKeys(KEY, OTHER_KEY)))).toEqual([])
    const way = 'list fewer, or end one with `registry revoke-key`'
    const refusal = [`1: the Team "payments" would have 3 live keys, the most is 2; ${way}`]
    expect(problems(planOf(emptyState(), withKeys(KEY, OTHER_KEY, THIRD_KEY)))).toEqual(refusal)
    expect(problems(planOf(stateOf(withKeys(KEY, OTHER_KEY)), withKeys(THIRD_KEY)))).toEqual(refusal)
    expect(
      problems(planOf(stateOf(withKeys(KEY, OTHER_KEY)), withKeys(OTHER_KEY, THIRD_KEY), { prune: true })),
    ).toEqual([])
  })

  test('more live keys than two, however they came about, stop only who adds another', () => {
    const state = stateOf(withKeys(KEY, OTHER_KEY))
    state.key.set(keyId('payments', THIRD_KEY), { prefix: 'k3y-01', createdAt: NOW, revokedAt: null })
    expect(problems(planOf(state, withKeys(KEY)))).toEqual([])
    expect(problems(planOf(state, withKeys('k3y-0123456789-abcdefghijkl-FOUR')))).toHaveLength(1)
  })

  test('left out, they stay as they are, with --prune too', () => {
    for (const prune of [false, true]) {
      const plan = planOf(stateOf(withKeys(KEY)), 'teams: [{ id: payments }]', { prune })
      expect([plan.changes, plan.notes]).toEqual([[], []])
    }
  })

  test('those that the file does not list stay live with a note, and are revoked by --prune', () => {
    const kept = planOf(stateOf(withKeys(KEY)), withKeys(OTHER_KEY))
    expect(written(kept)).toEqual([`key/${keyId('payments', OTHER_KEY)}`])
    expect(kept.notes).toEqual([
      'Team "payments": 1 live key(s) that the file does not list stay live; --prune revokes them',
    ])
    const pruned = planOf(stateOf(withKeys(KEY)), withKeys(), { prune: true, now: '2027-01-01T00:00:00.000Z' })
    expect(pruned.changes).toEqual([
      {
        kind: 'key',
        id: keyId('payments', KEY),
        value: { prefix: 'k3y-01', createdAt: NOW, revokedAt: '2027-01-01T00:00:00.000Z' },
      },
    ])
  })

  test('a revoked key stays revoked, even if a file lists it again', () => {
    const state = stateOf(withKeys(KEY))
    const revoked = withChanges(state, planOf(state, withKeys(), { prune: true }))
    const again = planOf(revoked, withKeys(KEY))
    expect(again.changes).toEqual([])
    expect(again.notes).toEqual(['Team "payments": the key k3y-01… was revoked and stays so'])
  })

  test('a revoked key stays revoked even if its Team is deleted and comes back', () => {
    const state = stateOf(withKeys(KEY))
    const gone = withChanges(state, planOf(state, 'teams: []', { prune: true }))
    expect(gone.team.size).toBe(0)
    const back = withChanges(gone, planOf(gone, withKeys(KEY)))
    expect(back.team.has('payments')).toBe(true)
    expect(back.key.get(keyId('payments', KEY))?.revokedAt).toBe(NOW)
  })

  test('a key of one Team cannot become one of another, revoked or not', () => {
    const plan = planOf(stateOf(withKeys(KEY)), `teams: [{ id: billing, apiKeys: ["${KEY}"] }]`)
    expect(problems(plan)).toEqual(['1: the key k3y-01… is already one of the Team "payments"'])
  })
})

describe('--prune', () => {
  test('deletes what the file lacks, from the leaves up', () => {
    const plan = planOf(stateOf(PAYMENTS), 'teams: [{ id: billing }]', { prune: true })
    expect(written(plan)).toEqual([
      'team/billing',
      'delete step/order-placed.validate',
      'delete event/order-placed',
      `delete project/${GUID}`,
      `key/${keyId('payments', KEY)}`,
      'delete team/payments',
    ])
  })

  test('leaves the registry as the file says it', () => {
    const other = `teams: [{ id: billing }]\nevents: [{ identifier: paid, team: billing, name: Paid }]`
    const state = stateOf(PAYMENTS, other)
    const pruned = withChanges(state, planOf(state, PAYMENTS, { prune: true }))
    expect(plain(pruned)).toEqual(plain(stateOf(PAYMENTS)))
  })

  test('counts as there only what the file has', () => {
    const plan = planOf(
      stateOf(PAYMENTS),
      'teams: [{ id: billing }]\nevents: [{ identifier: e, team: payments }]\nsteps: [{ identifier: s, team: billing, event: order-placed }]',
      { prune: true },
    )
    expect(problems(plan)).toEqual([
      '2: there is no Team "payments" in the file, and --prune leaves nothing else',
      '3: there is no Event "order-placed" in the file, and --prune leaves nothing else',
    ])
  })

  test('lets a Step take the place of an Event with its identifier', () => {
    const state = stateOf(PAYMENTS)
    const next = planOf(state, 'teams: [{ id: payments }]\nsteps: [{ identifier: order-placed, team: payments }]', {
      prune: true,
    })
    const pruned = withChanges(state, next)
    expect([[...pruned.step.keys()], [...pruned.event.keys()]]).toEqual([['order-placed'], []])
  })
})

/** A registry file of a few names, so that files meet each other; every reference is within the file. */
function fileOf({ orders = true } = {}) {
  const teams = fc.uniqueArray(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      name: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
    }),
    { selector: ({ id }) => id, minLength: 1 },
  )
  return teams.chain((owners) => {
    // The owner is part of the identifier, so that no two Teams dispute one.
    const owned = fc.constantFrom(...owners.map(({ id }) => id))
    const name = fc.option(fc.constantFrom('x', 'y'), { nil: undefined })
    const events = fc.uniqueArray(
      fc
        .record({ team: owned, nr: fc.constantFrom(1, 2), name })
        .map(({ team, nr, name }) => ({ identifier: `${team}.e${nr}`, team, name })),
      { selector: ({ identifier }) => identifier, maxLength: 4 },
    )
    return events.chain((all) => {
      const steps = fc.uniqueArray(
        fc
          .record({
            team: owned,
            nr: fc.constantFrom(1, 2, 3),
            name,
            alone: fc.boolean(),
            order: fc.constantFrom(1, 2, 3),
          })
          .map(({ team, nr, name, alone, order }) => ({
            identifier: `${team}.s${nr}`,
            team,
            name,
            event: alone ? null : (all.find((event) => event.team === team)?.identifier ?? null),
            order: orders ? order : undefined,
          })),
        { selector: ({ identifier }) => identifier, maxLength: 5 },
      )
      return fc.record({ teams: fc.constant(owners), events: fc.constant(all), steps })
    })
  })
}

// JSON is YAML; fields that are undefined are left out.
const text = (file: unknown): string => JSON.stringify(file)

describe('for any files', () => {
  test('applying twice is applying once, pruned or not', () => {
    fc.assert(
      fc.property(fileOf({ orders: false }), fileOf({ orders: false }), fc.boolean(), (before, file, prune) => {
        const state = stateOf(text(before))
        const plan = planOf(state, text(file), { prune })
        expect(plan.problems).toEqual([])
        expect(planOf(withChanges(state, plan), text(file), { prune }).changes).toEqual([])
      }),
    )
  })

  test('a pruned registry says what the file says and nothing else', () => {
    fc.assert(
      fc.property(fileOf(), fileOf(), (before, file) => {
        const state = stateOf(text(before))
        const pruned = withChanges(state, planOf(state, text(file), { prune: true }))
        expect([...pruned.team.keys()].sort()).toEqual(file.teams.map(({ id }) => id).sort())
        expect([...pruned.event.keys()].sort()).toEqual(file.events.map(({ identifier }) => identifier).sort())
        for (const { identifier, team, event, order } of file.steps) {
          expect(pruned.step.get(identifier)).toMatchObject({ team, event, order })
        }
        expect(pruned.step.size).toBe(file.steps.length)
      }),
    )
  })

  test('the order of the items in a file does not matter where it gives the Steps their order', () => {
    const shuffled = fileOf().chain((file) =>
      fc.record({
        file: fc.constant(file),
        other: fc.record({
          steps: fc.shuffledSubarray(file.steps, { minLength: file.steps.length }),
          events: fc.shuffledSubarray(file.events, { minLength: file.events.length }),
          teams: fc.shuffledSubarray(file.teams, { minLength: file.teams.length }),
        }),
      }),
    )
    fc.assert(
      fc.property(shuffled, ({ file, other }) => {
        expect(plain(stateOf(text(other)))).toEqual(plain(stateOf(text(file))))
      }),
    )
  })

  test('files that have nothing in common may be applied in any order', () => {
    const renamed = (file: unknown): string => text(file).replaceAll(/"([abc])(\.[es]\d)?"/g, '"z$1$2"')
    fc.assert(
      fc.property(fileOf(), fileOf(), (one, two) => {
        expect(plain(stateOf(text(one), renamed(two)))).toEqual(plain(stateOf(renamed(two), text(one))))
      }),
    )
  })

  test('whatever is refused changes nothing', () => {
    fc.assert(
      fc.property(fileOf(), fc.constantFrom('a', 'z'), fc.boolean(), (file, team, prune) => {
        const bad = {
          ...file,
          projects: [
            { id: GUID, team },
            { id: GUID.replace('1d', '2d'), team: 'missing' },
          ],
        }
        const plan = planOf(stateOf(text(file)), text(bad), { prune })
        expect(plan.problems.length).toBeGreaterThan(0)
        expect(plan.changes).toEqual([])
      }),
    )
  })
})

describe('archived', () => {
  const archive = `events: [{ identifier: order-placed, team: payments, archived: true }]
steps: [{ identifier: order-placed.validate, team: payments, archived: true }]
projects: [{ id: ${GUID}, team: payments, archived: true }]`
  const LATER = '2027-01-01T00:00:00.000Z'

  test('a file archives and restores, and does neither twice', () => {
    const plan = planOf(stateOf(PAYMENTS), archive)
    expect(plan.changes.map(({ value }) => value)).toEqual([
      { team: 'payments', name: 'Order placed', archivedAt: NOW },
      { team: 'payments', event: 'order-placed', name: 'Validate', order: 1, archivedAt: NOW },
      { team: 'payments', name: 'Checkout API', archivedAt: NOW },
    ])
    const state = withChanges(stateOf(PAYMENTS), plan)
    expect(planOf(state, archive, { now: LATER })).toMatchObject({ changes: [], notes: [] })
    const restored = withChanges(state, planOf(state, archive.replaceAll('true', 'false')))
    expect(plain(restored)).toEqual(plain(stateOf(PAYMENTS)))
  })

  test('a file that says nothing of it leaves it, whatever else it changes, and notes it', () => {
    const state = stateOf(PAYMENTS, archive)
    const { changes, notes } = planOf(state, PAYMENTS.replaceAll('name: ', 'name: New '), { now: LATER })
    expect(changes.map(({ kind, value }) => [kind, value])).toEqual([
      ['team', { name: 'New Payments' }],
      ['event', { team: 'payments', name: 'New Order placed', archivedAt: NOW }],
      ['step', { team: 'payments', event: 'order-placed', name: 'New Validate', order: 1, archivedAt: NOW }],
      ['project', { team: 'payments', name: 'New Checkout API', archivedAt: NOW }],
    ])
    expect(notes).toEqual([
      'the Event "order-placed" is archived and stays so; `archived: false` restores it',
      'the Step "order-placed.validate" is archived and stays so; `archived: false` restores it',
      `the Project "${GUID}" is archived and stays so; \`archived: false\` restores it`,
    ])
  })

  test('--prune deletes it as it does the rest', () => {
    expect(written(planOf(stateOf(PAYMENTS, archive), 'teams: []', { prune: true }))).toContain(
      'delete event/order-placed',
    )
  })
})

describe('the quota of a Team', () => {
  const limited = (limits: string): string => `teams: [{ id: payments, limits: ${limits} }]`
  const state = stateOf(PAYMENTS, limited('{ entriesPerSecond: 500, shadow: true }'))
  const put = (limits?: object) => [
    { kind: 'team', id: 'payments', value: { name: 'Payments', ...(limits && { limits }) } },
  ]

  test('is set as a whole, kept where nothing is said, and taken away by null', () => {
    for (const same of [PAYMENTS, limited('{ shadow: true, entriesPerSecond: 500 }')])
      expect(planOf(state, same).changes).toEqual([])
    expect(planOf(state, PAYMENTS, { prune: true }).changes).toEqual([])
    expect(planOf(state, limited('{ bytesPerSecond: 7 }')).changes).toEqual(put({ bytesPerSecond: 7 }))
    expect(planOf(state, limited('null')).changes).toEqual(put())
    expect(planOf(state, limited('{}')).changes).toEqual(put())
  })

  test('stays whatever else of the Team changes, by a file or by the Team itself', () => {
    const limits = { entriesPerSecond: 500, shadow: true }
    const named = withChanges(state, planOf(state, `teams: [{ id: payments, name: New, defaultProject: ${GUID} }]`))
    expect(named.team.get('payments')).toEqual({ name: 'New', defaultProject: GUID, limits })
    const archived = withChanges(named, planOf(named, `projects: [{ id: ${GUID}, team: payments, archived: true }]`))
    expect(archived.team.get('payments')).toEqual({ name: 'New', limits })
  })
})

describe('the Project for logs of unknown services', () => {
  const OTHER = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
  const naming = (id: string | null): string => `teams: [{ id: payments, defaultProject: ${id} }]`
  const NAMED = `${PAYMENTS.replace('name: Payments,', `name: Payments, defaultProject: ${GUID},`)}`
  const team = (plan: ReturnType<typeof planOf>) => plan.changes.filter(({ kind }) => kind === 'team')
  const put = (defaultProject?: string) => [
    { kind: 'team', id: 'payments', value: { name: 'Payments', ...(defaultProject && { defaultProject }) } },
  ]

  test('is named, kept where nothing is said, and taken back by null', () => {
    expect(team(planOf(emptyState(), NAMED))).toEqual(put(GUID))
    const state = stateOf(NAMED)
    for (const same of [NAMED, PAYMENTS, naming(GUID.toUpperCase())]) expect(planOf(state, same).changes).toEqual([])
    expect(team(planOf(state, 'teams: [{ id: payments, name: New }]'))).toMatchObject([
      { value: { name: 'New', defaultProject: GUID } },
    ])
    expect(planOf(state, naming(null)).changes).toEqual(put())
    expect(planOf(stateOf(PAYMENTS), naming(GUID)).changes).toEqual(put(GUID))
  })

  test('has to be one of the Team that the file does not archive', () => {
    const other = `teams: [{ id: b }]\nprojects: [{ id: ${OTHER}, team: b }]`
    const state = stateOf(PAYMENTS, other)
    const archived = `${naming(GUID)}\nprojects: [{ id: ${GUID}, team: payments, archived: true }]`
    expect([
      problems(planOf(stateOf(PAYMENTS), naming(OTHER))),
      problems(planOf(state, naming(OTHER))),
      problems(planOf(state, archived)),
      problems(planOf(state, naming(GUID), { prune: true })),
    ]).toEqual([
      [`1: defaultProject: there is no Project "${OTHER}", neither in the file nor in the registry`],
      [`1: defaultProject: the Project "${OTHER}" belongs to the Team "b"`],
      [`1: defaultProject: the Project "${GUID}" is archived`],
      [`1: defaultProject: there is no Project "${GUID}" in the file, and --prune leaves nothing else`],
    ])
  })

  test('is none once it is archived or deleted, with a note, and for good', () => {
    const note = (fault: string) => `the Team "payments" has no Project for unknown services now: ${fault}`
    const archive = `projects: [{ id: ${GUID}, team: payments, archived: true }]`
    for (const file of [archive, `teams: [{ id: payments }]\n${archive}`]) {
      const plan = planOf(stateOf(NAMED), file)
      expect([team(plan), plan.notes]).toEqual([put(), [note(`the Project "${GUID}" is archived`)]])
      const restored = stateOf(NAMED, file, archive.replace('true', 'false'))
      expect(restored.team.get('payments')).toEqual({ name: 'Payments' })
    }
    const pruned = planOf(stateOf(NAMED), 'teams: [{ id: payments }]', { prune: true })
    expect([team(pruned), pruned.notes]).toEqual([
      put(),
      [note(`there is no Project "${GUID}" in the file, and --prune leaves nothing else`)],
    ])
    expect(written(planOf(stateOf(NAMED), 'teams: []', { prune: true }))).toEqual(
      expect.not.arrayContaining(['team/payments']),
    )
  })

  test('that its Team has archived is no reason to refuse a file that names it: servers start with files', () => {
    const state = stateOf(NAMED, `projects: [{ id: ${GUID}, team: payments, archived: true }]`)
    const plan = planOf(state, NAMED)
    expect([plan.problems, plan.changes]).toEqual([[], []])
    expect(plan.notes).toContain(
      `the Team "payments" has no Project for unknown services now: the Project "${GUID}" is archived`,
    )
  })
})
