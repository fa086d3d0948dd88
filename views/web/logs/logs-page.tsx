import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { parseLevel } from '../../../shared/contract/levels.ts'
import type { EntryKind } from '../../../shared/contract/records.ts'
import '../styles/logs.css'
import { Failed, Gone } from '../api/failed.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { kept } from '../ui/keep.ts'
import { part } from '../ui/part.tsx'
import { Segments } from '../ui/segments.tsx'
import { currentAddress, go, useAddress } from '../ui/use-address.ts'
import { set } from './change-search.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { EntryPanel } from './entry-panel.tsx'
import { folderOf } from './facts.ts'
import { type AddressParams, chartOf, chartParams, ENVIRONMENT, NO_CHART } from './filters.ts'
import { Histogram } from './histogram.tsx'
import { List } from './list.tsx'
import { Chosen, Rail } from './rail.tsx'
import { RangePicker } from './range-picker.tsx'
import { SavedMenu } from './saved-searches.tsx'
import { SearchBox, SearchedAsText } from './search-box.tsx'
import { GROUP_PARAMETERS, groupingOf, isGroup, isGrouping, VIEWS } from './texts.ts'
import { EnvironmentSwitch, Found, isProduction, LevelBar, LiveSwitch, ShareMenu } from './toolbar.tsx'
import { useColumns, useColumnsInAddress } from './use-columns.ts'
import { useCounts } from './use-counts.ts'
import { useOpenEntry } from './use-entry.ts'
import { useListKeys } from './use-list-keys.ts'
import { useListState } from './use-list-state.ts'
import { useRows } from './use-rows.ts'

const GroupList = part(() => import('./counted-views.ts').then((module) => module.GroupList))
const ChartView = part(() => import('./counted-views.ts').then((module) => module.ChartView))

