import { randomUUID } from 'node:crypto'
import type { ProblemError } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import type { RegistryAdmin } from '../../shared/registry/admin.ts'
import type { Refused } from '../../shared/registry/key-admin.ts'
import { shownPrefix } from '../../shared/registry/keys.ts'
import { OWN_KEYS_MAX } from '../../shared/registry/plan-keys.ts'
import type { Entity, Project, SavedSearch, Team } from '../../shared/registry/registry.ts'
import { SEARCHES_MAX, type SearchChange } from '../../shared/registry/search-admin.ts'
import { OWN_ITEMS_MAX, type OwnItem, type OwnRefusal } from '../../shared/registry/team-admin.ts'
import { conflict, invalidFields, invalidParameters, notFound, overtaken, rateLimited } from '../api/problems.ts'
import { durationText } from '../flow-layout/times.ts'
import { type FieldName, type Fields, readFields } from './bodies.ts'

/** The request of a Team to change its own settings. */
export interface TeamCall {
  readonly team: Team
  readonly json: unknown
  /** The last part of its path. */
  readonly subject: string
  /** Changes the registry on behalf of the request. */
  readonly admin: RegistryAdmin
}

export type Kind = OwnItem['kind']

const NAMES = { event: 'Event', step: 'Step', project: 'Project' } as const

/** The fields of a creation, the first of which is required, and of a change, by kind. */
export const TAKEN: Readonly<
  Record<Kind, { readonly create: readonly FieldName[]; readonly change: readonly FieldName[] }>
> = {
  event: { create: ['identifier', 'name'], change: ['name', 'archived'] },
  step: { create: ['identifier', 'name', 'event', 'order'], change: ['name', 'event', 'order', 'archived'] },
  project: { create: ['name', 'id'], change: ['name', 'archived'] },
}

/** The GUID that a path names, in canonical form; another text as it is. */
export const guidOf = (text: string): string => parseGuid(text) ?? text

/** The id of an item in a path; that of a Project is a GUID. */
export const idOf = (kind: Kind, text: string): string => (kind === 'project' ? guidOf(text) : text)

/* Each function makes a change and returns the data of its answer. */

export async function createItem(kind: Kind, { admin, team, json }: TeamCall): Promise<object> {
  const { create: taken } = TAKEN[kind]
  const fields = readFields(json, taken, taken.slice(0, 1))
  const id =
    kind === 'project' ? (fields.id === undefined ? randomUUID() : guidOf(fields.id)) : (fields.identifier ?? '')
  return changeOwn(admin, team.id, { kind, id, ...wanted(fields) }, 'create')
}

export async function changeItem(kind: Kind, { admin, team, subject, json }: TeamCall): Promise<object> {
  const { change: taken } = TAKEN[kind]
  const fields = readFields(json, taken)
  if (Object.keys(fields).length === 0)
    throw invalidFields([{ path: '', message: `has nothing to change; give one of ${taken.join(', ')}` }])
  return changeOwn(admin, team.id, { kind, id: idOf(kind, subject), ...wanted(fields) }, 'change')
}

/** Changes the Team itself: the Project that receives logs of unknown services. */
export async function changeTeam({ admin, team, json }: TeamCall): Promise<object> {
  const fields = readFields(json, ['defaultProject'], ['defaultProject'])
  const defaultProject = fields.defaultProject && guidOf(fields.defaultProject)
  const result = await admin.setDefaultProject(team.id, defaultProject)
  if (result.outcome === 'refused') throw refusalOf(result.because, { kind: 'project', id: defaultProject ?? '' })
  const { id, name } = result.item
  return { id, name, defaultProject }
}

const wanted = ({ name, archived, event, order }: Fields) => ({ name, archived, event, order })

async function changeOwn(admin: RegistryAdmin, team: string, item: OwnItem, how: 'create' | 'change'): Promise<object> {
  const result = await admin.changeOwn(team, item, how)
  if (result.outcome === 'refused') throw refusalOf(result.because, item)
  return shownItem(result.item)
}

/** The item as the API returns it. */
function shownItem(item: Entity | Project) {
  const { name, archivedAt = null } = item
  if ('id' in item) return { id: item.id, name, archivedAt }
  const { identifier } = item
  return item.kind === 'event'
    ? { identifier, name, archivedAt }
    : { identifier, name, event: item.event, order: item.order, archivedAt }
}

