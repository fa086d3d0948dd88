import { useMemo, useRef, useState } from 'preact/hooks'
import { LEVELS, parseLevel } from '../../../shared/contract/levels.ts'
import type { FlowCounts, FlowState } from '../../../shared/log-store/log-store.ts'
import { awaitedSteps, nameOf } from '../../flow-layout/flow-log.ts'
import { countText, shortCount, visible } from '../../flow-layout/format.ts'
import { durationText, timeText } from '../../flow-layout/times.ts'
import type { EntryPage, FlowPage, FlowStateCounts, FlowSummary, NameList } from '../../schemas/answers.ts'
import type { Params, Problem } from '../api/client.ts'
import { Failed } from '../api/failed.tsx'
import { useAnswers, useFetch } from '../api/use-fetch.ts'
import { pick } from '../lib/address.ts'
import { agoText } from '../lib/times.ts'
import { set } from '../logs/change-search.ts'
import { type AddressParams, ALL_TIME } from '../logs/filters.ts'
import { RangePicker } from '../logs/range-picker.tsx'
import { SavedMenu } from '../logs/saved-searches.tsx'
import { RefusedNote } from '../refused/refused-note.tsx'
import { FirstMinute } from '../team/first-minute.tsx'
import { Busy } from '../ui/busy.tsx'
import { Button, Icon } from '../ui/button.tsx'
import { LevelMark } from '../ui/level.tsx'
import { Segments } from '../ui/segments.tsx'
import { Select } from '../ui/select.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useNow, useUtc } from '../ui/time.tsx'
import { go, hrefTo, rowsToReturn, useAddress, useReturn } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { useKeys, walk } from '../ui/use-keys.ts'
import { Statistics } from './event-statistics.tsx'
import { StateBadge } from './flow-header.tsx'
import { BADGES, FLOWS, SORTS, TABS, USUAL_SORT, VIEWS } from './texts.ts'
import { TypedInput } from './typed-input.tsx'

/** The parameters that select flows, whatever their state; a flow's level is that of its worst log. */
const FILTERS = ['q', 'level', 'environment', 'event', 'from', 'to'] as const
const NARROWING = [...FILTERS, 'state'] as const

/** The flows of the Team, as a list or as statistics. */
export function FlowsPage() {
  const { params } = useAddress()
  const { view = '' } = params
  const shown = VIEWS.find(([name]) => name === view)?.[0] ?? ''
  return (
    <div class="page">
      <header class="bar">
        <h1>{FLOWS.title}</h1>
        <Segments
          label={FLOWS.view}
          options={VIEWS}
          value={shown}
          onChange={(chosen) => go({ params: { view: chosen } })}
        />
        <span class="grow" />
        <SavedMenu page="flows" />
      </header>
      {shown === '' ? <FlowsList /> : <FlowsStatistics />}
    </div>
  )
}

/** The filters shared by the list and the statistics. */
function CommonFilters({ params }: { readonly params: AddressParams }) {
  const { environment, from, to } = params
  return (
    <>
      <RangePicker
        params={{ from: from ?? (to ? undefined : ALL_TIME), to }}
        onRange={(range) => set({ ...range, from: range.from === ALL_TIME ? undefined : range.from })}
      />
      {environment && (
        <button type="button" class="chip" aria-pressed onClick={() => set({ environment: undefined })}>
          Only {visible(environment)} <Icon name="close" />
        </button>
      )}
    </>
  )
}

function FlowsStatistics() {
  const { params } = useAddress()
  return (
    <>
      <div class="bar flows-bar">
        <EventSelect event={params['event']} onChange={(event) => set({ event })} />
        <CommonFilters params={params} />
      </div>
      <Statistics params={pick(params, ['event', 'environment', 'from', 'to'])} />
    </>
  )
}

