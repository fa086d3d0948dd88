import { LEVELS } from '../../contract/levels.ts'
import type { EntryFilter, FacetName, Facets } from '../log-store.ts'
import type { Database } from './database.ts'
import { kindsOf, type Select, whereKinds } from './selection.ts'

const NAMES = ['level', 'environment', 'event', 'step', 'project', 'category'] as const satisfies readonly FacetName[]
const COLUMNS = NAMES.map((name) => `e.${name} AS ${name}`).join(', ')

/** Counts all facets in one pass: entries are alike in most of them, so there are few combinations. */
export function createFacetReader(database: Database, select: Select) {
  const read = (filter: EntryFilter, valuesMax: number): Facets => {
    const selection = select(filter)
    const { text, values } = whereKinds(selection, kindsOf(filter))
    const rows = database
      .prepare(`SELECT ${COLUMNS}, count(*) AS count FROM ${selection.from} WHERE ${text} GROUP BY 1, 2, 3, 4, 5, 6`)
      .iterate(...values)
    const counts = { level: new Map(), environment: new Map(), event: new Map(), step: new Map() }
    const all: Record<FacetName, Map<string, number>> = { ...counts, project: new Map(), category: new Map() }
    for (const row of rows) {
      for (const name of NAMES) add(all[name], facetValue(name, row[name]), Number(row['count']))
    }
    const top = (name: FacetName) => most(all[name], valuesMax)
    return {
      level: top('level'),
      environment: top('environment'),
      event: top('event'),
      step: top('step'),
      project: top('project'),
      category: top('category'),
    }
  }
  return { facets: (filter: EntryFilter, valuesMax: number) => database.read(() => read(filter, valuesMax)) }
}

const facetValue = (name: FacetName, stored: unknown): string | null =>
  stored === null ? null : name === 'level' ? (LEVELS[Number(stored)] ?? null) : String(stored)

function add(counts: Map<string, number>, value: string | null, count: number): void {
  if (value !== null) counts.set(value, (counts.get(value) ?? 0) + count)
}

const most = (counts: ReadonlyMap<string, number>, valuesMax: number): Facets[FacetName] =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMax)
