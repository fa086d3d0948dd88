import { useEffect, useRef, useState } from 'preact/hooks'
import { FIELDS, LEAF_FAMILIES } from '../../../shared/query/fields.ts'

/** What is not a field of its own; docs/query.md tells all of it. */
const FORMS: readonly (readonly [example: string, help: string])[] = [
  ['timeout', 'The word in the message, the exception or the payload, in any case.'],
  ['"connection refused"', 'The words one after the other.'],
  ['time*', 'Words that begin so.'],
  ['a OR b', 'Either; a b and a AND b find both.'],
  ['-timeout', 'Without it; also NOT timeout.'],
  ['(a OR b) -c', 'Groups.'],
  ['exception:*', 'Any value.'],
  ['eventId:[1 TO 5]', 'From 1 to 5; * leaves an end open.'],
]

const ROWS = [
  ...FORMS,
  ...[...FIELDS, ...LEAF_FAMILIES].map(({ name, aliases, help, example }) => {
    const others = aliases.length === 0 ? '' : ` Also ${aliases.map((alias) => `${alias}:`).join(' ')}`
    return [example, `${help}${others}`, name] as const
  }),
]

/** All that a search can say; a click writes the example into the search. */
export function SyntaxSheet({ onTake }: { readonly onTake: (example: string) => void }) {
  const [part, setPart] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const shown = ROWS.filter((row) => row.join(' ').toLowerCase().includes(part.trim().toLowerCase()))
  return (
    <div class="sheet">
      <input
        class="input"
        type="search"
        placeholder="Find in the syntax"
        aria-label="Find in the syntax"
        value={part}
        onInput={({ currentTarget }) => setPart(currentTarget.value)}
        ref={input}
      />
      <dl class="syntax">
        {shown.map(([example, help]) => (
          <div key={example}>
            <dt>
              <button type="button" class="mono" onClick={() => onTake(example)}>
                {example}
              </button>
            </dt>
            <dd>{help}</dd>
          </div>
        ))}
      </dl>
      {shown.length === 0 && <p class="muted">Nothing about “{part}”.</p>}
      <p class="hint">Capitals matter in values and in AND, OR, NOT. What is no query is searched as text.</p>
    </div>
  )
}
