// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { Fragment } from 'preact'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { dayText } from '../../flow-layout/times.ts'
import { Icon } from '../ui/icon.tsx'
import { useUtc } from '../ui/time.tsx'
import { LogRow } from './log-row.tsx'
import type { Rows } from './rows.ts'
import type { ListState } from './use-list-state.ts'

interface LogTableProps {
  readonly kind: EntryKind
  readonly rows: Rows
  /** How many entries match in all, where that is known. */
  readonly total: number | undefined
  readonly state: ListState
  readonly onOrder: () => void
}

const ENVIRONMENT = 'Environment'

/** The rows. Those out of sight are not laid out, but the browser's own search and screen readers find them. */
export function LogTable({ kind, rows, total, state, onOrder }: LogTableProps) {
  const { entries, order } = rows
  const utc = useUtc()
  const currentId = state.currentId ?? entries[0]?.id
  const environments = entries.some(({ environment }) => environment !== entries[0]?.environment)
  const idOf = ({ target }: Event): string | undefined =>
    (target as Element).closest<HTMLElement>('tr.log')?.dataset['id']
  const onClick = (event: MouseEvent): void => {
    const id = idOf(event)
    const onLink = (event.target as Element).closest('a') !== null
    // A click that selects text leaves the row as it is.
    if (id !== undefined && !onLink && getSelection()?.isCollapsed !== false) state.toggle(id)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const id = idOf(event)
    if (event.key !== 'Enter' || id === undefined || !(event.target as Element).matches('.at button')) return
    event.preventDefault()
    state.open(id)
  }
  const heads = [
    'Level',
    ...(environments ? [ENVIRONMENT] : []),
    ...(kind === 'event' ? ['Step', 'Payload'] : ['Category', 'Message']),
    'Flow',
  ]
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
          <th role="columnheader" scope="col" aria-sort={order === 'desc' ? 'descending' : 'ascending'}>
            <button type="button" onClick={onOrder} title={order === 'desc' ? 'Newest first' : 'Oldest first'}>
              {utc ? 'Time, UTC' : 'Time'} <Icon name={order === 'desc' ? 'down' : 'up'} />
            </button>
          </th>
          {heads.map((name) => (
            <th key={name} role="columnheader" scope="col" class={name === ENVIRONMENT ? 'env' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" onClick={onClick} onKeyDown={onKeyDown}>
        {entries.map((entry) => {
          const before = day
          day = dayText(entry.timestamp, utc)
          return (
            <Fragment key={entry.id}>
              {day !== before && (
                <tr role="row" class="day">
                  <td role="cell">{day}</td>
                </tr>
              )}
              <LogRow
                entry={entry}
                utc={utc}
                expanded={state.expanded.has(entry.id)}
                open={entry.id === state.openId}
                current={entry.id === currentId}
                environments={environments}
                onOpen={state.open}
              />
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}
