import type { FacetName, Facets, LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Choice, Choices } from '../schemas/answers.ts'
import type { Call, EntryAnswer, EntryCall } from './call.ts'
import { filterOf } from './filter.ts'
import { groupText } from './groups.ts'
import { nameOf } from './names.ts'

/** The parameters that narrow one kind of values. */
type Narrowing = FacetName | 'levelMax'

type Section = Choices['sections'][number]

/** Maximum number of values counted per kind: those of the registry beyond it would have a count of 0. */
const VALUES_MAX = 1_000

const NAMES = ['event', 'step', 'project', 'category'] as const
/** Event and Step exclude each other: choosing a Step replaces its Event. */
const TARGETS: readonly FacetName[] = ['event', 'step']

/**
 * The filter values shown beside a list. A choice does not narrow the values of its own kind, so that the alternatives stay visible; each
 * kind in use costs another read of the store.
 */
export const choicesOfEntries: EntryAnswer = async (call, { store, registry }) => {
  const { values } = call
  const read = (without: readonly Narrowing[]): Promise<Facets> => {
    const none = Object.fromEntries(without.map((name) => [name, null]))
    return store.facets(filterOf({ ...call, values: { ...values, ...none } }), VALUES_MAX, call.signal)
  }
  const all = read([])
  const apart = async (...names: readonly Narrowing[]): Promise<Facets> =>
    names.some((name) => values[name] !== null) ? read(names) : all
  const [{ level: matching }, { level }, { environment }] = await Promise.all([
    all,
    apart('level', 'levelMax'),
    apart('environment'),
  ])
  const sections =
    call.kind === 'event'
      ? targetSections(await apart(...TARGETS), registry, call)
      : [
          projectSection((await apart('project')).project, registry, call),
          categorySection((await apart('category')).category),
        ]
  return {
    total: matching.reduce((sum, { count }) => sum + count, 0),
    level,
    environment,
    sections,
    chosen: [...chosenOf(call), ...(await chosenGroups(call, store))],
  } satisfies Choices
}

type Counts = Facets[FacetName]

/** The values that occur in entries but not in the registry. */
function gone(counts: Counts, known: readonly { readonly value: string }[]): Counts {
  const values = new Set(known.map(({ value }) => value))
  return counts.filter(({ value }) => !values.has(value))
}

/** Creates the function that makes a choice of a value, with its number of entries. */
function choicesOf(name: 'event' | 'step' | 'project', counts: Counts, names: Call['names']) {
  const byValue = new Map(counts.map(({ value, count }) => [value, count]))
  return (value: string, children: readonly Choice[] = []): Choice => {
    return { name, value, label: nameOf(name, value, names), count: byValue.get(value) ?? 0, children }
  }
}

/** Events with their Steps in registry order, and Steps on their own; then those that only entries still name. */
function targetSections(facets: Facets, registry: Registry, { team, names }: Call): readonly Section[] {
  const [stepOf, eventOf] = [choicesOf('step', facets.step, names), choicesOf('event', facets.event, names)]
  const stepsOf = (event: string | null): readonly Choice[] =>
    names.stepsOf(event).map(({ identifier }) => stepOf(identifier))
  const events = registry.eventsOf(team).map(({ identifier }) => eventOf(identifier, stepsOf(identifier)))
  const known = [...stepsOf(null), ...events.flatMap(({ children }) => children)]
  const alone = [...stepsOf(null), ...gone(facets.step, known).map(({ value }) => stepOf(value))]
  return [
    {
      name: 'Events and steps',
      size: Math.max(facets.event.length, facets.step.length),
      choices: [...events, ...gone(facets.event, events).map(({ value }) => eventOf(value, stepsOf(value)))],
    },
    ...(alone.length === 0 ? [] : [{ name: 'Steps on their own', size: 0, choices: alone }]),
  ]
}

function projectSection(counts: Counts, registry: Registry, { team, names }: Call): Section {
  const projectOf = choicesOf('project', counts, names)
  const known = registry.projectsOf(team).map(({ id }) => projectOf(id))
  const choices = [...known, ...gone(counts, known).map(({ value }) => projectOf(value))]
  return { name: 'Projects', size: counts.length, choices }
}

const categorySection = (counts: Counts): Section => ({
  name: 'Categories',
  size: counts.length,
  choices: categoryTree(counts),
})

const chosenOf = ({ values, names }: Call) =>
  NAMES.flatMap((name) => {
    const value = values[name]
    if (value === null) return []
    return [{ name, value, label: nameOf(name, value, names) }]
  })

/** The chosen groups, each labelled from one of its logs. */
async function chosenGroups(call: EntryCall, store: LogStoreReader): Promise<Choices['chosen']> {
  const names = (['template', 'exceptionGroup'] as const).filter((name) => call.values[name] !== null)
  if (names.length === 0) return []
  const { entries } = await store.search(filterOf(call), { limit: 1, order: 'desc', after: null }, call.signal)
  return names.map((name) => {
    const value = call.values[name] ?? ''
    return { name, value, label: (entries[0] && groupText(name, entries[0])?.label) ?? value }
  })
}

interface Draft {
  /** Null at the root, which is no category. */
  readonly category: string | null
  readonly children: Map<string, Draft>
  /** Entries of exactly this category. */
  own: number
  count: number
}

/** Deeper levels are not split further. */
const DEPTH_MAX = 12

/**
 * The tree of dotted categories, most entries first. A category such as `Acme.Billing` counts the entries of all below it; its label is the
 * part below its parent: `Billing`, or `Billing.Jobs` when nothing else starts with `Billing`.
 */
export function categoryTree(values: readonly { readonly value: string; readonly count: number }[]): readonly Choice[] {
  const root = draft(null)
  for (const { value, count } of values) {
    let node = root
    for (const part of partsOf(value)) {
      node = child(node, part)
      node.count += count
    }
    node.own += count
  }
  return nodesOf(root)
}

function partsOf(category: string): readonly string[] {
  const parts = category.split('.')
  return parts.length <= DEPTH_MAX ? parts : [...parts.slice(0, DEPTH_MAX - 1), parts.slice(DEPTH_MAX - 1).join('.')]
}

const draft = (category: string | null): Draft => ({ category, children: new Map(), own: 0, count: 0 })

function child(node: Draft, part: string): Draft {
  const found = node.children.get(part)
  if (found !== undefined) return found
  const made = draft(node.category === null ? part : `${node.category}.${part}`)
  node.children.set(part, made)
  return made
}

/** A part without a name, as in `Acme..Jobs` or `Acme.`, gives its place to those below it; its own entries count for the part above. */
const nodesOf = ({ category, children }: Draft): readonly Choice[] =>
  [...children.values()]
    .flatMap((one) =>
      hasName(one) || (category === null && one.own > 0) ? [nodeOf(one, category)] : nodesOf({ ...one, category }),
    )
    .sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))

const hasName = ({ category }: Draft): boolean => /[^.]$/s.test(category ?? '')

function nodeOf(node: Draft, above: string | null): Choice {
  const [only, ...others] = node.children.values()
  if (only !== undefined && others.length === 0 && node.own === 0) return nodeOf(only, above)
  const value = node.category ?? ''
  const label = above === null ? value : value.slice(above.length + 1)
  return { name: 'category', value, label, count: node.count, children: nodesOf(node) }
}
