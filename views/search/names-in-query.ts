import type { EntryKind } from '../../shared/contract/records.ts'
import type { Query } from '../../shared/query/ast.ts'
import { PHRASE_WORDS_MAX } from '../../shared/query/clause.ts'
import { hasPhrase, splitWords } from '../../shared/query/words.ts'
import type { Entity, Project, Registry } from '../../shared/registry/registry.ts'

/** Maximum number of Projects, Events and Steps, in this order, that one search's words may stand for. */
export const NAMED_MAX = 100
/** How many of each kind are searched. */
const LOOKED_THROUGH_MAX = 2_000

type Condition = Extract<Query, { type: 'equals' }>

/** A Project, an Event or a Step of a Team with the texts that words are matched against. */
interface Named {
  readonly condition: Condition
  readonly texts: readonly (readonly string[])[]
}

type Own = Pick<Registry, 'projectsOf' | 'eventsOf' | 'stepsOf'>

/**
 * Extends the query so that its words, and its conditions on a Project, an Event or a Step, also find the entries of those of the Team whose
 * current names match: of a condition the whole name, in any case, unless its value is an identifier. Stores know only identifiers, because
 * names may change; nor is a Project's id among the words of its entries.
 */
export function withNames(query: Query, team: string, kinds: readonly EntryKind[], registry: Own): Query {
  let left = NAMED_MAX
  let known: readonly Named[] | undefined
  const all = (): readonly Named[] => (known ??= namedOf(team, kinds, registry))
  const extended = (one: Query, named: readonly Named[], isMeant: (named: Named) => boolean): Query => {
    const found = named.filter(isMeant).slice(0, left)
    left -= found.length
    return found.length === 0 ? one : { type: 'or', queries: [one, ...found.map(({ condition }) => condition)] }
  }
  const rewritten = (one: Query): Query => {
    switch (one.type) {
      case 'words': {
        // Several words that are not a phrase are what remains of a long phrase.
        if (one.field !== null || (one.words.length > 1 && !one.phrase)) return one
        return extended(one, all(), ({ texts }) => texts.some((text) => hasPhrase(text, one.words, one.prefix)))
      }
      case 'equals': {
        if (!['project', 'event', 'step'].includes(one.field)) return one
        const own = all().filter(({ condition }) => condition.field === one.field)
        if (own.some(({ condition }) => condition.value === one.value)) return one
        const sought = splitWords(one.value).join(' ')
        if (sought === '') return one
        return extended(one, own, ({ texts: [name = []] }) => {
          const words = name.join(' ')
          return one.prefix ? words.startsWith(sought) : words === sought
        })
      }
      case 'not':
        return { type: 'not', query: rewritten(one.query) }
      case 'and':
      case 'or':
        return { type: one.type, queries: one.queries.map(rewritten) }
      default:
        return one
    }
  }
  return rewritten(query)
}

function namedOf(team: string, kinds: readonly EntryKind[], registry: Own): readonly Named[] {
  const isAsked = (kind: EntryKind): boolean => kinds.length === 0 || kinds.includes(kind)
  return [
    ...(isAsked('application') ? split(registry.projectsOf(team)) : []),
    ...(isAsked('event') ? [...split(registry.eventsOf(team)), ...split(registry.stepsOf(team))] : []),
  ]
}

/** Keyed by the registry's lists, which are replaced on every change. */
const splitBefore = new WeakMap<readonly (Project | Entity)[], readonly Named[]>()

function split(list: readonly (Project | Entity)[]): readonly Named[] {
  const known = splitBefore.get(list)
  if (known !== undefined) return known
  const made = list.slice(0, LOOKED_THROUGH_MAX).map((one): Named => {
    if ('kind' in one) return named(one.kind, one.identifier, [one.name])
    return named('project', one.id, [one.name, one.id])
  })
  splitBefore.set(list, made)
  return made
}

const named = (field: Condition['field'], value: string, texts: readonly string[]): Named => ({
  condition: { type: 'equals', field, value, prefix: false },
  // Up to 100 words of a search are compared with thousands of names, each of which can have hundreds of words.
  texts: texts.map((text) => splitWords(text).slice(0, PHRASE_WORDS_MAX)),
})
