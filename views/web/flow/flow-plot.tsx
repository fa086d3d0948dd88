import { useState } from 'preact/hooks'
import type { DrawnMark } from '../../flow-layout/drawing.ts'
import { visible } from '../../flow-layout/format.ts'
import { heightOf } from '../../flow-layout/rows.ts'
import { clockText } from '../../flow-layout/times.ts'
import { placeOf, spanOf, useDrag } from './element-hooks.ts'
import { type BackdropProps, FlowBackdrop } from './flow-backdrop.tsx'
import { FlowMarks, markAt } from './flow-marks.tsx'
import { panned, windowAt } from './time-window.ts'
import { shownOf, zoomBy } from './use-flow-view.ts'
import { markWords } from './words.ts'

interface PlotProps extends BackdropProps {
  /** The drawing in words, for screen readers. */
  readonly words: string
}

/** Room for the time beside the pointer's line, in pixels. */
const TIME_PX = 90

/** The lanes over time, and what follows the pointer: a line with its time, a mark's tooltip, the range being selected. */
export function FlowPlot({ view, scale, ticks, drawing, room, words }: PlotProps) {
  const { fit, utc, selected, setWindow } = view
  const { width } = scale
  const [hover, setHover] = useState<Hover>()
  const [drag, handlers] = useDrag(({ from, to }) => {
    const [x0, x1] = [from, to].sort((a, b) => a - b).map((x) => fit.project(scale.unproject(x))) as [number, number]
    if (Math.abs(to - from) > width / 100) setWindow(windowAt(fit, x0, x1))
  })
  const onWheel = (event: WheelEvent): void => {
    const { ctrlKey, metaKey, shiftKey, deltaX, deltaY } = event
    const sideways = shiftKey ? deltaX || deltaY : deltaX
    // Clamped, so that mouse wheels and touchpads zoom at similar speeds.
    if (ctrlKey || metaKey)
      zoomBy(view, 1.003 ** Math.max(-120, Math.min(120, deltaY)), scale.unproject(placeOf(event)))
    else if (view.window && (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)))
      setWindow(panned(fit, shownOf(view), sideways / width))
    else return
    event.preventDefault()
  }
  const chosen = selected && drawing.markOf.get(selected)
  const height = heightOf(view.rows)
  return (
    <div
      class="flow-plot"
      style={{ height: `${height}px` }}
      {...handlers}
      onPointerMove={(event) => {
        handlers['onPointerMove']?.(event)
        const { clientX, clientY, pointerType } = event
        const mark = drawing.marks[markAt(event)]
        setHover(pointerType === 'touch' ? undefined : { x: placeOf(event), clientX, clientY, mark })
      }}
      onPointerLeave={() => setHover(undefined)}
      onWheel={onWheel}
    >
      <svg width={width + room} height={height} role="img" aria-label={words}>
        <FlowBackdrop view={view} scale={scale} ticks={ticks} drawing={drawing} room={room} />
        {chosen && <path class="flow-chosen" d={`M${chosen.x} 0V${height}`} />}
      </svg>
      <FlowMarks view={view} drawing={drawing} width={width} />
      {drag && <div class="flow-brush" style={spanOf(drag)} />}
      {hover && (
        <div class="flow-hair" style={{ left: `${hover.x}px` }}>
          <span class={hover.x > width - TIME_PX ? 'before' : undefined}>
            {clockText(scale.unproject(hover.x), utc)}
          </span>
        </div>
      )}
      {hover?.mark && !drag && (
        <div class="flow-tip" style={besides(hover)}>
          <bdi>{visible(markWords(hover.mark, utc))}</bdi>
        </div>
      )}
    </div>
  )
}

interface Hover {
  /** Pixels from the left edge of the plot. */
  readonly x: number
  readonly clientX: number
  readonly clientY: number
  readonly mark: DrawnMark | undefined
}

/** Places the tooltip beside the pointer, towards the middle of the window. */
function besides({ clientX: x, clientY: y }: Hover): Readonly<Record<string, string>> {
  const { clientWidth: width, clientHeight: height } = document.documentElement
  return {
    ...(x > width / 2 ? { right: `${width - x}px` } : { left: `${x}px` }),
    ...(y > height / 2 ? { bottom: `${height - y}px` } : { top: `${y}px` }),
  }
}
