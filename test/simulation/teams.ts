import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { createAudit, readAudit } from '../../shared/journal/audit.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import { createRegistryAdmin, type RegistryAdmin } from '../../shared/registry/admin.ts'
import { createRegistryFollower, type RegistryFollower } from '../../shared/registry/follower.ts'
import { readState } from '../../shared/registry/journal-access.ts'
import { hashKeyHex } from '../../shared/registry/keys.ts'
import {
  decodeRecord,
  emptyState,
  fold,
  ownedId,
  type RegistryState,
  splitOwnedId,
} from '../../shared/registry/records.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { conflict } from '../../views/api/problems.ts'
import {
  changeItem,
  changeTeam,
  createItem,
  createKey,
  createSearch,
  deleteSearch,
  renameSearch,
  revokeKey,
  type TeamCall,
} from '../../views/team/changes.ts'
import { createMemoryJournal, type MemoryJournal } from '../support/memory-journal.ts'
import { type Draft, isDisturbed, judgeChanges, runChanges, type Told } from './changes.ts'
import { createNetwork, FAULTY_MS, wait } from './network.ts'
import { PREFIX } from './processes.ts'
import { createWorld, type World } from './world.ts'

const REGISTRY = topicName(PREFIX, 'registry')
const AUDIT = topicName(PREFIX, 'audit')
const PROJECTS = ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', '3f2504e0-4f89-11d3-9a0c-0305e82c3302']
const SEARCHES = ['5ea2c400-4f89-41d3-9a0c-0305e82c3301', '5ea2c400-4f89-41d3-9a0c-0305e82c3302']
const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const FILE = `
teams: [{ id: a, name: A, apiKeys: [${KEY}] }, { id: b, name: B }]
events: [{ identifier: order, team: a }]
projects: [{ id: ${PROJECTS[0]}, team: a }]
`

/** Changes of Teams and of an operator at replicas of the views, and what became of the registry. */
export async function runSchedule(seed: number): Promise<World> {
  const world = createWorld(seed)
  await world.run(() => happen(world))
  return world
}

async function happen(world: World): Promise<void> {
  const { random, find } = world
  const topics = (['registry', 'audit'] as const).map((role) => ({ ...TOPICS[role], name: topicName(PREFIX, role) }))
  const journal = createMemoryJournal({ clock: systemClock, topics })
  const network = createNetwork(random, world.note, !random.oneIn(3))
  const keys: Keys = { given: new Map([[KEY, 0]]), revoked: new Set() }
  const admin = adminOf(journal, 'first')
  await admin.applyFile(FILE, { prune: false })
  for (const id of SEARCHES) await admin.changeSearch('a', { id, to: { name: id, page: 'flows', params: {} } })
  const first = await readState({ journal, topic: REGISTRY })
  const drafts = random.pick([[...ITEMS, ...KEYS, ...SAVED], ITEMS.slice(0, 3), KEYS, SAVED])
  const teams = drafts === KEYS || drafts === SAVED ? ['a'] : ['a', 'b']
  const changes = runChanges<RegistryAdmin>(
    { world, network, journal },
    {
      open: async (client, { name }) => adminOf(client, name, await knownTo(client)),
      draft: (name) => random.pick(drafts)(world, random.pick(teams), name, keys),
    },
  )
  await wait(FAULTY_MS)
  network.heal()
  const all = await changes
  const state = await readState({ journal, topic: REGISTRY })
  judgeChanges(all, { find, lastOf: (field) => valueIn(state, field), firstOf: (field) => valueIn(first, field) })
  for (const id of state.event.keys())
    if (state.step.has(id) && !['event', 'step'].some((kind) => isDisturbed(all, `${kind}/${id}`)))
      find(`${id} is an Event and a Step`)
  judgeSearches(state, all, find)
  await judgeRecords(journal, keys, find)
}

/** The state that a replica has read of the registry, which it follows. */
async function knownTo(journal: Journal): Promise<RegistryFollower['known']> {
  const logger = createLogger('silent', 'test')
  const follower = createRegistryFollower({
    journal,
    topic: REGISTRY,
    logger,
    metrics: createMetrics(),
    clock: systemClock,
  })
  await follower.start()
  return follower.known
}

