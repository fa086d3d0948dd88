import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../../shared/clock.ts'
import { parseLevel } from '../../../shared/contract/levels.ts'
import type { Histogram as Counts, Entry, EntryKind } from '../api/types.ts'
import { iso } from '../lib/times.ts'
import '../styles/logs.css'
import { Dialog } from '../ui/dialog.tsx'
import { keep, kept } from '../ui/keep.ts'
import { currentAddress, go, useAddress } from '../ui/use-address.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { Chosen } from './chosen.tsx'
import { Empty } from './empty.tsx'
import { EntryPanel } from './entry-panel.tsx'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf } from './filters.ts'
import { Histogram } from './histogram.tsx'
import { LevelBar } from './level-bar.tsx'
import { Found, ListProblem, TailNews } from './list-state.tsx'
import { LogTable } from './log-table.tsx'
import { MoreRows } from './more-rows.tsx'
import { Rail, type TeamRegistry } from './rail.tsx'
import { RangePicker } from './range-picker.tsx'
import { SearchBox, SearchedAsText } from './search-box.tsx'
import { pathsOf, valuesOf } from './search-values.ts'
import { addTerm, hasTerm, removeTerm, type Term } from './terms.ts'
import { EnvironmentSwitch, isProduction, LiveSwitch, ShareMenu } from './toolbar.tsx'
import { type FacetLists, useFacets } from './use-facets.ts'
import { useInView } from './use-in-view.ts'
import { rowButton, useListKeys } from './use-list-keys.ts'
import { type LogRows, useRows } from './use-rows.ts'

const PREFERENCE = 'environment'
const BUCKETS = 80
/** How often the counts are read again while entries arrive. */
const RECOUNT_MS = 5_000

type Patch = Readonly<Record<string, string | undefined>>

/** The logs of one kind: what is searched for, how many there are and when, and their list. */
export function LogsPage({ kind }: { readonly kind: EntryKind }) {
  useState(takeRememberedEnvironment)
  const [{ params }] = useAddress()
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set())
  const [currentId, setCurrentId] = useState<string>()
  const [scrolled, setScrolled] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const top = useInView<HTMLDivElement>((inView) => setScrolled(!inView))
  const openId = params['id']
  const paused = scrolled || expanded.size > 0 || openId !== undefined
  const list = useRows(kind, params, paused)
  const { rows } = list
  const counts = useCounts(kind, params, list)
  const registry = useFetch<TeamRegistry>('/api/team').data
  const open = useOpenEntry(kind, openId, rows.entries)
  const set = (patch: Patch): void => go({ params: patch })
  const search = (q: string): void => set({ q })
  const onTerm = (term: Term): void => search(addTerm(params['q'] ?? '', term, list.reading?.read === 'text'))
  const onOpen = (id: string): void => set({ id })
  const onLive = (): void =>
    set(params['live'] === '1' ? { live: undefined } : { live: '1', to: undefined, order: undefined })
  const toTop = (): void => {
    setExpanded(new Set())
    scrollTo(0, 0)
  }
  const close = (): void => {
    set({ id: undefined, tab: undefined })
    if (openId !== undefined) rowButton(openId)?.focus()
  }
  const collapse = (): boolean => {
    setExpanded(new Set())
    return expanded.size > 0
  }
  useListKeys({
    list,
    current: rows.entries.find(({ id }) => id === currentId),
    onCurrent: (id) => {
      setCurrentId(id)
      if (openId !== undefined) go({ params: { id } }, 'replace')
    },
    onOpen,
    onTerm,
    onLive,
    onCollapse: collapse,
  })
  const rail = (
    <Rail
      kind={kind}
      facets={counts.facets}
      registry={registry}
      params={params}
      onChoose={set}
      onTerm={(term) => (hasTerm(params['q'] ?? '', term) ? search(removeTerm(params['q'] ?? '', term)) : onTerm(term))}
    />
  )
  return (
    <div
      class={`page logs ${open === undefined ? '' : 'with-panel'} ${isProduction(params['environment']) ? 'in-production' : ''}`}
    >
      <h1 class="hidden">{kind === 'event' ? 'Event logs' : 'Application logs'}</h1>
      <div class="bar tools-bar">
        <SearchBox
          query={params['q'] ?? ''}
          reading={list.reading}
          values={valuesOf(counts.facets, registry)}
          paths={() => pathsOf(rows.entries)}
          onSearch={search}
        />
        <EnvironmentSwitch
          environment={params['environment']}
          values={counts.facets.environment}
          onEnvironment={(environment) => {
            keep(PREFERENCE, environment)
            set({ environment })
          }}
        />
        <RangePicker params={params} onRange={(range) => set({ ...range, live: undefined })} />
        <LiveSwitch live={list.live} paused={paused} onLive={onLive} />
        <ShareMenu kind={kind} list={list} total={counts.total} />
        <button type="button" class="button narrow-only" onClick={() => setDrawer(true)}>
          Filters
        </button>
      </div>
      <SearchedAsText query={params['q'] ?? ''} reading={list.reading} />
      <Chosen params={params} registry={registry} facets={counts.facets} onChange={set} />
      <section class="panel over-time" aria-label="Counts">
        <div class="bar">
          <LevelBar
            level={parseLevel(params['level'] ?? '')}
            counts={counts.facets.level}
            onLevel={(level) => set({ level })}
          />
          <span class="grow" />
          <Found total={counts.total} tookMs={list.tookMs} />
        </div>
        {counts.histogram !== undefined && (
          <Histogram counts={counts.histogram} onRange={(range) => set({ ...range, live: undefined })} />
        )}
      </section>
      <ListProblem list={list} />
      <div class="split">
        <aside class="aside" aria-label="Filters">
          {rail}
        </aside>
        <section class="panel list grow" aria-label="List">
          <div ref={top} />
          <div class={list.loading || list.fetching !== undefined ? 'busy' : 'idle'} />
          <TailNews
            list={list}
            onShow={() => {
              toTop()
              list.release()
            }}
            onLoad={() => {
              toTop()
              list.reload()
            }}
          />
          {rows.entries.length === 0 ? (
            list.answered && !list.loading && <Empty kind={kind} params={params} onChange={set} />
          ) : (
            <>
              {rows.moreBefore && <MoreRows list={list} side="before" />}
              <LogTable
                kind={kind}
                rows={rows}
                total={counts.total}
                expanded={expanded}
                openId={openId}
                currentId={currentId}
                onToggle={(id) => setExpanded(toggled(expanded, id))}
                onOpen={onOpen}
                onCurrent={setCurrentId}
                onOrder={() => set({ order: rows.order === 'desc' ? 'asc' : undefined, live: undefined })}
              />
              <MoreRows list={list} side="after" />
            </>
          )}
        </section>
      </div>
      {open !== undefined && <EntryPanel entry={open} onClose={close} onFilter={onTerm} />}
      {drawer && (
        <Dialog title="Filters" onClose={() => setDrawer(false)}>
          {rail}
        </Dialog>
      )}
    </div>
  )
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}

