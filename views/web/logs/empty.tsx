import { useMemo } from 'preact/hooks'
import { systemClock } from '../../../shared/clock.ts'
import type { EntryKind, EntryPage, Histogram } from '../api/types.ts'
import { plural, visible } from '../lib/format.ts'
import { agoText, iso } from '../lib/times.ts'
import { FirstMinute } from '../team/first-minute.tsx'
import { useFetch } from '../ui/use-fetch.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf, SELECTING, type Selecting, selectionOf } from './filters.ts'

export interface EmptyProps {
  readonly kind: EntryKind
  readonly params: AddressParams
  readonly onChange: (params: Readonly<Record<string, string | undefined>>) => void
}

/** Around the newest log, where one goes to it. */
const HOUR_MS = 3_600_000

/** Says why there is nothing, and offers what would show something. */
export function Empty({ kind, params, onChange }: EmptyProps) {
  const path = `/api/${folderOf(kind)}`
  const selection = selectionOf(params)
  const isFiltered = SELECTING.some((name) => selection[name] !== undefined)
  const any = useFetch<EntryPage>(path, { limit: 1 })
  const matching = useFetch<EntryPage>(isFiltered ? path : null, { ...selection, limit: 1 })
  if (any.data === undefined || (isFiltered && matching.data === undefined)) return <p class="empty muted">Looking…</p>
  if (any.data.items.length === 0) return <FirstMinute kind={kind} />
  const newest = (isFiltered ? matching : any).data?.items[0]?.timestamp
  if (newest !== undefined) {
    const at = Date.parse(newest)
    return (
      <div class="empty">
        <h2>Nothing in this time</h2>
        <p>
          {isFiltered ? 'The newest log that matches' : 'The newest log'} is from {agoText(newest, systemClock.now())}.
        </p>
        <div class="bar">
          <button
            type="button"
            class="button primary"
            onClick={() => onChange({ from: iso(at - HOUR_MS), to: iso(at + 1) })}
          >
            Go to the newest log
          </button>
          <button type="button" class="button" onClick={() => onChange({ from: iso(at - 1), to: undefined })}>
            Everything since then
          </button>
        </div>
      </div>
    )
  }
  const used = SELECTING.filter((name) => selection[name] !== undefined)
  return (
    <div class="empty">
      <h2>Nothing matches</h2>
      <p>No log of any time matches {used.length === 1 ? 'this' : 'all of these'}.</p>
      <div class="bar">
        {used.map((name) => (
          <Without key={name} name={name} {...{ kind, params, onChange }} />
        ))}
        {used.length > 1 && (
          <button
            type="button"
            class="button primary"
            onClick={() => onChange(Object.fromEntries(used.map((name) => [name, undefined])))}
          >
            Remove all
          </button>
        )}
      </div>
    </div>
  )
}

/** Takes one condition away, and says how many logs that would show in the range. */
function Without({ name, kind, params, onChange }: EmptyProps & { readonly name: Selecting }) {
  // Once, or the present would be another question with every drawing.
  const filter = useMemo(() => filterOf({ ...params, [name]: undefined }, systemClock.now()), [params, name])
  const { data } = useFetch<Histogram>(`/api/${folderOf(kind)}/histogram`, { ...filter, buckets: 1 })
  return (
    <button type="button" class="button" onClick={() => onChange({ [name]: undefined })}>
      <span>
        Remove {name === 'q' ? 'the search' : name} <bdi class="mono">{visible((params[name] ?? '').slice(0, 60))}</bdi>
      </span>
      {data !== undefined && <span class="badge">{plural(data.total, 'log')}</span>}
    </button>
  )
}
