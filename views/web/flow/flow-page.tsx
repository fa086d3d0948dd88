import { useState } from 'preact/hooks'
import type { FlowDetail } from '../api/types.ts'
import { copy } from '../ui/copy.tsx'
import { type KeyMap, useKeys } from '../ui/use-keys.ts'
import { FlowDetails } from './flow-details.tsx'
import { FlowDrawing } from './flow-drawing.tsx'
import { FlowHeader, type LiveSwitch } from './flow-header.tsx'
import { FlowList } from './flow-list.tsx'
import { FlowToolbar, zoomBy } from './flow-tools.tsx'
import { nextOf } from './next.ts'
import { NoFlow } from './no-flow.tsx'
import { type FlowData, useFlow } from './use-flow.ts'
import { type FlowView, useFlowView } from './use-flow-view.ts'

/** One flow: everything that carries a correlationKey, over Projects and days, drawn and listed. */
export function FlowPage({ correlationKey }: { readonly correlationKey: string }) {
  const [on, setOn] = useState(true)
  const data = useFlow(correlationKey, on)
  const live = { on, toggle: () => setOn(!on) }
  if (data.brief === undefined) return <NoFlow correlationKey={correlationKey} data={data} />
  return <Flow brief={data.brief} data={data} live={live} />
}

interface FlowProps {
  readonly brief: FlowDetail
  readonly data: FlowData
  readonly live: LiveSwitch
}

function Flow({ brief, data, live }: FlowProps) {
  const view = useFlowView(brief, data.logs)
  const { selected, passing, matches } = view
  const places = (matches === undefined ? passing.filter(({ rank }) => rank > 3) : [...matches])
    .map((log) => passing.indexOf(log))
    .sort((a, b) => a - b)
  const here = selected === undefined ? -1 : passing.indexOf(selected)
  const jump = (step: 1 | -1): void => {
    const next = nextOf(places, here < 0 ? undefined : here, step)
    if (next !== undefined) view.select(passing[next])
  }
  useKeys(keysOf(view, live, jump))

  return (
    <div class="page flow-page">
      <FlowHeader view={view} data={data} live={live} />
      <FlowToolbar view={view} jump={jump} at={places.indexOf(here) + 1} />
      <div class="busy-line">{data.loading && <div class="busy" />}</div>
      {view.logs.length > 0 && (
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

function keysOf(view: FlowView, live: LiveSwitch, jump: (step: 1 | -1) => void): KeyMap {
  const { selected, listed, matches } = view
  const move = (step: 1 | -1): void => {
    const at = selected === undefined ? -1 : listed.indexOf(selected)
    view.select(
      listed[at < 0 ? (step === 1 ? 0 : listed.length - 1) : Math.min(listed.length - 1, Math.max(0, at + step))],
    )
  }
  const what = matches === undefined ? 'error' : 'match'
  return {
    j: { what: 'Next log', run: () => move(1) },
    k: { what: 'Previous log', run: () => move(-1) },
    n: { what: `Next ${what}`, run: () => jump(1) },
    N: { what: `Previous ${what}`, run: () => jump(-1) },
    '+': { what: 'Zoom in', run: () => zoomBy(view, 0.6) },
    '-': { what: 'Zoom out', run: () => zoomBy(view, 1 / 0.6) },
    '0': { what: 'Show the whole time', run: () => view.setWindow(undefined, 'push') },
    '/': { what: 'Find in this flow', run: () => document.getElementById('flow-find')?.focus() },
    t: { what: 'Live', run: live.toggle },
    l: { what: 'Copy link', run: () => void copy(location.href, 'The link') },
    c: {
      what: 'Copy as JSON',
      run: () => selected !== undefined && void copy(JSON.stringify(selected.entry, null, 2), 'The log'),
    },
    Escape: { what: 'Close, or show the whole time', run: () => giveUp(view) },
  }
}

/** Takes back the last thing that narrows the page: the selection, the search, the window, the lane. */
function giveUp(view: FlowView): boolean {
  if (view.selected !== undefined) view.select(undefined)
  else if (view.matches !== undefined) view.set({ q: undefined })
  else if (view.window !== undefined) view.setWindow(undefined, 'push')
  else if (view.lane !== undefined) view.set({ lane: undefined })
  else return false
  return true
}
