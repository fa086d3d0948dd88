import type { EntryKind } from '../api/types.ts'
import { Empty } from './empty.tsx'
import { LogTable } from './log-table.tsx'
import { MoreRows } from './more-rows.tsx'
import { ListProblem, TailNews } from './tail-news.tsx'
import { useInView } from './use-in-view.ts'
import type { LogRows } from './use-rows.ts'
import type { View } from './use-view.ts'

export interface ListProps {
  readonly kind: EntryKind
  readonly list: LogRows
  readonly view: View
  readonly total: number | undefined
  readonly onChange: (params: Readonly<Record<string, string | undefined>>) => void
}

/** What the page's header and the table's head cover is not in view. */
const BELOW_HEAD = '-80px 0px 0px'

/** The rows with all that stands around them: what is new, what is wrong, why there are none, and more of them. */
export function List({ kind, list, view, total, onChange }: ListProps) {
  const { rows, answered, loading, fetching, problem } = list
  const top = useInView<HTMLDivElement>((inView) => view.setScrolled(!inView), BELOW_HEAD)
  return (
    <section class={`panel list grow ${problem === undefined ? '' : 'stale'}`} aria-label="List">
      <div ref={top} class={loading || fetching ? 'busy' : 'idle'} />
      <ListProblem list={list} />
      <TailNews list={list} view={view} />
      {rows.entries.length === 0 ? (
        answered && !loading && <Empty kind={kind} filter={list.filter} onChange={onChange} />
      ) : (
        <>
          <LogTable
            kind={kind}
            rows={rows}
            total={total}
            view={view}
            onOrder={() => onChange({ order: rows.order === 'desc' ? 'asc' : undefined, live: undefined })}
          />
          <MoreRows list={list} onChange={onChange} />
        </>
      )}
    </section>
  )
}
