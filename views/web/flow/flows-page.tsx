import { useRef, useState } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { countText, visible } from '../../flow-layout/format.ts'
import { durationText, timeText } from '../../flow-layout/times.ts'
import type { EntryPage, FlowPage, FlowSummary } from '../../schemas/answers.ts'
import type { Params, Problem } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { agoText } from '../lib/times.ts'
import { ALL_TIME } from '../logs/filters.ts'
import { RangePicker } from '../logs/range-picker.tsx'
import { RefusedNote } from '../refused/refused-note.tsx'
import { FirstMinute } from '../team/first-minute.tsx'
import { Icon } from '../ui/icon.tsx'
import { LevelMark } from '../ui/level.tsx'
import { useNow, useUtc } from '../ui/time.tsx'
import { hrefTo, useAddress } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { useKeys } from '../ui/use-keys.ts'
import { StateBadge } from './flow-header.tsx'
import { Busy } from './flow-page.tsx'
import { TypedInput } from './typed-input.tsx'

/** The parameters that select flows; a flow has a level where its worst log has it. */
const FILTERS = ['q', 'level', 'environment', 'from', 'to'] as const

/** The flows of the Team, those with the latest activity first. */
export function FlowsPage() {
  const [{ params }, go] = useAddress()
  const { flows, problem, areMore, more } = useFlows(Object.fromEntries(FILTERS.map((name) => [name, params[name]])))
  const set = (patch: Readonly<Record<string, string | undefined>>): void => go({ params: patch }, 'replace')
  const { level = '', environment, from, to } = params
  const box = useRef<HTMLInputElement>(null)
  const find = { what: 'Find or open a flow', run: () => box.current?.focus() }
  useKeys({
    '/': find,
    j: { what: 'Next flow', run: () => step(1) },
    k: { what: 'Previous flow', run: () => step(-1) },
  })
  return (
    <div class="page">
      <h1>Flows</h1>
      <div class="bar flows-bar">
        <TypedInput
          label="Part of a correlationKey, or all of it and Enter"
          value={params['q']}
          inputRef={box}
          onRest={(q) => set({ q })}
          onEnter={(key) => key !== '' && go({ path: ['flows', key] })}
        />
        <select
          class="input"
          aria-label="Worst level"
          value={level}
          onChange={({ currentTarget }) => set({ level: currentTarget.value })}
        >
          <option value="">All levels</option>
          {LEVELS.slice(3).map((one) => (
            <option key={one} value={one}>
              {one} and above
            </option>
          ))}
        </select>
        <RangePicker
          params={{ from: from ?? (to ? undefined : ALL_TIME), to }}
          onRange={(range) => set({ ...range, from: range.from === ALL_TIME ? undefined : range.from })}
        />
        {environment && (
          <button type="button" class="chip" aria-pressed onClick={() => set({ environment: undefined })}>
            Only {visible(environment)} <Icon name="close" />
          </button>
        )}
      </div>
      <Busy on={flows === undefined && problem === undefined} />
      {problem && <p class="notice bad">{problem.message}</p>}
      {flows && flows.length > 0 && <FlowTable flows={flows} />}
      {flows?.length === 0 && (
        <NoFlows
          filtered={FILTERS.some((name) => params[name])}
          onClear={() => set(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
        />
      )}
      {areMore &&
        (more ? (
          <button type="button" class="button" onClick={more}>
            Load older flows
          </button>
        ) : (
          <span class="muted small">No more than {countText(FLOWS_MAX)} flows are shown at once.</span>
        ))}
    </div>
  )
}

/** Goes from row to row by their links. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.flows-key')]
  const next = links.indexOf(document.activeElement as HTMLElement) + by
  links[Math.max(0, next)]?.focus()
}

const FlowTable = ({ flows }: { readonly flows: readonly FlowSummary[] }) => (
  <div class="panel scroll flows">
    <table class="table">
      <thead>
        <tr>
          <th>State</th>
          <th>correlationKey</th>
          <th>Last log</th>
          <th class="num flow-wide">Duration</th>
          <th class="num">Logs</th>
          <th class="flow-wide">Levels</th>
          <th class="flow-wide">Next Step</th>
          <th class="flow-wide">Where</th>
        </tr>
      </thead>
      <tbody>
        {flows.map((flow) => (
          <FlowRow key={flow.correlationKey} flow={flow} />
        ))}
      </tbody>
    </table>
  </div>
)

function FlowRow({ flow }: { readonly flow: FlowSummary }) {
  const utc = useUtc()
  const { correlationKey, firstAt, lastAt, total, levels, events, projects, steps, nextSteps } = flow
  const places = [...(events.length > 0 ? events : steps).map(nameOf), ...projects.map(({ id, name }) => name ?? id)]
  const where = visible(places.join(', '))
  return (
    <tr>
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
      <td class="cut flow-wide">{visible(nextSteps.map(nameOf).join(', '))}</td>
      <td class="cut flow-wide" title={where}>
        {where}
      </td>
    </tr>
  )
}

/** Says why there is no flow, and what would show one. */
function NoFlows({ filtered, onClear }: { readonly filtered: boolean; readonly onClear: () => void }) {
  const events = useFetch<EntryPage>('/api/event-logs', { limit: 1 }).data
  const applications = useFetch<EntryPage>('/api/application-logs', { limit: 1 }).data
  if (!filtered && (events === undefined || applications === undefined)) return null
  if (!filtered && events?.items.length === 0 && applications?.items.length === 0) return <FirstMinute kind="flow" />
  return (
    <div class="panel empty">
      <h2>{filtered ? 'No flow matches' : 'No log has a correlationKey yet'}</h2>
      <p>
        {filtered
          ? 'No flow has this in its key, with these levels, in this time.'
          : 'All logs with the same correlationKey, such as the number of an order, are drawn here as one flow.'}
      </p>
      {filtered && (
        <button type="button" class="button" onClick={onClear}>
          Show all flows
        </button>
      )}
      <RefusedNote />
    </div>
  )
}

/** How often the flows are asked for while the page is looked at. */
const REFRESH_MS = 5_000
const FIRST = 50
/** As many as one answer of the API has. */
const FLOWS_MAX = 1_000

export interface Flows {
  /** Latest activity first; undefined before the first answer. */
  readonly flows: readonly FlowSummary[] | undefined
  readonly problem: Problem | undefined
  /** Whether there are more, older ones. */
  readonly areMore: boolean
  /** Reads them; undefined where there are too many to be shown at once. */
  readonly more: (() => void) | undefined
}

/**
 * The flows that the parameters select, as they change. All that are shown come in one answer: flows move to the top as they log, so
 * that parts which were read at different times would not fit together.
 */
function useFlows(params: Params): Flows {
  const key = JSON.stringify(params)
  const [asked, setAsked] = useState({ key, limit: FIRST })
  const limit = asked.key === key ? asked.limit : FIRST
  const { data, problem, loading, reload } = useFetch<FlowPage>('/api/flows', { ...params, limit })
  useEvery(REFRESH_MS, reload, !loading)
  return {
    flows: data?.items,
    problem,
    areMore: !!data?.nextCursor,
    more: limit < FLOWS_MAX ? () => setAsked({ key, limit: Math.min(2 * limit, FLOWS_MAX) }) : undefined,
  }
}
