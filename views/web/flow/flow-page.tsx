import { useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import type { Flow as FlowAnswer } from '../../schemas/answers.ts'
import { Failed } from '../api/failed.tsx'
import { copyJson } from '../logs/entry-actions.tsx'
import { Busy } from '../ui/busy.tsx'
import { copy } from '../ui/copy.tsx'
import { hrefTo, useReturn } from '../ui/use-address.ts'
import { type KeyMap, useKeys } from '../ui/use-keys.ts'
import { FlowDetails } from './flow-details.tsx'
import { FlowDrawing } from './flow-drawing.tsx'
import { FlowHeader } from './flow-header.tsx'
import { FlowList } from './flow-list.tsx'
import { FlowSteps } from './flow-steps.tsx'
import { FlowToolbar } from './flow-toolbar.tsx'
import { SearchLogs } from './flows-page.tsx'
import { nextOf } from './navigation.ts'
import { type FlowData, useFlow } from './use-flow.ts'
import { type FlowView, useFlowView, ZOOM, zoomBy } from './use-flow-view.ts'

/** One flow: everything with its correlationKey, across Projects and days, drawn and listed. */
export function FlowPage({ correlationKey }: { readonly correlationKey: string }) {
  const [on, setOn] = useState(true)
  const data = useFlow(correlationKey, on)
  const { brief } = data
  return brief === undefined ? (
    <NoFlow correlationKey={correlationKey} data={data} />
  ) : (
    <Flow brief={brief} data={data} toggleLive={() => setOn(!on)} />
  )
}

interface FlowProps {
  readonly brief: FlowAnswer
  readonly data: FlowData
  readonly toggleLive: () => void
}

function Flow({ brief, data, toggleLive }: FlowProps) {
  const view = useFlowView(brief, data.entries)
  const { selected, passing, matches, logs } = view
  const places = passing.flatMap((log, index) => ((matches?.has(log) ?? log.rank > 3) ? [index] : []))
  const here = selected === undefined ? -1 : passing.indexOf(selected)
  const jump = (step: 1 | -1): void => {
    const next = nextOf(places, here < 0 ? undefined : here, step)
    if (next !== undefined) view.select(passing[next])
  }
  useKeys(keysOf(view, toggleLive, jump))
  useReturn(data.loading ? undefined : brief)
  return (
    <div class="page flow-page">
      <FlowHeader view={view} data={data} toggleLive={toggleLive} />
      {view.params['steps'] !== undefined && <FlowSteps view={view} />}
      <FlowToolbar view={view} jump={jump} at={places.indexOf(here) + 1} errors={places.length} />
      <Busy on={data.loading} />
      <Failed problem={data.problem} reload={data.reload} />
      {logs.length > 0 && (
        <>
          <FlowDrawing view={view} />
          <div class="split flow-below">
            <FlowList view={view} data={data} />
            {selected && <FlowDetails view={view} log={selected} />}
          </div>
        </>
      )}
    </div>
  )
}

function keysOf(view: FlowView, toggleLive: () => void, jump: (step: 1 | -1) => void): KeyMap {
  const { selected, listed, matches } = view
  const move = (step: 1 | -1): void => {
    const at = selected === undefined ? -1 : listed.indexOf(selected)
    view.select(listed[at < 0 && step < 0 ? listed.length - 1 : at + step] ?? selected)
  }
  const what = matches === undefined ? 'error' : 'match'
  return {
    j: { what: 'Next log', run: () => move(1) },
    k: { what: 'Previous log', run: () => move(-1) },
    n: { what: `Next ${what}`, run: () => jump(1) },
    N: { what: `Previous ${what}`, run: () => jump(-1) },
    '+': { what: 'Zoom in', run: () => zoomBy(view, ZOOM) },
    '-': { what: 'Zoom out', run: () => zoomBy(view, 1 / ZOOM) },
    '0': { what: 'Show the whole time', run: () => view.setWindow(undefined) },
    t: { what: 'Live', run: toggleLive },
    l: { what: 'Copy the link', run: () => void copy(location.href, 'The link') },
    c: {
      what: 'Copy the JSON',
      run: () => selected !== undefined && void copyJson(selected.entry),
    },
    Escape: {
      what: 'Close',
      run: () => {
        // Escape undoes the innermost narrowing first.
        if (selected !== undefined) view.select(undefined)
        else if (view.window !== undefined) view.setWindow(undefined)
        else if (matches !== undefined || view.lane !== undefined) view.set({ q: undefined, lane: undefined })
        else return false
        return true
      },
    },
  }
}

/** Placeholder for a flow that is loading, unknown, or could not be read. */
function NoFlow({
  correlationKey,
  data: { problem, unknown, loading, live, reload },
}: {
  readonly correlationKey: string
  readonly data: FlowData
}) {
  return (
    <div class="page">
      <h1 class="flow-key">
        <bdi>{visible(correlationKey)}</bdi>
      </h1>
      <Busy on={loading} />
      <Failed problem={problem} reload={reload} instead />
      {problem === undefined && unknown && (
        <div class="panel empty" role="status">
          <h2>No log of your Team has this key</h2>
          <p>A key is matched exactly, capitals included.{live === 'live' && ' The page waits for its first log.'}</p>
          <div class="bar">
            <a class="button primary" href={hrefTo({ path: ['flows'], params: { q: correlationKey } })}>
              Find keys that contain it
            </a>
            <SearchLogs text={correlationKey} />
          </div>
        </div>
      )}
    </div>
  )
}
