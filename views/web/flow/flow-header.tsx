import type { FlowSummary } from '../api/types.ts'
import { plural, visible } from '../lib/format.ts'
import { durationText } from '../lib/times.ts'
import { Copy } from '../ui/copy.tsx'
import { Time } from '../ui/time.tsx'
import { FlowExport } from './flow-export.tsx'
import { type FlowState, guessState } from './state.ts'
import type { FlowData } from './use-flow.ts'
import type { FlowView } from './use-flow-view.ts'
import { useNow } from './use-now.ts'

/** What a flow is, before one looks at its logs. */
export function FlowHeader({
  view,
  data,
  live,
}: {
  readonly view: FlowView
  readonly data: FlowData
  readonly live: LiveSwitch
}) {
  const { summary } = view.brief
  const { correlationKey, firstAt, lastAt, total, events, steps, projects } = summary
  const duration = Date.parse(lastAt) - Date.parse(firstAt)
  return (
    <header class="flow-head">
      <div class="bar">
        <h1 class="flow-key">
          <bdi>{visible(correlationKey)}</bdi>
        </h1>
        <Copy text={correlationKey} label="Copy the correlationKey" />
        <StateBadge flow={summary} />
        <span class="grow" />
        <LiveButton state={data.live} {...live} />
        <Copy text={() => location.href} label="Copy link" named class="button small" />
        <FlowExport view={view} />
      </div>
      <p class="muted">
        <Reason flow={summary} />
      </p>
      <dl class="flow-facts">
        <Fact name="Logs">{plural(total, 'log')}</Fact>
        <Fact name="Duration">
          {durationText(duration)}
          {view.gaps.length > 0 && <span class="muted"> · {durationText(view.activeMs)} active</span>}
        </Fact>
        <Fact name="First">
          <Time at={firstAt} full />
        </Fact>
        <Fact name="Last">
          <Time at={lastAt} full />
        </Fact>
        <Fact name="Your Team's part of it">
          {[
            events.length > 0 && plural(events.length, 'Event'),
            steps.length > 0 && plural(steps.length, 'Step'),
            projects.length > 0 && plural(projects.length, 'Project'),
          ]
            .filter(Boolean)
            .join(', ')}
        </Fact>
      </dl>
    </header>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const LOOKS: Readonly<Record<FlowState, string>> = {
  running: 'badge flow-running',
  finished: 'badge good',
  stalled: 'badge warn',
  failed: 'badge bad',
}

/** What the flow seems to be doing, with the reason on hover. */
export function StateBadge({ flow }: { readonly flow: FlowSummary }) {
  const { state, reason } = guessState(flow, useNow())
  return (
    <span class={`${LOOKS[state]} flow-state`} title={`A guess: ${visible(reason)}`}>
      {state}
    </span>
  )
}

const Reason = ({ flow }: { readonly flow: FlowSummary }) => <bdi>{visible(guessState(flow, useNow()).reason)}</bdi>

export interface LiveSwitch {
  readonly on: boolean
  readonly toggle: () => void
}

const LIVE_WORDS = { off: 'Paused', connecting: 'Connecting', live: 'Live', away: 'Reconnecting' } as const

const LiveButton = ({ state, on, toggle }: LiveSwitch & { readonly state: FlowData['live'] }) => (
  <button
    type="button"
    class="button small"
    aria-pressed={on}
    title={on ? 'New logs appear as they come (t)' : 'Show new logs as they come (t)'}
    onClick={toggle}
  >
    <span class={`flow-dot ${state}`} />
    {LIVE_WORDS[state]}
  </button>
)