/** The list of flows, by state. */
function FlowsList() {
  const { params } = useAddress()
  const filter = pick(params, FILTERS)
  const { flows, areCurrent, problem, areMore, more, counts, reload } = useFlows(
    filter,
    pick(params, ['state', 'sort']),
  )
  const { state = '', sort = USUAL_SORT, level = '' } = params
  const box = useRef<HTMLInputElement>(null)
  const find = { what: 'Find or open a flow', run: () => box.current?.focus() }
  useKeys({
    '/': find,
    j: { what: 'Next flow', run: () => walk('.flows-key', 1) },
    k: { what: 'Previous flow', run: () => walk('.flows-key', -1) },
  })
  return (
    <>
      <div class="bar flows-bar">
        <TypedInput
          label={FLOWS.find}
          value={params['q']}
          inputRef={box}
          onRest={(q) => go({ params: { q } }, 'replace')}
          onEnter={(key) => key !== '' && go({ path: ['flows', key] })}
        />
        <Select
          label={FLOWS.level}
          value={parseLevel(level) ?? ''}
          options={[['', FLOWS.allLevels], ...LEVELS.slice(3).map((one) => [one, `${one} and above`] as const)]}
          onChange={(chosen) => set({ level: chosen })}
        />
        <EventSelect event={params['event']} onChange={(event) => set({ event })} />
        <Select
          label={FLOWS.sort}
          value={sort}
          options={SORTS}
          onChange={(chosen) => set({ sort: chosen === USUAL_SORT ? undefined : chosen })}
        />
        <CommonFilters params={params} />
      </div>
      <Tabs
        label={FLOWS.state}
        tabs={TABS.map(([id, name]) => ({ id, name: <StateTab state={id} name={name} counts={counts} /> }))}
        tab={state}
        onTab={(chosen) => set({ state: chosen })}
      >
        <div class={`stack ${areCurrent ? '' : 'stale'}`}>
          <Busy on={(flows === undefined || !areCurrent) && problem === undefined} />
          <Failed problem={problem} reload={reload} instead={flows === undefined} />
          {flows && flows.length > 0 && <FlowTable flows={flows} />}
          {flows?.length === 0 && !areMore && (
            <NoFlows
              filtered={NARROWING.some((name) => params[name])}
              sought={params['q']}
              onClear={() => set(pick({}, NARROWING))}
            />
          )}
          {areMore &&
            (more ? (
              <Button label={FLOWS.older} onClick={more} />
            ) : (
              <span class="muted small">No more than {countText(FLOWS_MAX)} flows are shown at once.</span>
            ))}
        </div>
      </Tabs>
    </>
  )
}

interface StateTabProps {
  readonly state: FlowState | ''
  readonly name: string
  readonly counts: FlowCounts | undefined
}

function StateTab({ state, name, counts }: StateTabProps) {
  const count = counts && (state === '' ? Object.values(counts).reduce((sum, one) => sum + one, 0) : counts[state])
  return (
    <>
      {name} {/* Its room is there before the count. */}
      <span
        class={`badge ${(count && BADGES[state]) || ''}`}
        style={{ visibility: count === undefined ? 'hidden' : 'visible' }}
      >
        {shortCount(count ?? 0)}
      </span>
    </>
  )
}

/** The Events to choose from; the Event in the address is always included. */
function EventSelect({
  event = '',
  onChange,
}: {
  readonly event: string | undefined
  readonly onChange: (event: string) => void
}) {
  const events = useFetch<NameList>('/api/names', { limit: FLOWS_MAX }).data?.events ?? []
  const chosen = event === '' || events.some(({ identifier }) => identifier === event) ? [] : [[event, event] as const]
  const options = [
    ['', FLOWS.allEvents] as const,
    ...chosen,
    ...events.map((one) => [one.identifier, nameOf(one)] as const),
  ]
  return <Select label={FLOWS.event} value={event} options={options} onChange={onChange} />
}

