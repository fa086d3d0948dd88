import { systemClock } from '../../../shared/runtime/clock.ts'
import type { Params } from '../api/client.ts'
import type { Absence, EntryKind } from '../api/types.ts'
import { plural, visible } from '../lib/format.ts'
import { FirstMinute } from '../team/first-minute.tsx'
import { useFetch } from '../ui/use-fetch.ts'
import { folderOf } from './facts.ts'
import { emptyTexts, wayText } from './texts.ts'

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
  const [title, reason] = emptyTexts(data, systemClock.now())
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{reason}</p>
      <div class="bar">
        {data.ways.map((way, index) => (
          <button
            key={wayText(way)}
            type="button"
            class={index === 0 ? 'button primary' : 'button'}
            onClick={() => onChange(way.params)}
          >
            <span>
              {wayText(way)} {way.value !== null && <bdi class="mono">{visible(way.value.slice(0, 60))}</bdi>}
            </span>
            {way.total !== null && <span class="badge">{plural(way.total, 'log')}</span>}
          </button>
        ))}
      </div>
    </div>
  )
}
