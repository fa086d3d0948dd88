import { useState } from 'preact/hooks'
import { lineOf } from '../../flow-layout/flow-log.ts'
import { visible } from '../../flow-layout/format.ts'
import { dayText } from '../../flow-layout/times.ts'
import type { Entry, EntryContext } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { Button } from '../ui/button.tsx'
import { LevelTag } from '../ui/level.tsx'
import { Segments } from '../ui/segments.tsx'
import { Time, useUtc } from '../ui/time.tsx'
import { useAddress } from '../ui/use-address.ts'
import { hasSearch } from './change-search.ts'
import { folderOf, sourceOf } from './facts.ts'
import { selectionOf } from './filters.ts'
import { contextHref } from './links.ts'

const STEP = 10
const MOST = 100

type Among = 'all' | 'source' | 'flow' | 'search'

/** The entries just before and after an entry: of its Team, of the same source or flow, or of the current search. */
export function ContextView({ entry }: { readonly entry: Entry }) {
  const [chosen, setChosen] = useState<Among>('all')
  const [reach, setReach] = useState({ before: STEP, after: STEP })
  const { params } = useAddress()
  const { correlationKey } = entry
  const options: readonly (readonly [Among, string])[] = [
    ['all', 'All logs'],
    ['source', entry.kind === 'event' ? 'Same step' : 'Same category'],
    ...(correlationKey === null ? [] : [['flow', 'Same flow'] as const]),
    ...(hasSearch() ? [['search', 'This search'] as const] : []),
  ]
  // The log before this one may have been in a flow.
  const among = options.some(([name]) => name === chosen) ? chosen : 'all'
  const filter = {
    all: {},
    source: { q: sourceOf(entry).term },
    flow: { correlationKey },
    search: selectionOf(params),
  }[among]
  const utc = useUtc()
  const { data: answer, problem } = useFetch<EntryContext>(`/api/${folderOf(entry.kind)}/${entry.id}/context`, {
    ...filter,
    ...reach,
  })
  // Until the answer is here, and where there is none, the last one is of another log.
  const data = answer?.entry.id === entry.id ? answer : undefined
  const more = (side: 'before' | 'after', name: string) =>
    data !== undefined &&
    data[side].length === reach[side] &&
    reach[side] < MOST && (
      <Button
        label={name}
        class="quiet small"
        onClick={() => setReach({ ...reach, [side]: Math.min(MOST, reach[side] * 3) })}
      />
    )
  return (
    <div class="stack">
      <Segments label="Context of" options={options} value={among} onChange={setChosen} />
      {problem !== undefined && <p class="error">{problem.message}</p>}
      {more('before', 'Earlier')}
      {data !== undefined && (
        <ol class="context">
          {[
            ...Map.groupBy([...data.before, data.entry, ...data.after], ({ timestamp }) => dayText(timestamp, utc)),
          ].map(([day, lines], _, days) => [
            days.length > 1 && (
              <li key={day} class="muted small">
                {day}
              </li>
            ),
            ...lines.map((one) => <Line key={one.id} entry={one} current={one.id === entry.id} />),
          ])}
        </ol>
      )}
      {more('after', 'Later')}
    </div>
  )
}

const Line = ({ entry, current }: { readonly entry: Entry; readonly current: boolean }) => (
  <li>
    <a href={contextHref(entry)} aria-current={current ? 'true' : undefined}>
      <Time at={entry.timestamp} />
      <LevelTag level={entry.level} />
      <bdi class="muted cut" title={visible(sourceOf(entry).full)}>
        {visible(sourceOf(entry).name)}
      </bdi>
      <bdi class="mono cut">{visible(lineOf(entry))}</bdi>
    </a>
  </li>
)
