import type { EntryRow } from '../../shared/contract/rows.ts'
import type { Page } from '../../shared/log-store/log-store.ts'
import type { Query } from '../../shared/query/ast.ts'
import { phraseOf } from '../../shared/query/clause.ts'
import { lex } from '../../shared/query/lexer.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { isNumber } from '../../shared/query/sort-key.ts'
import type { Term } from '../../shared/query/term.ts'
import { splitWords } from '../../shared/query/words.ts'
import type { EventEntity, StepEntity } from '../../shared/registry/registry.ts'
import type { NameList } from '../schemas/answers.ts'
import { complete, completeName, type Known, type KnownValue } from '../search/complete.ts'
import { eventNamesOf, leafValuesOf, pathsOf } from '../search/paths.ts'
import { SYNTAX } from '../search/syntax.ts'
import { addTerm, removeTerm } from '../search/terms.ts'
import type { Answer, EntryAnswer, EntryCall, Tools } from './call.ts'
import { filterOf } from './filter.ts'
import { invalidParameters } from './problems.ts'

/** A search with a term added or removed, however the term is written in it. */
export const changeQuery: Answer = async ({ values }) => {
  const q = values.q ?? ''
  const less = values.without === null ? q : removeTerm(q, readTerm('without', values.without))
  const isText = parseQuery(less).reading.read === 'text'
  return { q: values.with === null ? less : addTerm(less, readTerm('with', values.with), isText) }
}

/** The forms of a search, by example. */
export const describeSyntax: Answer = async () => ({ items: SYNTAX })

/** The Team's Events and Projects whose name or identifier contains a text, by name. */
export const listNames: Answer = async ({ team, values }, { registry }) => {
  const sought = (values.q ?? '').toLowerCase()
  const isSought = (...texts: readonly string[]): boolean => texts.some((text) => text.toLowerCase().includes(sought))
  const first = <T extends { readonly name: string }>(found: readonly T[]): readonly T[] =>
    found.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, values.limit)
  const events = registry.eventsOf(team).filter(({ identifier, name }) => isSought(identifier, name))
  const projects = registry.projectsOf(team).filter(({ id, name }) => isSought(id, name))
  return {
    events: first(events).map(({ identifier, name }) => ({ identifier, name })),
    projects: first(projects).map(({ id, name }) => ({ id, name })),
  } satisfies NameList
}

type ValuesOf = (entries: readonly EntryRow[]) => readonly KnownValue[]

/** Maximum number of values of a facet that are considered. */
const VALUES_MAX = 1_000
/** Number of the newest entries searched for leaf names, or for values. */
const LOOKED_INTO = 300
/** Shorter beginnings of a name or value are not searched for, as they match too much. */
const SEARCHED_LENGTH_MIN = 3

/** Completions at a position in a search, with names and values from the Team's entries and registry. */
export const completeQuery: EntryAnswer = async (call, tools) => {
  const { caret, type } = call.values
  const q = call.values.q ?? ''
  const known = createKnown(call, tools)
  if (type === 'number') return completeName(q, await known.paths(q, isNumber))
  return await complete(q, Math.min(caret, q.length), known)
}

/** The names and values to complete with. Those from entries are from the newest that the other parameters select. */
function createKnown(call: EntryCall, { store, registry }: Tools): Known {
  const { team, values, signal } = call
  const filter = filterOf({ ...call, values: { ...values, q: null } })
  const newest = (query: Query): Promise<Page> =>
    store.search({ ...filter, query }, { limit: LOOKED_INTO, order: 'desc', after: null, form: 'row' }, signal)
  /** The values in the newest entries; with counts only if there are no other entries. */
  const valuesIn = async (query: Query, valuesOf: ValuesOf): Promise<readonly KnownValue[]> => {
    const { entries, next } = await newest(query)
    return next === null ? valuesOf(entries) : valuesOf(entries).map(({ value }) => ({ value }))
  }
  /** The values of entries that `beginning` finds come first, as rare ones may be missing from the newest entries. */
  const valuesLike = async (typed: string, beginning: Query, valuesOf: ValuesOf, otherwise: Query) => {
    const isSearched = typed.length >= SEARCHED_LENGTH_MIN && splitWords(typed).length > 0
    return joined(isSearched ? await valuesIn(beginning, valuesOf) : [], await valuesIn(otherwise, valuesOf))
  }
  return {
    values: async () => {
      const facets = await store.facets(filter, VALUES_MAX, signal)
      return {
        ...facets,
        event: joined(facets.event, registry.eventsOf(team).map(named)),
        step: joined(facets.step, registry.stepsOf(team).map(named)),
        project: joined(
          facets.project,
          registry.projectsOf(team).map(({ id, name }) => ({ value: id, name })),
        ),
      }
    },
    paths: async (typed, wanted) => {
      const { entries } = await newest(filter.query)
      const name = nameOf(typed)
      // A rare name may be missing from the newest entries, so entries that contain it as a word are searched too.
      const isSearched = typed.includes('.') && name.length >= SEARCHED_LENGTH_MIN
      return pathsOf(isSearched ? [...entries, ...(await newest(wordsOf(name, true))).entries] : entries, wanted)
    },
    leafValues: async (leaf, typed) => {
      const valuesOf: ValuesOf = (entries) => leafValuesOf(entries, leaf)
      const beginning: Query = { type: 'leaf', ...leaf, value: typed, prefix: true }
      const found = await valuesLike(typed, beginning, valuesOf, filter.query)
      if (found.length > 0) return found
      const has: Query = { type: 'leafExists', ...leaf }
      return valuesIn({ type: 'and', queries: [wordsOf(nameOf(leaf.path), false), has] }, valuesOf)
    },
    eventNames: (typed) => {
      const begins: Query = { type: 'equals', field: 'eventName', value: typed, prefix: true }
      const beginning: Query = { type: 'and', queries: [wordsOf(typed, true), begins] }
      return valuesLike(typed, beginning, eventNamesOf, { type: 'exists', field: 'eventName' })
    },
  }
}

/** The counted values, with what else is known of them, and then the other known ones. */
function joined(counted: readonly KnownValue[], known: readonly KnownValue[]): readonly KnownValue[] {
  const others = new Map(known.map((one) => [one.value, one]))
  const first = counted.map((one) => ({ ...others.get(one.value), ...one }))
  for (const { value } of counted) others.delete(value)
  return [...first, ...others.values()]
}

const named = ({ identifier, name }: EventEntity | StepEntity): KnownValue => ({ value: identifier, name })

/** The last segment of a path. */
const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

const wordsOf = (name: string, prefix: boolean): Query => phraseOf(null, splitWords(name), prefix)

/** Parses `field:value` or `field:value*`, each with an optional leading minus. */
function readTerm(path: string, text: string): Term {
  const { lexemes, problem } = lex(text)
  const negated = lexemes[0]?.kind === 'not'
  const [field, value, ...more] = negated ? lexemes.slice(1) : lexemes
  if (problem !== null || field?.kind !== 'field' || value?.kind !== 'value' || more.length > 0)
    throw invalidParameters([{ path, message: 'must be one term such as level:Error or -category:Acme.*' }])
  // Beside a term that does not parse, the whole search would be read as text.
  const { reading } = parseQuery(text)
  if (reading.read === 'text')
    throw invalidParameters([{ path, message: `is no term: ${reading.problem.replace(/\.$/, '')}` }])
  return { field: field.name, value: value.text, prefix: value.star, negated }
}
