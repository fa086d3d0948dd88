import { parseGuid } from '../../shared/contract/guid.ts'
import { parseTimestamp, timestampOf } from '../../shared/contract/timestamp.ts'
import type { Absence } from '../schemas/answers.ts'
import { withStars } from '../search/terms.ts'
import type { EntryAnswer } from './call.ts'
import { filterOf } from './filter.ts'
import type { ParameterName, Values } from './parameters.ts'

/** The parameters that select entries, except the time range; parameters that form one condition are grouped. */
const CONDITIONS = [
  ['q'],
  ['level', 'levelMax'],
  ['environment'],
  ['correlationKey'],
  ['event'],
  ['step'],
  ['project'],
  ['category'],
  ['template'],
  ['exceptionGroup'],
] as const satisfies readonly (readonly ParameterName[])[]

/** A parameter change that would show entries in an empty list. */
type Way = Absence['ways'][number]

const HOUR_MS = 3_600_000

/**
 * The reason why a list is empty, and the changes that would show something, best first. Matching entries outside the time range are
 * checked first, because then the conditions are fine.
 */
export const absenceOfEntries: EntryAnswer = async (call, { store }) => {
  const { values } = call
  const filterWith = (changes: Partial<Values>) => filterOf({ ...call, values: { ...values, ...changes } })
  const newestWith = async (changes: Partial<Values>): Promise<string | undefined> => {
    const page = { limit: 1, order: 'desc', after: null, form: 'row' } as const
    const { entries } = await store.search(filterWith({ ...changes, from: null, to: null }), page, call.signal)
    return entries[0]?.timestamp
  }
  const inUse = CONDITIONS.map((names) => names.filter((name) => values[name] !== null)).filter(
    ({ length }) => length > 0,
  )
  const conditions = inUse.flat()
  const newestAt = await newestWith({})
  if (newestAt !== undefined) return { kept: true, newestAt, conditions, ways: waysTo(newestAt) } satisfies Absence
  const totalWith = async (changes: Partial<Values>): Promise<number> =>
    (await store.histogram(filterWith(changes), 1, call.signal)).total
  const counted = inUse.map(
    async (names): Promise<Way> => ({
      kind: 'without',
      value: names.map((name) => values[name]).at(0) ?? null,
      params: allOf(names, ''),
      total: await totalWith(allOf(names, null)),
    }),
  )
  const { q } = values
  const starred = q === null ? null : widened(q)
  // Awaited together, so that none can reject unobserved after another has failed.
  const [newestOfAll, begun, ...ways] = await Promise.all([
    conditions.length > 0 ? newestWith(allOf(conditions, null)) : undefined,
    starred === null || starred === q ? 0 : totalWith({ q: starred }),
    ...counted,
  ])
  const beginning: Way = { kind: 'beginning', value: starred, params: { q: starred ?? '' }, total: begun }
  const all: Way = { kind: 'without', value: null, params: allOf(conditions, ''), total: null }
  return {
    kept: newestOfAll !== undefined,
    newestAt: null,
    conditions,
    ways: [...(begun > 0 ? [beginning] : []), ...(inUse.length > 1 ? [all] : []), ...ways],
  } satisfies Absence
}

/** The search for what only begins so, or has this id, which no word of a search finds. */
function widened(q: string): string {
  const id = parseGuid(q)
  return id === undefined ? withStars(q) : `id:${id}`
}

const allOf = <Value>(names: readonly ParameterName[], value: Value): Readonly<Record<string, Value>> =>
  Object.fromEntries(names.map((name) => [name, value]))

function waysTo(newest: string): readonly Way[] {
  const at = Date.parse(newest)
  const way = (kind: Way['kind'], from: number, to: string): Way => ({
    kind,
    value: null,
    params: { from: timestampOf(Math.max(0, from)), to },
    total: null,
  })
  // The range is open where its end would lie beyond the last year of a timestamp.
  const until = parseTimestamp(timestampOf(at + HOUR_MS)) ?? ''
  return [way('newest', at - HOUR_MS, until), way('since', at - 1, '')]
}
