import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import { SEARCH_PARAMETERS } from '../../schemas/list-parameters.ts'
import type { SavedSearch, SavedSearches } from '../../schemas/team.ts'
import { type Result, send } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { pick } from '../lib/address.ts'
import { Button, Icon } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { currentAddress, hrefTo } from '../ui/use-address.ts'
import { selectionOf } from './filters.ts'
import { SEARCHES } from './texts.ts'

const PATH = '/api/team/searches'

export const useSavedSearches = (on = true) => useFetch<SavedSearches>(on ? PATH : null)

/** The address of a saved search, without filters of the previous one. */
export const searchPatch = ({ page, params }: Pick<SavedSearch, 'page' | 'params'>) => ({
  path: [page],
  params: { environment: undefined, from: undefined, to: undefined, ...params },
})

interface SavedMenuProps {
  readonly page: SavedSearch['page']
  /** The name of a watch of the current search; undefined for the search itself. */
  readonly watchName?: string | undefined
}

/** The Team's saved searches, and a form to save the current one. */
export const SavedMenu = (props: SavedMenuProps) => (
  <Popover label={SEARCHES.menu} title={SEARCHES.title} align="end">
    {(close) => <Menu {...props} close={close} />}
  </Popover>
)

/** A search about to be renamed or deleted. */
interface Asked {
  readonly id: string
  readonly to: 'rename' | 'delete'
}

function Menu({ page, watchName, close }: SavedMenuProps & { readonly close: () => void }) {
  const { data, problem, reload } = useSavedSearches()
  const [asked, setAsked] = useState<Asked>()
  const root = useRef<HTMLDivElement>(null)
  /** The form that goes had the focus. */
  const leave = (): void => {
    setAsked(undefined)
    root.current?.focus()
  }
  const changed = (): void => {
    leave()
    reload()
  }
  return (
    <div class="stack menu-form" ref={root} tabIndex={-1}>
      {problem && <p class="error">{problem.message}</p>}
      {data?.items.length === 0 && <p class="muted">{SEARCHES.none}</p>}
      <ul>
        {data?.items.map((search) =>
          asked?.id === search.id ? (
            <li key={search.id}>
              <Change search={search} to={asked.to} onDone={changed} onCancel={leave} />
            </li>
          ) : (
            <li key={search.id} class="node">
              <a class="grow" href={hrefTo(searchPatch(search))} onClick={close}>
                <bdi class="cut">{visible(search.name)}</bdi>
              </a>
              {(['rename', 'delete'] as const).map((to) => (
                <Button
                  key={to}
                  class="quiet small"
                  aria-label={`${SEARCHES[to]} ${visible(search.name)}`}
                  onClick={() => setAsked({ id: search.id, to })}
                >
                  {to === 'delete' ? <Icon name="close" /> : SEARCHES[to]}
                </Button>
              ))}
            </li>
          ),
        )}
      </ul>
      <NameForm
        label={SEARCHES.saveAs}
        submit={SEARCHES.save}
        run={(name) => send('POST', PATH, { name, page, params: pick(currentAddress().params, SEARCH_PARAMETERS) })}
        onDone={reload}
      />
      {page !== 'flows' && (
        <a class="button small" href={watchHref(page, watchName)} onClick={close}>
          {SEARCHES.watch}
        </a>
      )}
    </div>
  )
}

/** The address of a new watch on the logs that the search selects. */
const watchHref = (page: SavedSearch['page'], name: string | undefined): string =>
  hrefTo({ path: ['watches'], params: { ...selectionOf(currentAddress().params), new: page, name } })

interface ChangeProps {
  readonly search: SavedSearch
  readonly to: Asked['to']
  readonly onDone: () => void
  readonly onCancel: () => void
}

function Change({ search: { id, name }, to, onDone, onCancel }: ChangeProps) {
  const path = `${PATH}/${id}`
  return to === 'rename' ? (
    <NameForm
      label={SEARCHES.newName}
      submit={SEARCHES.rename}
      value={name}
      run={(next) => send('PATCH', path, { name: next })}
      onDone={onDone}
      onCancel={onCancel}
    />
  ) : (
    <NameForm
      label={SEARCHES.deleteIt(visible(name))}
      submit={SEARCHES.delete}
      value={null}
      run={() => send('DELETE', path)}
      onDone={onDone}
      onCancel={onCancel}
    />
  )
}

interface NameFormProps {
  readonly label: string
  readonly submit: string
  /** The initial name; null if no name is needed. */
  readonly value?: string | null
  readonly run: (name: string) => Promise<Result<unknown>>
  readonly onDone: () => void
  readonly onCancel?: () => void
}

/** Asks for a name, and shows in place why it was refused. */
function NameForm({ label, submit, value = '', run, onDone, onCancel }: NameFormProps) {
  const [problem, setProblem] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const isBusy = useRef(false)
  useLayoutEffect(() => {
    if (onCancel !== undefined) form.current?.querySelector<HTMLElement>('input, [type=submit]')?.focus()
  }, [])
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (isBusy.current) return
    isBusy.current = true
    const input = form.current?.querySelector('input')
    const answer = await run(input?.value ?? '')
    isBusy.current = false
    if (!answer.ok) return setProblem(answer.problem.message)
    if (input) input.value = ''
    setProblem('')
    onDone()
  }
  const id = `search-name-${submit}`
  return (
    <form class="field" ref={form} onSubmit={onSubmit}>
      {value === null ? <p>{label}</p> : <label for={id}>{label}</label>}
      <div class="node">
        {value !== null && (
          <input id={id} class="input" defaultValue={value} required autocomplete="off" maxLength={200} />
        )}
        <button type="submit" class={`button small ${value === null ? 'danger' : ''}`}>
          {submit}
        </button>
        {onCancel && <Button label={SEARCHES.cancel} class="quiet small" onClick={onCancel} />}
      </div>
      <p class="error" role="alert">
        {problem}
      </p>
    </form>
  )
}
