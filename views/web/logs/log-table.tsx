// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { Fragment } from 'preact'
import type { EntryKind } from '../api/types.ts'
import { dayText } from '../lib/times.ts'
import { Icon } from '../ui/icon.tsx'
import { useUtc } from '../ui/use-utc.ts'
import { LogRow } from './log-row.tsx'
import type { Rows } from './rows.ts'

export interface LogTableProps {
  readonly kind: EntryKind
  readonly rows: Rows
  /** How many entries match in all, where that is known. */
  readonly total: number | undefined
  readonly expanded: ReadonlySet<string>
  readonly openId: string | undefined
  readonly currentId: string | undefined
  readonly onToggle: (id: string) => void
  readonly onOpen: (id: string) => void
  readonly onCurrent: (id: string) => void
  readonly onOrder: () => void
}

/** The rows. Those out of sight are not laid out, but the browser's own search and screen readers find them. */
export function LogTable(props: LogTableProps) {
  const { kind, rows, total, expanded, openId, onToggle, onOpen, onCurrent, onOrder } = props
  const utc = useUtc()
  const currentId = props.currentId ?? rows.entries[0]?.id
  const environments = rows.entries.some(({ environment }) => environment !== rows.entries[0]?.environment)
  const idOf = ({ target }: Event): string | undefined =>
    target instanceof Element ? target.closest<HTMLElement>('tr.log')?.dataset['id'] : undefined
  const onClick = (event: MouseEvent): void => {
    const id = idOf(event)
    const onLink = (event.target as Element).closest('a') !== null
    // Who selects text does not want the row to change.
    if (id === undefined || onLink || getSelection()?.isCollapsed === false) return
    onCurrent(id)
    onToggle(id)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const id = idOf(event)
    if (event.key !== 'Enter' || id === undefined || !(event.target as Element).matches('.at button')) return
    event.preventDefault()
    onOpen(id)
  }
  let day = ''
  return (
    <table
      role="table"
      class={`log-table ${environments ? 'with-environments' : ''}`}
      aria-label={kind === 'event' ? 'Event logs' : 'Application logs'}
      aria-rowcount={total ?? -1}
    >
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col" aria-sort={rows.order === 'desc' ? 'descending' : 'ascending'}>
            <button type="button" onClick={onOrder} title={rows.order === 'desc' ? 'Newest first' : 'Oldest first'}>
              {utc ? 'Time, UTC' : 'Time'} <Icon name={rows.order === 'desc' ? 'down' : 'up'} />
            </button>
          </th>
          <th role="columnheader" scope="col">
            Level
          </th>
          {environments && (
            <th role="columnheader" scope="col">
              Environment
            </th>
          )}
          <th role="columnheader" scope="col">
            {kind === 'event' ? 'Step' : 'Category'}
          </th>
          <th role="columnheader" scope="col">
            {kind === 'event' ? 'Payload' : 'Message'}
          </th>
          <th role="columnheader" scope="col">
            Flow
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup" onClick={onClick} onKeyDown={onKeyDown}>
        {rows.entries.map((entry, index) => {
          const before = day
          day = dayText(entry.timestamp, utc)
          return (
            <Fragment key={entry.id}>
              {day !== before && (
                <tr role="row" class="day">
                  <th role="rowheader" scope="rowgroup">
                    {day}
                  </th>
                </tr>
              )}
              <LogRow
                entry={entry}
                utc={utc}
                expanded={expanded.has(entry.id)}
                open={entry.id === openId}
                current={entry.id === currentId}
                environments={environments}
                index={index + 2}
                onOpen={onOpen}
              />
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}
