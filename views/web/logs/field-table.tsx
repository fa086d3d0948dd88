// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { isNumber } from '../../../shared/query/sort-key.ts'
import { plural, visible } from '../../flow-layout/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { LogText } from '../ui/log-text.tsx'
import { go, useAddress } from '../ui/use-address.ts'
import { changeSearch, hasSearch } from './change-search.ts'
import { type Column, hasRoom, toggled } from './columns.ts'
import { COLUMNS, SHOW_CHART } from './texts.ts'
import { chooseColumns, columnOfTerm, shownColumns, useColumns } from './use-columns.ts'

interface FieldRow {
  readonly name: string
  readonly text: string
  readonly term: string | null
  /** Shown in place of the text. */
  readonly shown?: ComponentChildren
  readonly more?: ComponentChildren
}

/** Rows shown before a button for more. */
const SHOWN = 60

interface FieldTableProps {
  readonly kind: EntryKind
  readonly label: string
  readonly rows: readonly FieldRow[]
}

/** Names and values with the actions for each. */
export function FieldTable({ kind, label, rows }: FieldTableProps) {
  const [all, setAll] = useState(false)
  const { params } = useAddress()
  const chosen = useColumns(kind, params)
  const inSight = shownColumns(chosen)
  if (rows.length === 0) return null
  const shown = all ? rows : rows.slice(0, SHOWN)
  return (
    <>
      <table role="table" class="fields" aria-label={label}>
        <tbody role="rowgroup">
          {shown.map(({ name, text, term, shown: instead, more }, index) => (
            <tr role="row" key={`${name} ${index}`}>
              <th role="rowheader" scope="row">
                <LogText text={name} most={120} class="mono" />
              </th>
              <td role="cell">
                {instead ?? <LogText text={text} most={500} />}
                {more}
              </td>
              <td role="cell">
                <ValueActions kind={kind} columns={chosen.columns} inSight={inSight} term={term} text={text} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <Button
          label={`Show ${plural(rows.length - shown.length, 'more value')}`}
          class="small"
          onClick={() => setAll(true)}
        />
      )}
    </>
  )
}

interface ValueProps extends Pick<FieldTableProps, 'kind'>, Pick<FieldRow, 'term' | 'text'> {
  readonly columns: readonly Column[]
  /** Those of the columns that the list has room for. */
  readonly inSight: readonly Column[]
}

/** Charts a value over time: its numbers, or how many logs have each of its texts. */
const ChartButton = ({ name, isNumeric }: { readonly name: string; readonly isNumeric: boolean }) => (
  <IconButton
    icon="chart"
    title={isNumeric ? SHOW_CHART.show : SHOW_CHART.values}
    label={(isNumeric ? SHOW_CHART.showOf : SHOW_CHART.valuesOf)(visible(name))}
    onClick={() => {
      const chart = isNumeric
        ? { chart: 'avg', value: name, by: undefined }
        : { chart: 'count', value: undefined, by: name }
      go({ params: { ...chart, id: undefined, tab: undefined } })
    }}
  />
)

/** Buttons for a value: filter by it, exclude it, show its field as a column, chart it, copy it. */
function ValueActions({ kind, columns, inSight, term, text }: ValueProps) {
  const [what] = visible(term ?? 'value').split(':')
  const filter = (name: string, icon: 'plus' | 'minus', added: string) => (
    <IconButton
      icon={icon}
      title={`${name} this value`}
      label={`${name} this ${what}`}
      onClick={() => changeSearch('with', added)}
    />
  )
  const column = term === null ? undefined : columnOfTerm(kind, term)
  const isAmong = (some: readonly Column[]): boolean => some.some(({ name }) => name === column?.name)
  const isShown = isAmong(inSight)
  // A usual column that is out of sight is seen once it is chosen, with those that are in sight.
  const others = isAmong(columns) ? inSight : columns
  return (
    <span class="acts">
      {hasSearch() && term !== null && [filter('Only', 'plus', term), filter('Without', 'minus', `-${term}`)]}
      {hasSearch() && column !== undefined && (isShown || hasRoom(others, column.name)) && (
        <IconButton
          icon="columns"
          title={COLUMNS.show}
          label={COLUMNS.showAs(visible(column.name))}
          aria-pressed={isShown}
          onClick={() => chooseColumns(kind, toggled(others, column))}
        />
      )}
      {hasSearch() && column?.name.includes('.') && <ChartButton name={column.name} isNumeric={isNumber(text)} />}
      <Copy text={text} label={`Copy ${what}`} />
    </span>
  )
}