/** The logs of one kind: the search, counts over time, and the list. */
export function LogsPage({ kind }: { readonly kind: EntryKind }) {
  useState(takeRememberedEnvironment)
  const { params } = useAddress()
  const { id, q = '', environment, live } = params
  const state = useListState(id)
  const columns = useColumns(kind, params)
  useColumnsInAddress(kind, params)
  const chart = chartOf(params)
  const grouping = chart === undefined ? groupingOf(kind, params['group']) : undefined
  const isList = grouping === undefined && chart === undefined
  const paused = isList && state.paused
  const list = useRows(kind, params, columns.fields, paused, isList)
  const { entries } = list.rows
  useEffect(() => state.keepExpanded(entries), [entries])
  const counts = useCounts(kind, params, list)
  const { choices, histogram, counted } = counts
  const { environment: environments = [], sections = [], chosen = [] } = choices ?? {}
  // Numbers that could not be read again are omitted; what can be chosen stays.
  const { total, level: levels } = (counts.problem === undefined && choices) || {}
  const stale = counts.areCurrent ? '' : 'stale'
  const { open, problem, reload } = useOpenEntry(kind, id, entries)
  // The same search again is asked for what has come since.
  const search = (text: string): void => (text === q ? list.reload() : set({ q: text }))
  const onLive = (): void =>
    set(live === undefined ? { live: '1', to: undefined, order: undefined } : { live: undefined })
  const onRange = (range: AddressParams): void => set({ ...range, live: undefined })
  useListKeys({ list, state, onLive, isShown: isList })
  /** Restored when the reader returns to the chart. */
  const lastChart = useRef<AddressParams>({ chart: 'count' })
  if (chart !== undefined) lastChart.current = chartParams(params)
  const rail = <Rail sections={sections} />
  return (
    <div class={`page logs ${open ? 'with-panel' : ''} ${isProduction(environment) ? 'in-production' : ''}`}>
      <h1 class="hidden">{kind === 'event' ? 'Event logs' : 'Application logs'}</h1>
      <div class="bar">
        <SearchBox kind={kind} query={q} reading={list.reading} filter={list.filter} onSearch={search} />
        <div class="bar">
          <EnvironmentSwitch
            environment={environment}
            values={environments}
            onEnvironment={(chosen) => set({ environment: chosen })}
          />
          <RangePicker params={params} onRange={onRange} />
          <LiveSwitch live={list.live} paused={paused} onLive={onLive} />
          {/* A group's value says nothing to people. */}
          <SavedMenu page={folderOf(kind)} watchName={chosen.find(({ name }) => isGroup(name))?.label.slice(0, 100)} />
          <ShareMenu kind={kind} list={list} total={total} columns={columns.columns} />
          <Drawer>{rail}</Drawer>
        </div>
      </div>
      {open === null && <Gone what="log" onLeave={() => set(CLOSED)} />}
      {/* A store that cannot answer at all is told once, by the list. */}
      {list.problem === undefined && <Failed problem={problem} reload={reload} />}
      <SearchedAsText query={q} reading={list.reading} />
      <Chosen chosen={chosen} />
      <section class={`panel over-time ${stale}`} aria-label="Counts">
        <div class="bar">
          <LevelBar
            level={parseLevel(params['level'] ?? '')}
            levelMax={parseLevel(params['levelMax'] ?? '')}
            counts={levels}
            onLevels={(range) => set({ ...range })}
          />
          <span class="grow" />
          <Found total={total} tookMs={list.tookMs} />
          {/* Before the views, which stay where they were pressed when the columns go. */}
          {isList && <ColumnsMenu kind={kind} chosen={columns} filter={list.filter} />}
          <Segments
            label="View"
            options={VIEWS[kind]}
            value={chart === undefined ? (grouping ?? 'list') : 'chart'}
            onChange={(view) =>
              set({
                ...NO_CHART,
                group: undefined,
                // All groups: no chosen group, and no open log.
                ...(isGrouping(view) && { group: view, [GROUP_PARAMETERS[view]]: undefined, ...CLOSED }),
                ...(view === 'chart' && { ...lastChart.current, ...CLOSED }),
              })
            }
          />
        </div>
        {list.problem === undefined && <Failed problem={counts.problem} reload={counts.reload} />}
        {/* The room of the histogram is kept, so that nothing moves below the pointer when it comes. */}
        {histogram === undefined && <div class="histogram" />}
        {histogram !== undefined && histogram.total > 0 && (
          <Histogram counts={histogram} filter={list.filter} counted={counted} onRange={onRange} />
        )}
      </section>
      <div class="split">
        <aside class={`aside ${stale}`} aria-label="Filters">
          {rail}
        </aside>
        {isList && <List kind={kind} list={list} state={state} columns={columns} total={total} onChange={set} />}
        {grouping && (
          <GroupList key={grouping} kind={kind} by={grouping} filter={list.filter} counted={counted} onChange={set} />
        )}
        {chart && (
          <ChartView kind={kind} chart={chart} filter={list.filter} counted={counted} total={total} onChange={set} />
        )}
      </div>
      {open && (
        <EntryPanel
          entry={open}
          onClose={() => {
            set(CLOSED)
            state.focus(open.id)
          }}
        />
      )}
    </div>
  )
}

/** Closes the log beside the list. */
const CLOSED: AddressParams = { id: undefined, tab: undefined }

/** Restores the last chosen environment if the address has no filters; links show the same to everyone. */
function takeRememberedEnvironment(): void {
  const { utc: _, ...others } = currentAddress().params
  if (Object.keys(others).length === 0) go({ params: { environment: kept(ENVIRONMENT) } }, 'replace')
}

/** The filters in a drawer, for windows too narrow to show them beside the list. */
function Drawer({ children }: { readonly children: ComponentChildren }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button label="Filters" class="narrow-only" onClick={() => setOpen(true)} />
      {open && (
        <Dialog title="Filters" onClose={() => setOpen(false)}>
          {children}
        </Dialog>
      )}
    </>
  )
}
