import { Copy } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { changeSearch, hasSearch } from './change-search.ts'

/** What one can do with a value: find entries with it, leave them out, copy it. */
export function ValueActions({ term, text }: { readonly term: string | null; readonly text: string }) {
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