function adminOf(journal: Journal, via: string, known?: RegistryFollower['known']): RegistryAdmin {
  const audit = createAudit({ journal, topic: AUDIT, clock: systemClock, onFailure: () => undefined })
  const audited = audit({ actor: { kind: 'server', id: null, key: null }, via, from: null })
  return createRegistryAdmin({ journal, topic: REGISTRY, known, clock: systemClock, audited })
}

/** The keys that were given out, with the times of the answers, and the first characters of those that were told to be revoked. */
interface Keys {
  readonly given: Map<string, number>
  readonly revoked: Set<string>
}

type MakeDraft = (world: Pick<World, 'random'>, team: string, name: string, keys: Keys) => Draft<RegistryAdmin>

function pickItem({ random }: Pick<World, 'random'>) {
  const kind = random.pick(['event', 'step', 'project'] as const)
  const id = kind === 'project' ? random.pick(PROJECTS) : random.pick(['one', 'order'])
  return { kind, id, of: (what: string) => `${kind}/${id} ${what}` }
}

const callOf = (admin: RegistryAdmin, team: string, given: Partial<TeamCall>): TeamCall => ({
  ...{ admin, team: { id: team, name: team }, json: {}, subject: '' },
  ...given,
})

const ITEMS: readonly MakeDraft[] = [
  (world, team, name) => {
    const { kind, id, of } = pickItem(world)
    const body = kind === 'project' ? { id, name } : { identifier: id, name }
    const writes = { [of('team')]: team, [of('name')]: name, [of('archived')]: false }
    return { writes, work: (admin) => createItem(kind, callOf(admin, team, { json: body })) }
  },
  (world, team, name) => {
    const { kind, id, of } = pickItem(world)
    const work = (admin: RegistryAdmin) => changeItem(kind, callOf(admin, team, { subject: id, json: { name } }))
    return { writes: { [of('name')]: name }, work }
  },
  (world, team) => {
    const { kind, id, of } = pickItem(world)
    const archived = !world.random.oneIn(3)
    const work = (admin: RegistryAdmin) => changeItem(kind, callOf(admin, team, { subject: id, json: { archived } }))
    return { writes: { [of('archived')]: archived }, work }
  },
  ({ random }, team) => {
    const defaultProject = random.pick(PROJECTS)
    return { writes: {}, work: (admin) => changeTeam(callOf(admin, team, { json: { defaultProject } })) }
  },
  (_world, team, name) => {
    const id = 'one'
    const file = `events: [{ identifier: ${id}, team: ${team}, name: ${name} }]`
    const work = async (admin: RegistryAdmin): Promise<string | object> => {
      const result = await admin.applyFile(file, { prune: false })
      if (result.outcome === 'applied') return result
      throw conflict(result.outcome === 'disturbed' ? 'Somebody else changed it.' : 'The file is refused.')
    }
    return { writes: { [`event/${id} team`]: team, [`event/${id} name`]: name }, work }
  },
]

const KEYS: readonly MakeDraft[] = [
  ({ random }, team, _name, { given }) => {
    const revokeOld = random.oneIn(6)
    const onMade = ({ key }: { readonly key: string }): void => void given.set(key, Date.now())
    return { writes: {}, work: (admin) => createKey(callOf(admin, team, { json: { revokeOld } })), onMade }
  },
  ({ random }, team, _name, { given, revoked }) => {
    const prefix = random.pick([...given.keys()]).slice(0, 6)
    const work = (admin: RegistryAdmin) => revokeKey(callOf(admin, team, { subject: prefix }))
    return { writes: {}, work, onMade: () => revoked.add(prefix) }
  },
  ({ random }, team, _name, { given, revoked }) => {
    const prefix = random.pick([...given.keys()]).slice(0, 6)
    const onMade = ({ outcome }: { readonly outcome: string }): void => {
      if (outcome === 'revoked') revoked.add(prefix)
    }
    return { writes: {}, work: (admin) => admin.revokeKey(team, prefix), onMade }
  },
]

/** Stands for all searches that are saved meanwhile. */
const NEW_SEARCH = 'search/new'

