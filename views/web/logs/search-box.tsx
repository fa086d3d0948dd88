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

/** The search in the grammar of the API, with what can come at the caret. What is typed is searched for on Enter. */
export function SearchBox({ query, reading, values, paths, onSearch }: SearchBoxProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [draft, setDraft] = useState(query)
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, setChosen] = useState(-1)
  useEffect(() => setDraft(query), [query])

  const close = (): void => {
    setCompletion(undefined)
    setChosen(-1)
  }
  const look = (): void => {
    const { value = '', selectionStart } = input.current ?? {}
    setCompletion(complete(value, selectionStart ?? value.length, values, paths))
    setChosen(-1)
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
    const { text, caret } = applyChoice(draft, completion, choice)
    write(text, caret)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const { choices = [] } = completion ?? {}
    const run = {
      ArrowDown: () => setChosen((chosen + 1) % choices.length),
      ArrowUp: () => setChosen((chosen <= 0 ? choices.length : chosen) - 1),
      Tab: () => take(choices[Math.max(0, chosen)]),
      Escape: close,
      ...(chosen === -1 ? {} : { Enter: () => take(choices[chosen]) }),
    }[event.key]
    if (run === undefined || choices.length === 0 || event.shiftKey) {
      if (event.key === 'Escape') input.current?.blur()
      return
    }
    event.preventDefault()
    run()
  }
  const open = completion !== undefined
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        close()
        onSearch(draft.trim())
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        id="search"
        class="input mono"
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded={open}
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
      <div id={`${id}-choices`} class={open ? 'menu' : 'hidden'} role="listbox" aria-label="Completions">
        {completion?.choices.map((choice, index) => (
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
    <div class="notice warn" role="status">
      <b>Searched as text.</b>
      <span>{visible(problem)}</span>
      <bdi class="mono cut">
        {begin > 0 && '…'}
        {visible(query.slice(begin, at))}
        <mark>{visible(query.slice(at, at + AROUND)) || '⎵'}</mark>
        {at + AROUND < query.length && '…'}
      </bdi>
    </div>
  )
}
