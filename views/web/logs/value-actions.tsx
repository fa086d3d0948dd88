import { useContext } from 'preact/hooks'
import { Copy } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { Filtering } from './filtering.ts'
import type { Term } from './terms.ts'

/** What one can do with a value: find entries with it, leave them out, copy it. */
export function ValueActions({ term, text }: { readonly term?: Term | undefined; readonly text: string }) {
  const add = useContext(Filtering)
  const what = term?.field ?? 'value'
  return (
    <span class="acts">
      {add !== undefined && term !== undefined && (
        <>
          <button
            type="button"
            class="button quiet icon small"
            title="Only with this value"
            aria-label={`Only this ${what}`}
            onClick={() => add(term)}
          >
            <Icon name="plus" />
          </button>
          <button
            type="button"
            class="button quiet icon small"
            title="Without this value"
            aria-label={`Without this ${what}`}
            onClick={() => add({ ...term, negated: true })}
          >
            <Icon name="minus" />
          </button>
        </>
      )}
      <Copy text={text} label={`Copy ${what}`} />
    </span>
  )
}
