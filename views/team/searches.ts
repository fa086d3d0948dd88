import { randomUUID } from 'node:crypto'
import { parseGuid } from '../../shared/contract/guid.ts'
import type { RegistryAdmin } from '../../shared/registry/admin.ts'
import type { SavedSearch } from '../../shared/registry/registry.ts'
import { SEARCHES_MAX, type SearchChange } from '../../shared/registry/search-admin.ts'
import { conflict, notFound } from '../api/problems.ts'
import { readFields } from './bodies.ts'
import type { Change } from './changes.ts'

export const SEARCH_FIELDS = ['name', 'page', 'params'] as const

export async function createSearch(admin: RegistryAdmin, team: string, json: unknown): Promise<Change> {
  const { name, page, params } = readFields(json, SEARCH_FIELDS, SEARCH_FIELDS)
  return shownBy(team, await apply(admin, team, { id: randomUUID(), to: { name, page, params } }))
}

export async function renameSearch(admin: RegistryAdmin, team: string, id: string, json: unknown): Promise<Change> {
  const { name } = readFields(json, ['name'], ['name'])
  return shownBy(team, await apply(admin, team, { id: idOf(id), to: { name } }))
}

export async function deleteSearch(admin: RegistryAdmin, team: string, given: string): Promise<Change> {
  const id = idOf(given)
  await apply(admin, team, { id, to: null })
  return { data: { id }, isVisible: (registry) => !registry.searchesOf(team).some((one) => one.id === id) }
}

const shownBy = (team: string, search: SavedSearch): Change => ({
  data: search,
  isVisible: (registry) => registry.searchesOf(team).some(({ id, name }) => id === search.id && name === search.name),
})

const idOf = (text: string): string => parseGuid(text) ?? text

async function apply(admin: RegistryAdmin, team: string, change: SearchChange): Promise<SavedSearch> {
  const result = await admin.changeSearch(team, change)
  if (result.outcome === 'changed') return result.search
  switch (result.because) {
    case 'not_found':
      throw notFound('The Team has no saved search with this id.')
    case 'exists':
      throw conflict(
        `The Team has a saved search named ${JSON.stringify(change.to?.name)} already. Choose another name.`,
      )
    case 'too_many':
      throw conflict(`The Team has ${SEARCHES_MAX} saved searches, the most there may be. Delete one first.`)
  }
}
