import type { Params } from '../api/client.ts'
import type { Absence, EntryKind } from '../api/types.ts'
import { plural, visible } from '../lib/format.ts'
import { FirstMinute } from '../team/first-minute.tsx'
import { useFetch } from '../ui/use-fetch.ts'
import { folderOf } from './facts.ts'

export interface EmptyProps {
  readonly kind: EntryKind
  /** What the list was asked with. */
  readonly filter: Params
  readonly onChange: (params: Readonly<Record<string, string | undefined>>) => void
}

/** Says why there is nothing, and offers what would show something. */
export function Empty({ kind, filter, onChange }: EmptyProps) {
  const { data } = useFetch<Absence>(`/api/${folderOf(kind)}/absence`, filter)
  if (data === undefined) return <p class="empty muted">Looking…</p>
  if (!data.kept) return <FirstMinute kind={kind} />
  return (
    <div class="empty">
      <h2>{data.title}</h2>
      <p>{data.reason}</p>
      <div class="bar">
        {data.ways.map(({ name, value, params, total }, index) => (
          <button
            key={name}
            type="button"
            class={index === 0 ? 'button primary' : 'button'}
            onClick={() => onChange(params)}
          >
            <span>
              {name} {value !== null && <bdi class="mono">{visible(value.slice(0, 60))}</bdi>}
            </span>
            {total !== null && <span class="badge">{plural(total, 'log')}</span>}
          </button>
        ))}
      </div>
    </div>
  )
}
