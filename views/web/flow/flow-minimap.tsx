import { useMemo } from 'preact/hooks'
import { createTimeScale } from '../../flow-layout/time-scale.ts'
import { useWidth } from '../ui/use-width.ts'
import { spanOf, useDrag } from './element-hooks.ts'
import { minimapPaths } from './minimap.ts'
import { panned, windowAt } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'

const HEIGHT_PX = 36

/** The whole flow in miniature: its logs and errors, and the part that is shown below. */
export function FlowMinimap({ view }: { readonly view: FlowView }) {
  const { segments, rows, window, passing, setWindow } = view
  const [ref, width] = useWidth()
  const scale = useMemo(() => createTimeScale(segments, width), [segments, width])
  const { others, errors } = useMemo(
    () => minimapPaths(rows, scale, new Set(passing), HEIGHT_PX),
    [rows, scale, passing],
  )
  const shown = window && { from: scale.project(window.from), to: scale.project(window.to) }
  const [drag, handlers] = useDrag(({ from, to }) => {
    // Dragging the visible range moves it; dragging elsewhere selects a new one.
    if (window && shown && from >= shown.from && from <= shown.to)
      setWindow(panned(scale, window, (to - from) / (shown.to - shown.from || 1)))
    else if (Math.abs(to - from) > width / 100) setWindow(windowAt(scale, Math.min(from, to), Math.max(from, to)))
  })
  return (
    <div class="flow-minimap" ref={ref} {...handlers}>
      <svg width={width} height={HEIGHT_PX} role="img" aria-label="All of the flow, with its errors">
        <path class="flow-mini" d={others} />
        <path class="flow-mini Error" d={errors} />
      </svg>
      {shown && <div class="flow-mini-on" style={spanOf(shown)} />}
      {drag && <div class="flow-brush" style={spanOf(drag)} />}
    </div>
  )
}