/** The environment that was chosen last, where the address says nothing: a link shows the same to everyone. */
function takeRememberedEnvironment(): void {
  const environment = kept(PREFERENCE)
  const { utc: _, ...others } = currentAddress().params
  if (environment !== undefined && Object.keys(others).length === 0) go({ params: { environment } }, 'replace')
}

/** The entry of the address: among those in the list, or read by its id. */
function useOpenEntry(kind: EntryKind, id: string | undefined, entries: readonly Entry[]): Entry | undefined {
  const listed = entries.find((entry) => entry.id === id)
  const path = id === undefined || listed !== undefined ? null : `/api/${folderOf(kind)}/${encodeURIComponent(id)}`
  const { data } = useFetch<Entry>(path)
  return listed ?? (data?.id === id ? data : undefined)
}

/** Counts over time and by value, of the time of the list; while entries arrive, again and again. */
function useCounts(kind: EntryKind, params: AddressParams, list: LogRows) {
  const [recountAt, setRecountAt] = useState(0)
  const counted = useRef(0)
  useEffect(() => {
    if (list.live === 'off' || list.arrived === counted.current) return
    const timer = setTimeout(() => {
      counted.current = list.arrived
      setRecountAt(systemClock.now())
    }, RECOUNT_MS)
    return () => clearTimeout(timer)
  }, [list.live, list.arrived > counted.current, recountAt])
  const at = Math.max(list.askedAt, recountAt)
  const filter = useMemo(() => filterOf(params, at), [list.filter, at])
  const facets = useFacets(folderOf(kind), filter)
  const histogram = useFetch<Counts>(`/api/${folderOf(kind)}/histogram`, {
    ...filter,
    // Without an end the drawing would end with the last log rather than now.
    to: filter['to'] ?? (filter['from'] === undefined ? undefined : iso(at)),
    buckets: BUCKETS,
  })
  const facetLists: FacetLists = facets
  return { facets: facetLists, total: facets.total, histogram: histogram.data }
}
