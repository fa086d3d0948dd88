import type { ComponentChildren } from 'preact'
import { epochMs, type FlowLog } from '../../flow-layout/flow-log.ts'
import { plural, visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { EntryDetails, FlowSummary } from '../../schemas/answers.ts'
import { urlOf } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { agoText, iso } from '../lib/times.ts'
import { detailsPath } from '../logs/links.ts'
import { LiveSwitch } from '../logs/toolbar.tsx'
import { Button, Icon } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Popover } from '../ui/popover.tsx'
import { Time, useNow } from '../ui/time.tsx'
import { apiOf } from './flow-address.ts'
import { STEPS } from './texts.ts'
import type { FlowData } from './use-flow.ts'
import type { FlowView } from './use-flow-view.ts'
import { failingLog, failureText } from './words.ts'

interface HeaderProps {
  readonly view: FlowView
  readonly data: FlowData
  readonly toggleLive: () => void
}

/** The summary of a flow, above its logs. */
export function FlowHeader({ view, data: { live, loading }, toggleLive }: HeaderProps) {
  const { summary } = view.brief
  const { correlationKey, firstAt, lastAt, total, events, steps, projects } = summary
  const parts = [
    [events, 'Event'],
    [steps, 'Step'],
    [projects, 'Project'],
  ] as const
  return (
    <>
      <header class="bar">
        <h1 class="flow-key">
          <bdi>{visible(correlationKey)}</bdi>
        </h1>
        <Copy text={correlationKey} label="Copy the correlationKey" />
        <StateBadge flow={summary} />
        <span class="grow" />
        <LiveSwitch live={live} small onLive={toggleLive} />
        {view.brief.steps.length > 0 && (
          <Button
            label={STEPS.title}
            class="small"
            aria-pressed={view.params['steps'] !== undefined}
            title={STEPS.toggle}
            onClick={() =>
              view.set({ steps: view.params['steps'] === undefined ? 'show' : undefined, compare: undefined })
            }
          />
        )}
        <Copy text={() => location.href} label="Copy link" named class="button small" />
        <FlowExport view={view} />
      </header>
      <FlowFailure view={view} loading={loading} />
      <p class="muted">{visible(summary.reason)}</p>
      <dl class="flow-facts">
        <Fact name="Logs">{plural(total, 'log')}</Fact>
        <Fact name="Duration">
          {durationText(Date.parse(lastAt) - Date.parse(firstAt))}
          {view.gaps.length > 0 && <span class="muted"> · {durationText(view.active)} active</span>}
        </Fact>
        <Fact name="First">
          <Time at={firstAt} full />
        </Fact>
        <Fact name="Last">
          <Time at={lastAt} full /> <span class="muted">· {agoText(lastAt, useNow())}</span>
        </Fact>
        <Fact name="Your Team's part of it">
          {parts.flatMap(([{ length }, what]) => (length > 0 ? [plural(length, what)] : [])).join(', ')}
        </Fact>
      </dl>
    </>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const LOOKS = { running: 'flow-running', finished: '', stalled: 'warn', failed: 'bad' } as const

/** The flow's presumed state, with the reason on hover. */
export const StateBadge = ({ flow: { state, reason } }: { readonly flow: FlowSummary }) => (
  <span class={`badge flow-state ${LOOKS[state]}`} title={`A guess: ${visible(reason)}`}>
    {state}
  </span>
)

/** Exports of the flow: a drawing, and its logs as stored. */
function FlowExport({ view: { window, params, brief } }: { readonly view: FlowView }) {
  const api = apiOf(brief.summary.correlationKey, '/export')
  // The API's range applies to timestamps, not to times of receipt.
  const range = window &&
    params['order'] !== 'received' && { from: iso(window.from), to: iso(Math.ceil(window.to) + 1) }
  return (
    <Popover class="button small" align="end" label={[<Icon name="download" />, 'Export']}>
      {() =>
        ['SVG', 'NDJSON', 'CSV'].map((format, index) => (
          <a key={format} href={urlOf(api.path, { ...api.params, ...range, format })} download>
            {index ? (range ? 'Logs of this time' : 'All logs') : 'Drawing'} as {format}
          </a>
        ))
      }
    </Popover>
  )
}

/** The error that a flow ended with, on one line that links to its log. */
function FlowFailure({ view, loading }: { readonly view: FlowView; readonly loading: boolean }) {
  const { state, lastProgressAt } = view.brief.summary
  if (state !== 'failed') return null
  const log = failingLog(view.logs, lastProgressAt === null ? 0 : epochMs(lastProgressAt))
  if (log !== undefined) return <Line log={log} onSelect={() => view.select(log)} />
  // Its room is kept, so that nothing moves when it comes.
  return loading ? <p>{'\u00a0'}</p> : null
}

function Line({ log, onSelect }: { readonly log: FlowLog; readonly onSelect: () => void }) {
  const { entry } = log
  const thrown = entry.kind === 'application' && entry.exception !== null
  const { data } = useFetch<EntryDetails>(thrown ? detailsPath(entry) : null)
  const { what, where } = failureText(log, data?.exception?.parts ?? [])
  return (
    <p class="flow-failure">
      <button type="button" class="mono bad" title="Go to this log" onClick={onSelect}>
        <bdi>{visible(what)}</bdi>
        {where !== '' && <bdi class="muted"> · {visible(where)}</bdi>}
      </button>
    </p>
  )
}
