import { useEffect, useRef, useState } from 'preact/hooks'
import type { EntryPage, FlowSummary } from '../api/types.ts'
import { countText, visible } from '../lib/format.ts'
import { LEVELS } from '../lib/levels.ts'
import { agoText, durationText, timeText } from '../lib/times.ts'
import { ALL_TIME } from '../logs/filters.ts'
import { RangePicker } from '../logs/range-picker.tsx'
import { FirstMinute } from '../team/first-minute.tsx'
import { Icon } from '../ui/icon.tsx'
import { LevelMark } from '../ui/level.tsx'
import { hrefTo, useAddress } from '../ui/use-address.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { useKeys } from '../ui/use-keys.ts'
import { useUtc } from '../ui/use-utc.ts'
import { StateBadge } from './flow-header.tsx'
import { useFlows } from './use-flows.ts'
import { useNow } from './use-now.ts'
import { nameOf } from './words.ts'

/** What selects flows; a flow has a level where its worst log has it. */
const FILTERS = ['q', 'level', 'environment', 'from', 'to'] as const

/** The flows of the Team, those with the latest activity first. */
export function FlowsPage() {
  const [{ params }, go] = useAddress()
  const selection = Object.fromEntries(FILTERS.map((name) => [name, params[name]]))
  const { flows, state, more } = useFlows(selection)
  const set = (patch: Readonly<Record<string, string | undefined>>): void => go({ params: patch }, 'replace')
  const { level, environment, from, to } = params
  useKeys({ j: { what: 'Next flow', run: () => step(1) }, k: { what: 'Previous flow', run: () => step(-1) } })
  return (
    <div class="page">
      <h1>Flows</h1>
      <div class="bar">
        <KeyBox />
        <select
          class="input"
          aria-label="Worst level"
          value={level ?? ''}
          onChange={({ currentTarget }) => set({ level: currentTarget.value })}
        >
          <option value="">All levels</option>
          {LEVELS.slice(3).map((one, index) => (
            <option key={one} value={one}>
              {['With warnings', 'With errors', 'With critical errors'][index]}
            </option>
          ))}
        </select>
        <RangePicker
          params={{ from: from ?? (to === undefined ? ALL_TIME : undefined), to }}
          onRange={(range) => set({ ...range, from: range.from === ALL_TIME ? undefined : range.from })}
        />
        {environment !== undefined && (
          <button type="button" class="chip" aria-pressed onClick={() => set({ environment: undefined })}>
            Only {visible(environment)} <Icon name="close" />
          </button>
        )}
      </div>
      <div class="busy-line">{state.loading && flows === undefined && <div class="busy" />}</div>
      {state.problem !== undefined && <p class="notice bad">{state.problem.message}</p>}
      {flows !== undefined && flows.length > 0 && <FlowTable flows={flows} />}
      {flows?.length === 0 && (
        <NoFlows
          used={FILTERS.filter((name) => params[name] !== undefined)}
          wanted={params['q']}
          onClear={() => set(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
        />
      )}
      {more && (
        <button type="button" class="button flows-more" onClick={more}>
          Load older flows
        </button>
      )}
    </div>
  )
}

/** Goes from row to row by their links. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.flows a.flows-key')]
  const at = links.indexOf(document.activeElement as HTMLElement)
  links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
}

const TYPING_MS = 250

/** Narrows the list while one types; Enter opens exactly what was typed, listed or not. */
function KeyBox() {
  const [{ params }, go] = useAddress()
  const wanted = params['q'] ?? ''
  const [text, setText] = useState(wanted)
  const timer = useRef(0)
  const input = useRef<HTMLInputElement>(null)
  const focus = (): void => input.current?.focus()
  useKeys({ '/': { what: 'Find a flow', run: focus }, g: { what: 'A flow by its key', run: focus } })
  useEffect(() => setText(wanted), [wanted])
  useEffect(() => () => clearTimeout(timer.current), [])
  const open = (event: Event): void => {
    event.preventDefault()
    clearTimeout(timer.current)
    if (text !== '') go({ path: ['flows', text] })
  }
  return (
    <form class="flows-box" onSubmit={open}>
      <input
        ref={input}
        class="input mono"
        type="search"
        placeholder="Part of a correlationKey"
        aria-label="Part of a correlationKey"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          clearTimeout(timer.current)
          timer.current = window.setTimeout(() => go({ params: { q: currentTarget.value } }, 'replace'), TYPING_MS)
        }}
      />
      <button type="submit" class="button" disabled={text === ''} title="Open the flow with exactly this key">
        Open <kbd>↵</kbd>
      </button>
    </form>
  )
}

const FlowTable = ({ flows }: { readonly flows: readonly FlowSummary[] }) => (
  <div class="panel scroll flows">
    <table class="table">
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">correlationKey</th>
          <th scope="col">Last log</th>
          <th scope="col" class="num flow-wide">
            Duration
          </th>
          <th scope="col" class="num">
            Logs
          </th>
          <th scope="col">Levels</th>
          <th scope="col" class="flow-wide">
            Next Step
          </th>
          <th scope="col" class="flow-wide">
            Where
          </th>
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
  const { correlationKey, firstAt, lastAt, total, levels, events, projects, steps } = flow
  const names = [...events.map(nameOf), ...projects.map(({ id, name }) => name ?? id)]
  const all = [...names, ...(events.length === 0 ? steps.map(nameOf) : [])].map(visible).join(', ')
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
      <td class="num nowrap flow-wide">{durationText(Date.parse(lastAt) - Date.parse(firstAt))}</td>
      <td class="num">{countText(total)}</td>
      <td class="nowrap">
        {LEVELS.toReversed()
          .filter((level) => LEVELS.indexOf(level) > 2 && levels[level] !== undefined)
          .map((level) => (
            <span key={level} class="flows-level num" title={level}>
              <LevelMark level={level} /> {countText(levels[level] ?? 0)}
            </span>
          ))}
      </td>
      <td class="cut flow-wide">{flow.nextSteps.map(nameOf).map(visible).join(', ')}</td>
      <td class="cut flow-wide" title={all}>
        {all}
      </td>
    </tr>
  )
}

interface NoFlowsProps {
  readonly used: readonly string[]
  readonly wanted: string | undefined
  readonly onClear: () => void
}

/** Says why there is no flow, and what would show one. */
function NoFlows({ used, wanted, onClear }: NoFlowsProps) {
  const anyEvent = useFetch<EntryPage>('/api/event-logs', { limit: 1 })
  const anyApplication = useFetch<EntryPage>('/api/application-logs', { limit: 1 })
  if (used.length > 0)
    return (
      <div class="panel empty">
        <h2>No flow matches</h2>
        <p>
          {wanted === undefined
            ? 'No flow of this level and time.'
            : `No key contains “${visible(wanted)}”${used.length > 1 ? ' among these levels and times' : ''}.`}
        </p>
        <button type="button" class="button" onClick={onClear}>
          Show all flows
        </button>
      </div>
    )
  const loaded = [anyEvent.data, anyApplication.data]
  if (loaded.includes(undefined)) return null
  if (loaded.every((page) => page?.items.length === 0)) return <FirstMinute kind="flow" />
  return (
    <div class="panel empty">
      <h2>No log has a correlationKey yet</h2>
      <p>
        A flow is all logs with the same <code>correlationKey</code>: an order's number, a request's id. Send it along
        with the logs that belong together, from whichever Project, and they are drawn here as one.
      </p>
    </div>
  )
}
