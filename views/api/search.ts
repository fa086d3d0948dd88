import type { EntryKind } from '../../shared/contract/records.ts'
import { successBody } from '../../shared/http/answer.ts'
import type { Facets } from '../../shared/log-store/log-store.ts'
import { lex } from '../../shared/query/lexer.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import type { Term } from '../../shared/query/term.ts'
import type { EventEntity, StepEntity } from '../../shared/registry/registry.ts'
import { complete, type KnownValue } from '../search/complete.ts'
import { pathsOf } from '../search/paths.ts'
import { SYNTAX } from '../search/syntax.ts'
import { addTerm, removeTerm } from '../search/terms.ts'
import type { Answer } from './call.ts'
import { entryFilter } from './filter.ts'
import { invalidParameters } from './problems.ts'

/** A search with a term added to it or taken away, whichever way it is written. */
export const changeQuery: Answer = async ({ values }) => {
  const q = values.q ?? ''
  const less = values.without === null ? q : removeTerm(q, readTerm('without', values.without))
  const isText = parseQuery(less).reading.read === 'text'
  return successBody({ q: values.with === null ? less : addTerm(less, readTerm('with', values.with), isText) })
}

/** The forms of a search, by examples. */
export const describeSyntax: Answer = async () => successBody({ items: SYNTAX })

type Counted = Facets[keyof Facets][number]

/** The most values of a facet that are looked through. */
const VALUES_MAX = 100
/** Entries that are looked into for names of leaves. */
const LOOKED_INTO = 30

/** Completions at a place of a search, with the names and values that the Team's entries and its registry have. */
export const completeQuery =
  (kind: EntryKind): Answer =>
  async (call, { store, registry }) => {
    const { team, values, signal } = call
    const { filter } = entryFilter({ ...call, values: { ...values, q: null } }, [kind])
    const known = (counted: readonly Counted[], own: readonly KnownValue[]): readonly KnownValue[] => {
      const all = new Map(own.map((one) => [one.value, one]))
      const first = counted.map((one) => ({ ...all.get(one.value), ...one }))
      for (const { value } of counted) all.delete(value)
      return [...first, ...all.values()]
    }
    const named = (entities: readonly (StepEntity | EventEntity)[]): readonly KnownValue[] =>
      entities.map(({ identifier, name }) => ({ value: identifier, name }))
    const q = values.q ?? ''
    return successBody(
      await complete(q, Math.min(values.caret, q.length), {
        values: async () => {
          const facets = await store.facets(filter, VALUES_MAX, signal)
          return {
            ...facets,
            event: known(facets.event, named(registry.eventsOf(team))),
            step: known(facets.step, named(registry.stepsOf(team))),
            project: known(
              facets.project,
              registry.projectsOf(team).map(({ id, name }) => ({ value: id, name })),
            ),
          }
        },
        paths: async () => {
          const page = { limit: LOOKED_INTO, order: 'desc', after: null, form: 'row' } as const
          return pathsOf((await store.search(filter, page, signal)).entries)
        },
      }),
    )
  }

/** Reads `field:value`, `field:value*` and either with a minus before it. */
function readTerm(path: string, text: string): Term {
  const { lexemes, problem } = lex(text)
  const negated = lexemes[0]?.kind === 'not'
  const [field, value, ...more] = negated ? lexemes.slice(1) : lexemes
  if (problem !== null || field?.kind !== 'field' || value?.kind !== 'value' || more.length > 0)
    throw invalidParameters([{ path, message: 'must be one term such as level:Error or -category:Acme.*' }])
  return { field: field.name, value: value.text, prefix: value.star, negated }
}
