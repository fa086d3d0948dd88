import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { countText, visible } from '../../flow-layout/format.ts'
import type { Completion, QueryReading } from '../../schemas/answers.ts'
import { get, type Params } from '../api/client.ts'
import { Icon, IconButton } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { folderOf } from './facts.ts'
import { SyntaxSheet } from './syntax-sheet.tsx'

interface SearchBoxProps {
  readonly kind: EntryKind
  readonly query: string
  /** How the API interpreted the query. */
  readonly reading: QueryReading | undefined
  /** The list's parameters; completions come from the entries that they select. */
  readonly filter: Params
  readonly onSearch: (query: string) => void
}

interface Asked {
  readonly q: string
  readonly caret: number
}

/** Debounces input, as each request counts values in the store; in milliseconds. */
const REST_MS = 100

/** Completions at the caret of an input, and the keys that select among them. */
function useCompletion(
  input: RefObject<HTMLInputElement>,
  { kind, filter }: SearchBoxProps,
  setDraft: (text: string) => void,
) {
  const [asked, setAsked] = useState<Asked>()
  const [answer, setAnswer] = useState<Completion & { readonly asked: Asked }>()
  const [chosen, setChosen] = useState(-1)
  /** Tab was pressed before the choices arrived. */
  const isEager = useRef(false)
  const choices = (asked && answer?.choices) ?? []
  const isPending = asked !== answer?.asked
  const ask = (next: Asked | undefined): void => {
    setAsked(next)
    setChosen(-1)
    isEager.current = false
  }
  const close = (): void => ask(undefined)
  const look = (): void => {
    const { value: q = '', selectionStart } = input.current ?? {}
    ask(q === '' ? undefined : { q, caret: selectionStart ?? q.length })
  }
  useEffect(() => {
    if (asked === undefined) return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const result = await get<Completion>(
        `/api/${folderOf(kind)}/completion`,
        { ...filter, ...asked },
        controller.signal,
      )
      if (result.ok) setAnswer({ ...result.data, asked })
      else if (!controller.signal.aborted) close()
    }, REST_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [asked])
  useEffect(() => {
    if (isEager.current) take(0)
  }, [answer])
  const write = (text: string, caret = text.length): void => {
    setDraft(text)
    // The caret can only be set once the text has been rendered; then the next choices can be requested.
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.setSelectionRange(caret, caret)
      look()
    })
  }
  const take = (index: number): void => {
    const choice = choices[index]
    if (answer === undefined || choice === undefined || isPending) return
    const { from, to, asked } = answer
    close()
    write(asked.q.slice(0, from) + choice.insert + asked.q.slice(to), from + choice.insert.length)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const run: (() => void) | undefined = {
      ...(choices.length > 0 && {
        ArrowDown: () => setChosen((chosen + 1) % choices.length),
        ArrowUp: () => setChosen((chosen <= 0 ? choices.length : chosen) - 1),
      }),
      Tab: () => {
        if (isPending) isEager.current = true
        else take(Math.max(0, chosen))
      },
      Escape: close,
      ...(chosen === -1 ? {} : { Enter: () => take(chosen) }),
    }[event.key]
    if (run === undefined || event.isComposing || event.shiftKey) return
    if (choices.length === 0 && !(asked && isPending)) return
    event.preventDefault()
    run()
  }
  return { choices, chosen, close, look, write, take, onKeyDown }
}

/** The search in the API's grammar, with completions at the caret. Enter submits it. */
export function SearchBox(props: SearchBoxProps) {
  const { query, reading, onSearch } = props
  const input = useRef<HTMLInputElement>(null)
  const [draft, setDraft] = useState(query)
  // A layout effect: a later effect would overwrite what is typed in the meantime.
  useLayoutEffect(() => setDraft(query), [query])
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
        aria-controls="search-choices"
        aria-autocomplete="list"
        aria-activedescendant={chosen === -1 ? undefined : `search-${chosen}`}
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
        <IconButton
          icon="close"
          label="Clear the search"
          onClick={() => {
            setDraft('')
            onSearch('')
            input.current?.focus()
          }}
        />
      )}
      <Popover label="?" name="How to search" class="button quiet icon small" align="end">
        {() => (
          <SyntaxSheet onTake={(example) => write(draft.trim() === '' ? example : `${draft.trimEnd()} ${example}`)} />
        )}
      </Popover>
      <div id="search-choices" class={choices.length > 0 ? 'menu' : 'hidden'} role="listbox" aria-label="Completions">
        {choices.map((choice, index) => (
          <div
            key={choice.insert}
            id={`search-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onPointerDown={(event) => {
              event.preventDefault()
              take(index)
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

/** Reports that the search is not a valid query, and where it fails. */
export function SearchedAsText({
  query,
  reading,
}: {
  readonly query: string
  readonly reading: QueryReading | undefined
}) {
  if (reading?.read !== 'text') return null
  const { problem, at } = reading
  return (
    <div class="notice warn as-text" role="status">
      <p>
        <b>Searched as text.</b> {visible(problem)}
      </p>
      <bdi class="mono">
        {visible(query.slice(0, at))}
        <mark>{visible(query.slice(at)) || '⎵'}</mark>
      </bdi>
    </div>
  )
}
