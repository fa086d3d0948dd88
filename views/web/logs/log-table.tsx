// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { visible } from '../../flow-layout/format.ts'
import { dayText } from '../../flow-layout/times.ts'
import type { Entry } from '../../schemas/answers.ts'
import { Icon } from '../ui/button.tsx'
import { useFound, useSought } from '../ui/log-text.tsx'
import { useUtc } from '../ui/time.tsx'
import type { Column } from './columns.ts'
import { DetailRow, LogRow } from './log-row.tsx'
import { changesOf } from './row-heights.ts'
import type { Rows } from './rows.ts'
import type { ChosenColumns } from './use-columns.ts'
import type { ListState } from './use-list-state.ts'
import { useRowWindow } from './use-row-window.ts'

interface LogTableProps {
  readonly kind: EntryKind
  readonly rows: Rows
  /** The total number of matching entries, if known. */
  readonly total: number | undefined
  readonly state: ListState
  readonly columns: ChosenColumns
  readonly onOrder: () => void
}

/** The rows; only those near the screen are drawn. */
export function LogTable({ kind, rows, total, state, columns: { columns, isChosen }, onOrder }: LogTableProps) {
  const { order, entries } = rows
  const hasKeys = useMemo(() => entries.some(({ correlationKey }) => correlationKey !== null), [entries])
  const widthOf = ({ look }: Column): string =>
    look === 'key' && !isChosen && !hasKeys ? '2.5rem' : `var(--width-${look})`
  const utc = useUtc()
  const hasValues = columns.some(({ look }) => look === 'value' || (isChosen && (look === 'env' || look === 'project')))
  return (
    <table
      role="table"
      class={`log-table ${isChosen ? '' : 'usual'} ${hasValues ? 'with-values' : ''}`}
      // Widths depend on the columns only, not on the rows' content; but a usual Flow column without any flow leaves its room to the text.
      style={{ '--columns': ['var(--width-at)', ...columns.map(widthOf)].join(' ') }}
      aria-label={kind === 'event' ? 'Event logs' : 'Application logs'}
      aria-rowcount={total === undefined ? -1 : total + 1}
    >
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col" aria-sort={order === 'desc' ? 'descending' : 'ascending'}>
            <button type="button" onClick={onOrder} title={order === 'desc' ? 'Newest first' : 'Oldest first'}>
              {utc ? 'Time, UTC' : 'Time'} <Icon name={order === 'desc' ? 'down' : 'up'} />
            </button>
          </th>
          {columns.map(({ name, label, look }) => (
            <th key={name} role="columnheader" scope="col" class={`cut ${look}`} title={visible(name)}>
              {visible(label)}
            </th>
          ))}
        </tr>
      </thead>
      <Body rows={rows} state={state} utc={utc} columns={columns} />
    </table>
  )
}

interface BodyProps extends Pick<LogTableProps, 'rows' | 'state'> {
  readonly utc: boolean
  readonly columns: readonly Column[]
}

function Body({ rows: { entries }, state, utc, columns }: BodyProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const days = useMemo(
    () => changesOf(entries.length, (index) => dayText(entries[index]?.timestamp ?? '', utc)),
    [entries, utc],
  )
  const expanded = useMemo(
    () =>
      state.expanded.size === 0
        ? []
        : entries.flatMap(({ id }, index) => (state.expanded.has(id) ? [[index, id] as const] : [])),
    [entries, state.expanded],
  )
  const { first, end, topOf, room } = useRowWindow(body, { count: entries.length, days, expanded })
  const found = useFound()
  const sought = useSought()
  const search = useMemo(() => ({ found, sought, room }), [found, sought, room])
  const at = useMemo(() => entries.findIndex(({ id }) => id === state.currentId), [entries, state.currentId])
  // The first row if there is none or it is gone, so that the keyboard can enter the list.
  const current = Math.max(0, at)
  useFocus(state)
  // The row that has the keyboard focus stays drawn while it is out of view.
  const drawn = Array.from({ length: end - first }, (_, place) => first + place)
  if (current < first) drawn.unshift(current)
  if (current >= end) drawn.push(current)
  const isDay = new Set(days)
  let last = 0
  return (
    <tbody role="rowgroup" ref={body} {...handlersOf(state)}>
      {drawn.flatMap((index) => {
        const entry = entries[index] as Entry
        const { id } = entry
        const space = topOf(index) - topOf(last)
        last = index + 1
        // Keyed siblings: redrawing around a row must not move it, or it would lose the focus.
        return [
          space > 0 && <Space key={`space ${id}`} px={space} />,
          isDay.has(index) && (
            <tr role="row" class="day" key={`day ${id}`}>
              <td role="cell">{dayText(entry.timestamp, utc)}</td>
            </tr>
          ),
          <LogRow
            key={id}
            entry={entry}
            index={index + 2}
            utc={utc}
            expanded={state.expanded.has(id)}
            open={id === state.openId}
            current={index === current}
            columns={columns}
            search={search}
          />,
          state.expanded.has(id) && <DetailRow key={`detail ${id}`} entry={entry} onOpen={state.open} />,
        ]
      })}
      <Space px={topOf(entries.length) - topOf(last)} />
    </tbody>
  )
}

/** Takes the space of rows that are not drawn. */
const Space = ({ px }: { readonly px: number }) => <tr class="space" style={{ height: `${px}px` }} />

const idOf = ({ target }: Event): string | undefined =>
  (target as Element).closest<HTMLElement>('tr.log')?.dataset['id']

const handlersOf = (state: ListState) => ({
  onClick: (event: MouseEvent): void => {
    const id = idOf(event)
    const onLink = (event.target as Element).closest('a') !== null
    // A click that selects text does not toggle the row.
    if (id !== undefined && !onLink && getSelection()?.isCollapsed !== false) state.toggle(id)
  },
  onKeyDown: (event: KeyboardEvent): void => {
    const id = idOf(event)
    if (event.key !== 'Enter' || id === undefined || !(event.target as Element).matches('.at button')) return
    event.preventDefault()
    state.open(id)
  },
  onCopy: copyRows,
})

/** Several rows are copied as a line each, not as a line for each cell. */
function copyRows(event: ClipboardEvent): void {
  const selection = getSelection()
  const rows = [...document.querySelectorAll<HTMLTableRowElement>('tr.log, tr.detail')].filter((row) =>
    selection?.containsNode(row, true),
  )
  if (rows.length < 2 || rows.some((row) => row.className === 'detail')) return
  const lineOf = ({ cells }: HTMLTableRowElement): string =>
    [...cells].flatMap(({ textContent }) => textContent.trim() || []).join('  ')
  event.clipboardData?.setData('text/plain', rows.map(lineOf).join('\n'))
  event.preventDefault()
}

/** Focuses the current row when requested. */
function useFocus({ focused, currentId }: ListState): void {
  const given = useRef(focused)
  useLayoutEffect(() => {
    if (focused === given.current || currentId === undefined) return
    given.current = focused
    document.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(currentId)}"] .at button`)?.focus()
  }, [focused])
}
