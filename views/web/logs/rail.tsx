import { useState } from 'preact/hooks'
import { countText, visible } from '../../flow-layout/format.ts'
import type { Choice, Choices } from '../../schemas/answers.ts'
import { Button, Icon } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { go, useAddress } from '../ui/use-address.ts'
import { changeSearch } from './change-search.ts'
import { chosenName } from './texts.ts'

/** Maximum number of values that the API counts. */
const COUNTED_MAX = 1_000
/** Trees with at most this many values are open from the start. */
const OPEN_MAX = 24

/** Events, Steps, Projects and categories of the selected entries with counts; a click filters by one. */
export const Rail = ({ sections }: Pick<Choices, 'sections'>) => (
  <div class="rail">
    {sections.map(({ name, size, choices }) => (
      <section key={name} aria-label={name}>
        <h2>{name}</h2>
        {name === 'Categories' && <HideMicrosoft />}
        <Branch choices={choices} open={size <= OPEN_MAX} />
        {size >= COUNTED_MAX && <p class="hint">The {size} with most logs.</p>}
      </section>
    ))}
  </div>
)

/** The categories of .NET's own loggers. */
const MICROSOFT = '-category:Microsoft.*'

function HideMicrosoft() {
  const hidden = useAddress().params['q']?.split(' ').includes(MICROSOFT) === true
  return (
    <button
      type="button"
      class="chip"
      aria-pressed={hidden}
      onClick={() => changeSearch(hidden ? 'without' : 'with', MICROSOFT)}
    >
      Hide Microsoft.*
    </button>
  )
}

interface BranchProps {
  readonly choices: readonly Choice[]
  /** Whether the children are visible. */
  readonly open: boolean
}

/** Maximum number of values of a branch that are shown unasked: those with most logs. */
const SHOWN_MAX = 100

function Branch({ choices, open }: BranchProps) {
  const [all, setAll] = useState(false)
  const isCut = !all && choices.length > SHOWN_MAX
  const shown = isCut ? choices.toSorted((a, b) => b.count - a.count).slice(0, SHOWN_MAX) : choices
  return (
    <ul>
      {shown.map((choice) => (
        <Node key={choice.value} choice={choice} open={open} />
      ))}
      {isCut && (
        <li>
          <Button
            label={`Show ${countText(choices.length - SHOWN_MAX)} more`}
            class="quiet"
            onClick={() => setAll(true)}
          />
        </li>
      )}
    </ul>
  )
}

/** A value with its children; a value without entries is greyed out, not omitted. */
function Node({ choice, ...rest }: Pick<BranchProps, 'open'> & { readonly choice: Choice }) {
  const { name, value, label, count, children } = choice
  const [toggled, setToggled] = useState(false)
  const chosen = useAddress().params[name]
  const on = chosen === value
  const isTree = name === 'category' && children.length > 0
  const open = !isTree || (rest.open || chosen?.startsWith(`${value}.`) === true) !== toggled
  return (
    <li>
      <div class="node">
        {isTree && (
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
        <button
          type="button"
          class={`facet ${count === 0 ? 'none' : ''}`}
          aria-pressed={on}
          title={visible(value)}
          onClick={() => go({ params: { event: undefined, step: undefined, [name]: on ? undefined : value } })}
        >
          <bdi class="cut grow">{visible(label)}</bdi>
          <span class="num">{countText(count)}</span>
        </button>
      </div>
      {open && children.length > 0 && <Branch choices={children} {...rest} />}
    </li>
  )
}

/** The choices made in the rail, each with a button to remove it; an Event or a Step also has the identifier that its logs are sent with. */
export const Chosen = ({ chosen }: Pick<Choices, 'chosen'>) =>
  chosen.length > 0 && (
    <div class="chips">
      {chosen.map(({ name, value, label }) => [
        <button key={name} type="button" class="chip" onClick={() => go({ params: { [name]: undefined } })}>
          <span class="hidden">Remove</span>
          <span class="muted">{chosenName(name)}</span>
          <bdi class="cut">{visible(label)}</bdi>
          <span class="x">
            <Icon name="close" />
          </span>
        </button>,
        TARGETS.includes(name) && (
          <span key={`${name} id`} class="bar mono muted wrap">
            {visible(value)}
            <Copy text={value} label={`Copy the identifier of the ${name}`} />
          </span>
        ),
      ])}
    </div>
  )

/** The names of the choices that event logs are sent to. */
const TARGETS: readonly string[] = ['event', 'step']
