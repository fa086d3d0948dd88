import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { QueryReading } from '../api/types.ts'
import { countText, visible } from '../lib/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Popover } from '../ui/popover.tsx'
import { applyChoice, type Choice, type Completion, complete, type KnownValues } from './complete.ts'
import { SyntaxSheet } from './syntax-sheet.tsx'

export interface SearchBoxProps {
  readonly query: string
  /** How the API read the query. */
  readonly reading: QueryReading | undefined
  readonly values: KnownValues
  /** Names of leaves that the entries in sight have. */
  readonly paths: () => readonly string[]
  readonly onSearch: (query: string) => void
}

/** What can come at the caret of an input, and the keys that choose among it. */
function useCompletion(
  input: RefObject<HTMLInputElement>,
  { values, paths }: SearchBoxProps,
  setDraft: (text: string) => void,
) {
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, setChosen] = useState(-1)
  const choices = completion?.choices ?? []
  const offer = (next: Completion | undefined): void => {
    setCompletion(next)
    setChosen(-1)
  }
  const close = (): void => offer(undefined)
  const look = (): void => {
    const { value = '', selectionStart } = input.current ?? {}
    offer(complete(value, selectionStart ?? value.length, values, paths))
  }
  const write = (text: string, caret = text.length): void => {
    setDraft(text)
    // The caret can be set once the text is there, and the next thing can be offered then.
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.setSelectionRange(caret, caret)
      look()
    })
  }
  const take = (choice: Choice | undefined): void => {
    if (completion === undefined || choice === undefined) return
    const { text, caret } = applyChoice(input.current?.value ?? '', completion, choice)
    close()
    write(text, caret)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const run: (() => void) | undefined = {
      ArrowDown: () => setChosen((chosen + 1) % choices.length),
      ArrowUp: () => setChosen((chosen <= 0 ? choices.length : chosen) - 1),
      Tab: () => take(choices[Math.max(0, chosen)]),
      Escape: close,
      ...(chosen === -1 ? {} : { Enter: () => take(choices[chosen]) }),
    }[event.key]
    if (choices.length === 0 || event.shiftKey) {
      if (event.key === 'Escape') input.current?.blur()
    } else if (run !== undefined) {
      event.preventDefault()
      run()
    }
  }
  return { choices, chosen, close, look, write, take, onKeyDown }
}

/** The search in the grammar of the API, with what can come at the caret. What is typed is searched for on Enter. */
export function SearchBox(props: SearchBoxProps) {
  const { query, reading, onSearch } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [draft, setDraft] = useState(query)
  useEffect(() => setDraft(query), [query])
  const { choices, chosen, close, look, write, take, onKeyDown } = useCompletion(input, props, setDraft)
  const submit = (event: Event): void => {
    event.preventDefault()
    close()
    onSearch(draft.trim())
  }
  return (
    <form class="search" onSubmit={submit}>
      <Icon name="search" />
      <input
        ref={input}
        id="search"
        class="input mono"
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-choices`}
        aria-autocomplete="list"
        aria-activedescendant={chosen === -1 ? undefined : `${id}-${chosen}`}
        aria-invalid={reading?.read === 'text' && draft === query ? 'true' : undefined}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder='timeout  level:>=error  payload.order.id:4711  -"health check"'
        value={draft}
        onInput={(event) => {
          setDraft(event.currentTarget.value)
          look()
        }}
        onClick={look}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      {draft !== '' && (
        <button
          type="button"
          class="button quiet icon small"
          aria-label="Clear the search"
          onClick={() => {
            setDraft('')
            onSearch('')
            input.current?.focus()
          }}
        >
          <Icon name="close" />
        </button>
      )}
      <Popover label="?" name="How to search" class="button quiet icon small" align="end">
        {() => (
          <SyntaxSheet onTake={(example) => write(draft.trim() === '' ? example : `${draft.trimEnd()} ${example}`)} />
        )}
      </Popover>
      <div id={`${id}-choices`} class={choices.length > 0 ? 'menu' : 'hidden'} role="listbox" aria-label="Completions">
        {choices.map((choice, index) => (
          <div
            key={choice.insert}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerDown={(event) => {
              event.preventDefault()
              take(choice)
            }}
          >
            <bdi class="mono cut">{visible(choice.label)}</bdi>
            <span class="muted small cut grow">{visible(choice.help ?? '')}</span>
            {choice.count !== undefined && <span class="badge">{countText(choice.count)}</span>}
          </div>
        ))}
      </div>
    </form>
  )
}

const AROUND = 40

/** Says that the search is no query, and where. */
export function SearchedAsText({
  query,
  reading,
}: {
  readonly query: string
  readonly reading: QueryReading | undefined
}) {
  if (reading?.read !== 'text') return null
  const { problem, at } = reading
  const begin = Math.max(0, at - AROUND)
  return (
    <div class="notice warn as-text" role="status">
      <p>
        <b>Searched as text.</b> {visible(problem)}
      </p>
      <bdi class="mono">
        {begin > 0 && '…'}
        {visible(query.slice(begin, at))}
        <mark>{visible(query.slice(at, at + AROUND)) || '⎵'}</mark>
        {at + AROUND < query.length && '…'}
      </bdi>
    </div>
  )
}