const SAVED: readonly MakeDraft[] = [
  ({ random }, team) => {
    const body = { name: random.pick(['Errors', 'Late']), page: 'flows', params: {} }
    return {
      writes: { [`${NEW_SEARCH} name`]: undefined },
      work: (admin) => createSearch(callOf(admin, team, { json: body })),
    }
  },
  ({ random }, team, name) => {
    const id = random.pick(SEARCHES)
    const work = (admin: RegistryAdmin) => renameSearch(callOf(admin, team, { subject: id, json: { name } }))
    return { writes: { [`search/${id} name`]: name }, work }
  },
  ({ random }, team) => {
    const id = random.pick(SEARCHES)
    const work = (admin: RegistryAdmin) => deleteSearch(callOf(admin, team, { subject: id }))
    return { writes: { [`search/${id} name`]: undefined }, work }
  },
]

function valueIn(state: RegistryState, field: string): unknown {
  const [kind = '', id = '', what] = field.split(/[/ ]/)
  if (kind === 'search') return state.search.get(ownedId('a', id))?.name
  const value = state[kind as 'event' | 'step' | 'project'].get(id)
  return what === 'archived' ? value?.archivedAt !== undefined : value?.[what as 'name' | 'team']
}

/** A search that was told to be deleted, beside at most one other change, stays so. No two of a Team have one name. */
function judgeSearches({ search }: RegistryState, all: readonly Told[], find: World['find']): void {
  for (const id of SEARCHES) {
    const own = all.filter(({ writes }) => Object.hasOwn(writes, `search/${id} name`))
    const isAlone = ({ begunAt, endedAt }: Told): boolean =>
      own.filter((other) => other.begunAt < endedAt && other.endedAt > begunAt).length <= 2
    const isDeleted = own.some(
      (one) => one.answered === 'made' && one.writes[`search/${id} name`] === undefined && isAlone(one),
    )
    if (isDeleted && search.has(ownedId('a', id)) && !isDisturbed(all, `search/${id}`))
      find(`the search ${id} was deleted, and is there`)
  }
  if ([NEW_SEARCH, ...SEARCHES.map((id) => `search/${id}`)].some((object) => isDisturbed(all, object))) return
  const names = [...search].map(([id, { name }]) => `${splitOwnedId(id).team} ${name}`)
  if (new Set(names).size < names.length) find(`two searches have one name: ${names.join(', ')}`)
}

/** A key told to be revoked stays so, no more than two that were given out are live at once, and every record is in the audit. */
async function judgeRecords(journal: MemoryJournal, { given, revoked }: Keys, find: World['find']): Promise<void> {
  const announced = new Set<string>()
  for await (const { subject, after } of readAudit(journal, AUDIT))
    announced.add(`${subject.kind}/${subject.id} ${JSON.stringify(after)}`)
  const state = emptyState()
  const times = new Map([...given].map(([key, at]) => [hashKeyHex(key), at]))
  const records = journal.recordsOf(REGISTRY)
  for (const [index, each] of records.entries()) {
    const { record } = decodeRecord(each)
    if (record === undefined) continue
    fold(state, record)
    const { kind, id, value } = record
    const shown = kind === 'key' ? value?.prefix : kind === 'search' ? splitOwnedId(id).id : id
    const what = `${kind}/${shown} ${JSON.stringify(value)}`
    if (!announced.has(what)) find(`${what} is not in the audit`)
    // Records of one append become visible together.
    if (records[index + 1]?.appendedAt === each.appendedAt) continue
    const live = [...state.key].filter(([id, { revokedAt }]) => {
      const at = times.get(splitOwnedId(id).id)
      return revokedAt === null && at !== undefined && at <= each.appendedAt
    })
    const most = Math.max(
      0,
      ...[...Map.groupBy(live, ([id]) => splitOwnedId(id).team).values()].map(({ length }) => length),
    )
    if (most > 2) find(`a Team has ${most} live keys that were given out`)
  }
  for (const [, { prefix, revokedAt }] of state.key)
    if (revoked.has(prefix) && revokedAt === null) find(`the key ${prefix} was revoked, and is live`)
}