/** The refusal of a request about an item of the Team. */
export function refusalOf(because: OwnRefusal, { kind, id, event }: OwnItem): ProblemError {
  const what = `the ${kind === 'project' ? 'id' : 'identifier'} ${JSON.stringify(id)}`
  switch (because) {
    case 'not_found':
      return notFound(`The Team has no ${NAMES[kind]} with ${what}.`, 'Check the path; /api/team lists all.')
    case 'exists':
      return conflict(`The Team has something with ${what} already. Choose another one.`)
    case 'exists_archived':
      return conflict(`The Team has something with ${what} already, archived. Restore it, or choose another one.`)
    case 'taken':
      return conflict(`${upper(what)} is taken: it is unique over all Teams. Choose another one.`)
    case 'unknown_event':
      return invalidFields([
        { path: '/event', message: `must be an Event of the Team; ${JSON.stringify(event)} is none` },
      ])
    case 'archived_event':
      return conflict('The Event of this Step is archived. Restore the Event first.')
    case 'unknown_project':
      return invalidFields([
        { path: '/defaultProject', message: `must be a Project of the Team, or null; ${id} is none` },
      ])
    case 'archived_project':
      return conflict('This Project is archived and takes no logs. Restore it first, or choose another one.')
    case 'too_many':
      return conflict(`A Team has at most ${OWN_ITEMS_MAX} ${NAMES[kind]}s of its own making. Ask the operator.`)
    case 'overtaken':
      return overtaken('the same thing')
  }
}

const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Creates a key, which is returned only here and not stored. */
export async function createKey({ admin, team, json }: TeamCall): Promise<object> {
  const { revokeOld = false } = readFields(json, ['revokeOld'])
  const result = await admin.rotateKey(team.id, { revokeOld, byTeam: true })
  if (result.outcome === 'refused') throw keyRefusal(result)
  const { key, revoked } = result
  return { key, prefix: shownPrefix(key), revoked }
}

/** Revokes a key, identified by its visible prefix. */
export async function revokeKey({ admin, team, subject: prefix }: TeamCall): Promise<object> {
  // Full keys must not appear in paths, because paths are logged.
  if (prefix.length > PREFIX_CHARACTERS_MAX)
    throw invalidParameters([
      {
        path: 'prefix',
        message: `must be the first ${PREFIX_CHARACTERS_MAX} characters as shown, never the whole key`,
      },
    ])
  const result = await admin.revokeKey(team.id, prefix, { keepLast: true })
  if (result.outcome === 'refused') throw keyRefusal(result)
  return { prefix: result.prefix, liveKeys: result.liveKeys }
}

const PREFIX_CHARACTERS_MAX = 6

function keyRefusal({ because, waitMs = 0 }: Refused): ProblemError {
  switch (because) {
    case 'no_team':
    case 'no_such_key':
      return notFound('The Team has no live key that begins so.', 'Check the path; /api/team lists how each begins.')
    case 'too_many_keys':
      return conflict('The Team has two live keys, the most there may be. Revoke one first, or replace both at once.')
    case 'too_often':
      return rateLimited(
        `The Team has made ${OWN_KEYS_MAX} keys within 24 hours, the most that it can by itself: it can make the next one in ${durationText(waitMs)}.`,
        Math.ceil(waitMs / 1_000),
      )
    case 'several_keys':
      return conflict('More than one key may begin so. Give all the characters that are shown.')
    case 'keys_alike':
      return conflict(
        'Both live keys of the Team begin so. Replace them together, or ask an operator to revoke one by the whole key.',
      )
    case 'last_key':
      return conflict(
        'This is the last live key of the Team: without it nobody could send logs or sign in. Make a new one first, then revoke this one.',
      )
    case 'unfit_key':
    case 'overtaken':
      return overtaken('the keys')
  }
}

export const SEARCH_FIELDS = ['name', 'page', 'params'] as const

export async function createSearch({ admin, team, json }: TeamCall): Promise<SavedSearch> {
  const to = readFields(json, SEARCH_FIELDS, SEARCH_FIELDS)
  return await changeSearch(admin, team.id, { id: randomUUID(), to })
}

export async function renameSearch({ admin, team, subject, json }: TeamCall): Promise<SavedSearch> {
  return await changeSearch(admin, team.id, { id: guidOf(subject), to: readFields(json, ['name'], ['name']) })
}

export async function deleteSearch({ admin, team, subject }: TeamCall): Promise<object> {
  const id = guidOf(subject)
  await changeSearch(admin, team.id, { id, to: null })
  return { id }
}

async function changeSearch(admin: RegistryAdmin, team: string, change: SearchChange): Promise<SavedSearch> {
  const result = await admin.changeSearch(team, change)
  if (result.outcome === 'changed') return result.search
  switch (result.because) {
    case 'not_found':
      throw notFound('The Team has no saved search with this id.', 'Check the id; /api/team/searches lists all.')
    case 'exists':
      throw conflict(
        `The Team has a saved search named ${JSON.stringify(change.to?.name)} already. Choose another name.`,
      )
    case 'too_many':
      throw conflict(`The Team has ${SEARCHES_MAX} saved searches, the most there may be. Delete one first.`)
    case 'overtaken':
      throw overtaken('the search')
  }
}
