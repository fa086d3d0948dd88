import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Syntax } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'

/** All forms of a search; a click copies an example into the search box. */
export function SyntaxSheet({ onTake }: { readonly onTake: (example: string) => void }) {
  const [part, setPart] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => input.current?.focus(), [])
  const { data } = useFetch<Syntax>('/api/query/syntax')
  const shown = data?.items.filter(({ example, help }) =>
    `${example} ${help}`.toLowerCase().includes(part.trim().toLowerCase()),
  )
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
        {shown?.map(({ example, help }) => (
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
      {shown?.length === 0 && <p class="muted">Nothing about “{part}”.</p>}
      <p class="hint">Capitals matter in values and in AND, OR, NOT. What is no query is searched as text.</p>
    </div>
  )
}
