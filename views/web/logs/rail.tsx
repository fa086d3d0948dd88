import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { EntryKind, FacetName, FacetValue } from '../api/types.ts'
import { countText, visible } from '../lib/format.ts'
import { Icon } from '../ui/icon.tsx'
import { type CategoryNode, categoryTree } from './categories.ts'
import type { AddressParams } from './filters.ts'
import { hasTerm, type Term } from './terms.ts'
import { type FacetLists, NOT_COUNTED, VALUES_MAX } from './use-facets.ts'

export interface RailProps {
  readonly kind: EntryKind
  readonly facets: FacetLists
  readonly registry: TeamRegistry | undefined
  readonly params: AddressParams
  readonly onChoose: (params: Readonly<Record<string, string | undefined>>) => void
  readonly onTerm: (term: Term) => void
}

/** What the Team has, as `GET /api/team` tells; archived things as well. */
export interface TeamRegistry {
  readonly events: readonly (Target & { readonly steps: readonly Target[] })[]
  /** Steps that stand alone. */
  readonly steps: readonly Target[]
  readonly projects: readonly { readonly id: string; readonly name: string }[]
}

interface Target {
  readonly identifier: string
  readonly name: string
}

/** What the entries in sight belong to, with counts; a click shows that alone. */
export const Rail = (props: RailProps) => (
  <div class="rail">
    {props.kind === 'event' ? (
      <Targets {...props} />
    ) : (
      <>
        <Projects {...props} />
        <Categories {...props} />
      </>
    )}
  </div>
)

const Section = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <section aria-label={name}>
    <h2>{name}</h2>
    {children}
  </section>
)

interface ChoiceProps {
  readonly label: string
  readonly title?: string
  readonly count: number | undefined
  readonly on: boolean
  readonly onClick: () => void
}

/** A value of a facet; one without entries is greyed, not left out. */
const Choice = ({ label, title, count, on, onClick }: ChoiceProps) => (
  <button type="button" class={`facet ${count === 0 ? 'none' : ''}`} aria-pressed={on} title={title} onClick={onClick}>
    <bdi class="cut grow">{visible(label)}</bdi>
    <span class="num">{count === undefined ? '' : countText(count)}</span>
  </button>
)

/** Undefined as long as nothing was counted. */
const countOf = (facets: FacetLists, name: FacetName, value: string): number | undefined =>
  facets === NOT_COUNTED ? undefined : (facets[name].find((one) => one.value === value)?.count ?? 0)

/** Events with their Steps, in the registry's order; then what only the entries still know. */
function Targets({ facets, registry, params, onChoose }: RailProps) {
  const { event: events, step: steps } = facets
  const known = registry ?? { events: [], steps: [] }
  const knownEvents = new Set(known.events.map(({ identifier }) => identifier))
  const knownSteps = new Set([...known.steps, ...known.events.flatMap((one) => one.steps)].map((one) => one.identifier))
  const gone = (values: readonly FacetValue[], names: ReadonlySet<string>) =>
    values
      .filter(({ value }) => !names.has(value))
      .map(({ value, name }) => ({ identifier: value, name: name ?? value }))
  const choice = (name: 'event' | 'step', { identifier, name: label }: Target) => (
    <Choice
      label={label}
      title={identifier}
      count={countOf(facets, name, identifier)}
      on={params[name] === identifier}
      onClick={() =>
        onChoose({ event: undefined, step: undefined, [name]: params[name] === identifier ? undefined : identifier })
      }
    />
  )
  const stepList = (list: readonly Target[]) =>
    list.length > 0 && (
      <ul>
        {list.map((step) => (
          <li key={step.identifier}>{choice('step', step)}</li>
        ))}
      </ul>
    )
  const alone = [...known.steps, ...gone(steps, knownSteps)]
  return (
    <Section name="Events and steps">
      <ul>
        {[...known.events, ...gone(events, knownEvents).map((one) => ({ ...one, steps: [] }))].map((event) => (
          <li key={event.identifier}>
            {choice('event', event)}
            {stepList(event.steps)}
          </li>
        ))}
      </ul>
      {alone.length > 0 && (
        <>
          <h3>Steps on their own</h3>
          {stepList(alone)}
        </>
      )}
      <Most values={steps} />
    </Section>
  )
}

function Projects({ facets, registry, params, onChoose }: RailProps) {
  const { project: counts } = facets
  const known = registry?.projects ?? []
  const ids = new Set(known.map(({ id }) => id))
  const gone = counts
    .filter(({ value }) => !ids.has(value))
    .map(({ value, name }) => ({ id: value, name: name ?? value }))
  return (
    <Section name="Projects">
      <ul>
        {[...known, ...gone].map(({ id, name }) => (
          <li key={id}>
            <Choice
              label={name}
              title={id}
              count={countOf(facets, 'project', id)}
              on={params['project'] === id}
              onClick={() => onChoose({ project: params['project'] === id ? undefined : id })}
            />
          </li>
        ))}
      </ul>
      <Most values={counts} />
    </Section>
  )
}

/** What .NET's own loggers write under. */
const MICROSOFT: Term = { field: 'category', value: 'Microsoft.', prefix: true, negated: true }
/** Trees with so many nodes at most are open from the start. */
const OPEN_MAX = 24

function Categories({ facets, params, onChoose, onTerm }: RailProps) {
  const hidden = hasTerm(params['q'] ?? '', MICROSOFT)
  const nodes = categoryTree(facets.category)
  return (
    <Section name="Categories">
      <button type="button" class="chip" aria-pressed={hidden} onClick={() => onTerm(MICROSOFT)}>
        Hide Microsoft.*
      </button>
      <Branch
        nodes={nodes}
        open={facets.category.length <= OPEN_MAX}
        chosen={params['category']}
        onChoose={(category) => onChoose({ category: params['category'] === category ? undefined : category })}
      />
      <Most values={facets.category} />
    </Section>
  )
}

interface BranchProps {
  readonly nodes: readonly CategoryNode[]
  readonly open: boolean
  readonly chosen: string | undefined
  readonly onChoose: (category: string) => void
}

const Branch = ({ nodes, ...rest }: BranchProps) => (
  <ul>
    {nodes.map((node) => (
      <Node key={node.category} node={node} {...rest} />
    ))}
  </ul>
)

function Node({ node, ...rest }: Omit<BranchProps, 'nodes'> & { readonly node: CategoryNode }) {
  const { category, label, count, children } = node
  const [toggled, setToggled] = useState(false)
  const holdsChosen = rest.chosen?.startsWith(`${category}.`) === true
  const open = (rest.open || holdsChosen) !== toggled
  return (
    <li>
      <div class="node">
        {children.length > 0 && (
          <button
            type="button"
            class="twig"
            aria-expanded={open}
            aria-label={`Below ${visible(label)}`}
            onClick={() => setToggled(!toggled)}
          >
            <Icon name={open ? 'down' : 'right'} />
          </button>
        )}
        <Choice
          label={label}
          title={category}
          count={count}
          on={rest.chosen === category}
          onClick={() => rest.onChoose(category)}
        />
      </div>
      {open && children.length > 0 && <Branch nodes={children} {...rest} />}
    </li>
  )
}

const Most = ({ values }: { readonly values: readonly FacetValue[] }) =>
  values.length >= VALUES_MAX ? <p class="hint">The {VALUES_MAX} with most logs.</p> : null