function FlowTable({ flows }: { readonly flows: readonly FlowSummary[] }) {
  // If all flows are from the same place, naming it in every row is redundant.
  const where = new Set(flows.map(placesOf)).size > 1 || flows.length === 1
  return (
    <div class="panel flows">
      <div class="scroll">
        <table class="table">
          <thead>
            <tr>
              <th>State</th>
              <th>correlationKey</th>
              <th>Last log</th>
              <th class="num flow-wide">Duration</th>
              <th class="num">Logs</th>
              <th class="flow-wide">Levels</th>
              <th class="flow-wide">Step</th>
              {where && <th class="flow-wide">Where</th>}
            </tr>
          </thead>
          <tbody>
            {flows.map((flow) => (
              <FlowRow key={flow.correlationKey} flow={flow} where={where} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** The Events and Projects of a flow, as one text. */
function placesOf({ events, projects, steps }: FlowSummary): string {
  const places = [...(events.length > 0 ? events : steps).map(nameOf), ...projects.map(({ id, name }) => name ?? id)]
  return visible(places.join(', '))
}

function FlowRow({ flow, where }: { readonly flow: FlowSummary; readonly where: boolean }) {
  const utc = useUtc()
  const { correlationKey, firstAt, lastAt, total, levels, state, steps } = flow
  const places = placesOf(flow)
  const next = awaitedSteps(flow).map(nameOf).join(', ')
  return (
    <tr data-id={correlationKey}>
      <td>
        <StateBadge flow={flow} />
      </td>
      <td class="cut">
        <a class="flows-key mono" href={hrefTo({ path: ['flows', correlationKey] })}>
          <bdi>{visible(correlationKey)}</bdi>
        </a>
      </td>
      <td class="nowrap" title={`${timeText(firstAt, utc)} to ${timeText(lastAt, utc)}`}>
        {agoText(lastAt, useNow())}
      </td>
      <td class="num flow-wide">{durationText(Date.parse(lastAt) - Date.parse(firstAt))}</td>
      <td class="num">{countText(total)}</td>
      <td class="nowrap flow-wide">
        {LEVELS.slice(3)
          .toReversed()
          .map(
            (level) =>
              levels[level] && (
                <span key={level} class="flows-level num" title={level}>
                  <LevelMark level={level} /> {countText(levels[level])}
                </span>
              ),
          )}
      </td>
      <td class="cut flow-wide">
        {next !== '' && <span class="muted">before </span>}
        {visible(state === 'failed' ? steps.slice(-1).map(nameOf).join() : next)}
      </td>
      {where && (
        <td class="cut flow-wide" title={places}>
          {places}
        </td>
      )}
    </tr>
  )
}

/** Leads to a search of the logs for what no flow has in its key. */
export const SearchLogs = ({ text }: { readonly text: string }) => (
  <a class="button" href={hrefTo({ path: ['application-logs'], params: { q: text } })}>
    {FLOWS.searchLogs}
  </a>
)

interface NoFlowsProps {
  readonly filtered: boolean
  /** The part of a key that is looked for. */
  readonly sought: string | undefined
  readonly onClear: () => void
}

/** Explains why there is no flow, and how to see one. */
function NoFlows({ filtered, sought, onClear }: NoFlowsProps) {
  const events = useFetch<EntryPage>('/api/event-logs', { limit: 1 }).data
  const applications = useFetch<EntryPage>('/api/application-logs', { limit: 1 }).data
  if (!filtered && (events === undefined || applications === undefined)) return null
  if (!filtered && events?.items.length === 0 && applications?.items.length === 0) return <FirstMinute kind="flow" />
  const [title, reason] = filtered ? FLOWS.noMatch : FLOWS.none
  return (
    <div class="panel empty">
      <h2>{title}</h2>
      <p>{reason}</p>
      {filtered && (
        <div class="bar">
          <Button label={FLOWS.showAll} onClick={onClear} />
          {sought && <SearchLogs text={sought} />}
        </div>
      )}
      <RefusedNote />
    </div>
  )
}

/** Refresh interval while the page is visible, in milliseconds. */
const REFRESH_MS = 5_000
const FIRST = 50
/** The API's maximum per answer. */
const FLOWS_MAX = 1_000

interface Flows {
  /** Undefined before the first answer. */
  readonly flows: readonly FlowSummary[] | undefined
  /** Whether they are those of the filter, not of an earlier one. */
  readonly areCurrent: boolean
  readonly problem: Problem | undefined
  /** Whether there are more. */
  readonly areMore: boolean
  /** Loads more; undefined if there are too many to show at once. */
  readonly more: (() => void) | undefined
  /** The number of flows by state; undefined while unknown. */
  readonly counts: FlowCounts | undefined
  reload(): void
}

/**
 * The selected flows, kept up to date. All rows come from one answer: flows move to the top as they log, so that pages read at different
 * times would not fit together.
 */
function useFlows(filter: Params, order: Params): Flows {
  const params = { ...filter, ...order }
  const key = JSON.stringify(params)
  const [asked, setAsked] = useState({ key: '', limit: 0 })
  const first = useMemo(() => Math.max(FIRST, rowsToReturn()), [key])
  const limit = asked.key === key ? asked.limit : first
  const list = useFetch<FlowPage>('/api/flows', { ...params, limit })
  const { data, problem, loading } = list
  const counted = useFetch<FlowStateCounts>('/api/flow-states', filter)
  const busy = loading || counted.loading
  const reload = (): void => {
    list.reload()
    counted.reload()
  }
  useEvery(REFRESH_MS, reload, !busy)
  useReturn(data)
  return {
    flows: data?.items,
    areCurrent: useAnswers(data, key),
    problem,
    counts: counted.problem === undefined ? counted.data?.states : undefined,
    areMore: !!data?.nextCursor,
    more: limit < FLOWS_MAX ? () => setAsked({ key, limit: Math.min(2 * limit, FLOWS_MAX) }) : undefined,
    reload,
  }
}
