import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { plural } from '../../flow-layout/format.ts'
import { Copy } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { LogText } from '../ui/log-text.tsx'
import { changeSearch, hasSearch } from './change-search.ts'

interface FieldRow {
  readonly name: string
  readonly text: string
  readonly term: string | null
  /** Stands in place of the text. */
  readonly shown?: ComponentChildren
  readonly more?: ComponentChildren
}

/** Rows before there is a button for more. */
const SHOWN = 60

/** Names and values, each with what one can do with it. */
export function FieldTable({ label, rows }: { readonly label: string; readonly rows: readonly FieldRow[] }) {
  const [all, setAll] = useState(false)
  if (rows.length === 0) return null
  const shown = all ? rows : rows.slice(0, SHOWN)
  return (
    <>
      <table class="fields" aria-label={label}>
        <tbody>
          {shown.map(({ name, text, term, shown: instead, more }, index) => (
            <tr key={`${name} ${index}`}>
              <th scope="row">
                <LogText text={name} most={120} class="mono" />
              </th>
              <td>
                {instead ?? <LogText text={text} most={500} />}
                {more}
              </td>
              <td>
                <ValueActions term={term} text={text} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {plural(rows.length - shown.length, 'more value')}
        </button>
      )}
    </>
  )
}

/** Buttons for a value: find entries with it, leave them out, copy it. */
function ValueActions({ term, text }: { readonly term: string | null; readonly text: string }) {
  const [what] = (term ?? 'value').split(':')
  const filter = (name: string, icon: 'plus' | 'minus', added: string) => (
    <button
      type="button"
      class="button quiet icon small"
      title={`${name} this value`}
      aria-label={`${name} this ${what}`}
      onClick={() => changeSearch('with', added)}
    >
      <Icon name={icon} />
    </button>
  )
  return (
    <span class="acts">
      {hasSearch() && term !== null && [filter('Only', 'plus', term), filter('Without', 'minus', `-${term}`)]}
      <Copy text={text} label={`Copy ${what}`} />
    </span>
  )
}
