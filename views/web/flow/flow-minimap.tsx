import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { spanOf } from './flow-pointer.tsx'
import { minimapPaths } from './minimap.ts'
import { createTimeScale } from './time-scale.ts'
import { panWindow, windowBetween } from './time-window.ts'
import { useDrag } from './use-drag.ts'
import type { FlowView } from './use-flow-view.ts'

const HEIGHT = 36

/** All of the flow in little: where its logs and errors are, and which part of it is shown below. */
export function FlowMinimap({ view }: { readonly view: FlowView }) {
  const { segments, rows, order, window, passing } = view
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const scale = useMemo(() => createTimeScale(segments, width), [segments, width])
  const paths = useMemo(() => {
    const shown = new Set(passing)
    return minimapPaths(
      rows,
      (log) => shown.has(log),
      (log) => scale.project(log[order]),
      HEIGHT,
    )
  }, [rows, passing, scale, order])
  const shown = window && { from: scale.project(window.from), to: scale.project(window.to) }
  const drag = useDrag(ref, ({ from, to }) => {
    // Dragging what is shown moves it; dragging elsewhere shows something else.
    const moves = window !== undefined && shown !== undefined && from >= shown.from && from <= shown.to
    const far = Math.abs(to - from) >= width / 100
    if (moves) view.setWindow(panWindow(segments, window, (to - from) / Math.max(1, shown.to - shown.from)), 'push')
    else if (far) view.setWindow(windowBetween(segments, scale.unproject(from), scale.unproject(to)), 'push')
  })

  return (
    <div class="flow-minimap" ref={ref}>
      <svg width={width} height={HEIGHT} role="img" aria-label="All of the flow, with its errors">
        <path class="flow-mini" d={paths.others} stroke-width={paths.size} />
        <path class="flow-mini warning" d={paths.warnings} stroke-width={paths.size} />
        <path class="flow-mini error" d={paths.errors} stroke-width={paths.size} />
        <path class="flow-mini-ticks" d={paths.ticks} />
      </svg>
      {shown && (
        <>
          <div class="flow-mini-off" style={spanOf(0, shown.from)} />
          <div class="flow-mini-off" style={spanOf(shown.to, width)} />
          <div class="flow-mini-on" style={spanOf(shown.from, shown.to)} />
        </>
      )}
      {drag && <div class="flow-brush" style={spanOf(drag.from, drag.to)} />}
    </div>
  )
}
