import type { ComponentChildren } from 'preact'
import type { FlowSummary } from '../api/types.ts'
import { plural, visible } from '../lib/format.ts'
import { agoText, durationText } from '../lib/times.ts'
import { Copy } from '../ui/copy.tsx'
import { Time } from '../ui/time.tsx'
import { FlowExport } from './flow-export.tsx'
import type { FlowData } from './use-flow.ts'
import type { FlowView } from './use-flow-view.ts'
import { useNow } from './use-now.ts'

interface HeaderProps {
  readonly view: FlowView
  readonly data: FlowData
  readonly toggleLive: () => void
}

const LIVE = { off: 'Paused', connecting: 'Connecting', live: 'Live', away: 'Reconnecting' } as const

/** What a flow is, before one looks at its logs. */
export function FlowHeader({ view, data: { live }, toggleLive }: HeaderProps) {
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
        <button
          type="button"
          class="button small"
          aria-pressed={live !== 'off'}
          title="New logs appear as they come (t)"
          onClick={toggleLive}
        >
          <span class={`flow-dot ${live}`} />
          {LIVE[live]}
        </button>
        <Copy text={() => location.href} label="Copy link" named class="button small" />
        <FlowExport view={view} />
      </header>
      <p class="muted">
        {visible(summary.reason)} The last log is from {agoText(lastAt, useNow())}.
      </p>
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
          <Time at={lastAt} full />
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

const LOOKS = { running: 'flow-running', finished: 'good', stalled: 'warn', failed: 'bad' } as const

/** What the flow seems to be doing, with the reason on hover. */
export const StateBadge = ({ flow: { state, reason } }: { readonly flow: FlowSummary }) => (
  <span class={`badge flow-state ${LOOKS[state]}`} title={`A guess: ${visible(reason)}`}>
    {state}
  </span>
)
