import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { visible } from '../../flow-layout/format.ts'
import type { Completion } from '../../schemas/answers.ts'
import type { Params } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { Button, Icon, IconButton } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { Segments } from '../ui/segments.tsx'
import { useStore } from '../ui/store.ts'
import { type Column, columnOf, familyOf, hasRoom, knownColumns, moved, toggled } from './columns.ts'
import { folderOf } from './facts.ts'
import { COLUMNS } from './texts.ts'
import { type ChosenColumns, chooseColumns, density, setDensity, shownColumns } from './use-columns.ts'

interface MenuProps {
  readonly kind: EntryKind
  readonly chosen: ChosenColumns
  /** The list's parameters; suggested names come from the logs that they select. */
  readonly filter: Params
}

/** Selects and reorders the columns of the list, and sets the height of its rows. */
export const ColumnsMenu = (props: MenuProps) => (
  <Popover
    label={
      <>
        <Icon name="columns" /> <span class="wide-only">{COLUMNS.name}</span>
      </>
    }
    name={COLUMNS.name}
    title={COLUMNS.name}
    class="button small"
    align="end"
  >
    {() => <Menu {...props} />}
  </Popover>
)

function Menu({ kind, chosen, filter }: MenuProps) {
  const columns = shownColumns(chosen)
  const height = useStore(density)
  const root = useRef<HTMLDivElement>(null)
  /** The last control used, which keeps the focus at its new place. */
  const used = useRef('')
  useLayoutEffect(() => {
    // A value that was taken back has no box any more.
    if (used.current !== '') (document.getElementById(used.current) ?? document.getElementById('column'))?.focus()
  }, [chosen])
  useLayoutEffect(() => root.current?.querySelector('input')?.focus(), [])
  const choose = (next: readonly Column[], control: string): void => {
    used.current = control
    chooseColumns(kind, next)
  }
  const others = knownColumns(kind).filter(({ name }) => !columns.some((one) => one.name === name))
  const box = (column: Column, checked: boolean) => (
    <label class="check grow">
      <input
        type="checkbox"
        id={`column-${column.name}`}
        checked={checked}
        disabled={checked ? columns.length === 1 : !hasRoom(columns, column.name)}
        onChange={() => choose(toggled(columns, column), `column-${column.name}`)}
      />
      <bdi class="cut">{visible(column.label)}</bdi>
    </label>
  )
  const move = ({ name, label }: Column, index: number, step: 1 | -1) => {
    const side = step === 1 ? 'right' : 'left'
    const id = `column-${name}-${side}`
    const isEnd = index + step < 0 || index + step === columns.length
    return (
      <IconButton
        id={id}
        icon={step === 1 ? 'down' : 'up'}
        label={COLUMNS[side](visible(label))}
        aria-disabled={isEnd}
        onClick={() => !isEnd && choose(moved(columns, name, step), id)}
      />
    )
  }
  return (
    <div class="stack menu-form" ref={root}>
      <ol>
        {columns.map((column, index) => (
          <li key={column.name} class="node">
            {box(column, true)}
            {move(column, index, -1)}
            {move(column, index, 1)}
          </li>
        ))}
        {others.map((column) => (
          <li key={column.name} class="node">
            {box(column, false)}
          </li>
        ))}
      </ol>
      <AddValue
        kind={kind}
        columns={columns}
        filter={filter}
        onAdd={(added) => choose(toggled(columns, added), 'column')}
      />
      <Segments label={COLUMNS.density} options={COLUMNS.densities} value={height} onChange={setDensity} />
      <Button label={COLUMNS.usual} id="column-usual" class="small" onClick={() => choose([], 'column-usual')} />
    </div>
  )
}

interface AddValueProps extends Omit<MenuProps, 'chosen'> {
  readonly columns: readonly Column[]
  readonly onAdd: (column: Column) => void
}

/** Adds a column for a value inside the payloads or scopes; names found in logs are suggested. */
function AddValue({ kind, columns, filter, onAdd }: AddValueProps) {
  const family = familyOf(kind)
  const [problem, setProblem] = useState('')
  const { data } = useFetch<Completion>(`/api/${folderOf(kind)}/completion`, {
    ...filter,
    ...{ q: family, caret: family.length },
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem('column') as HTMLInputElement
    const text = input.value.trim()
    const column = columnOf(kind, text.startsWith(family) ? text : `${family}${text}`)
    const isFull = column !== undefined && !hasRoom(columns, column.name)
    setProblem(column === undefined ? COLUMNS.unfit(family) : isFull ? COLUMNS.full : '')
    if (column === undefined || isFull) return
    input.value = ''
    if (!columns.some(({ name }) => name === column.name)) onAdd(column)
  }
  return (
    <form class="field" onSubmit={submit}>
      <label for="column">{COLUMNS.other}</label>
      <div class="node">
        <input
          id="column"
          name="column"
          class="input mono"
          list="columns"
          placeholder={`${family}…`}
          autocomplete="off"
        />
        <datalist id="columns">
          {data?.choices.map(({ label }) => (
            <option key={label} value={label} />
          ))}
        </datalist>
        <button type="submit" class="button small">
          {COLUMNS.add}
        </button>
      </div>
      <p class="error" role="alert">
        {problem}
      </p>
    </form>
  )
}
