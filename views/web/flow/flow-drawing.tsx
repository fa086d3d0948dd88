import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { plural, visible } from '../lib/format.ts'
import { durationText } from '../lib/times.ts'
import { drawFlow } from './drawing.ts'
import { FlowAxis } from './flow-axis.tsx'
import { FlowBackdrop } from './flow-backdrop.tsx'
import { FlowGutter } from './flow-gutter.tsx'
import { FlowMarks } from './flow-marks.tsx'
import { FlowMinimap } from './flow-minimap.tsx'
import { FlowPointer } from './flow-pointer.tsx'
import { FlowZoom } from './flow-tools.tsx'
import { heightOf } from './rows.ts'
import { ticksOf } from './ticks.ts'
import { createTimeScale } from './time-scale.ts'
import { clipSegments } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'
import { nameOf } from './words.ts'

/** The drawing is scrolled rather than drawn narrower. */
const WIDTH_MIN = 480

/** The flow as lanes over time, with its overview above. */
export function FlowDrawing({ view }: { readonly view: FlowView }) {
  const { rows, visits, segments, window, order, utc, selected } = view
  const [plot, width] = useWidth()
  const scale = useMemo(
    () => createTimeScale(window === undefined ? segments : clipSegments(segments, window), width),
    [segments, window, width],
  )
  const drawing = useMemo(() => {
    const shown = new Set(view.listed)
    return drawFlow({ rows, visits, scale, order, shown: (log) => shown.has(log) })
  }, [rows, visits, scale, order, view.listed])
  const ticks = useMemo(() => ticksOf(scale, utc), [scale, utc])
  const mark = selected && drawing.markOf.get(selected)
  const scroller = useRef<HTMLElement>(null)
  useEffect(() => {
    if (mark !== undefined) scrollToRow(scroller.current, mark.y)
  }, [mark?.y, selected])
  useEffect(() => {
    // What is zoomed to may be in lanes that are scrolled away.
    if (window !== undefined)
      scrollToSome(
        scroller.current,
        drawing.marks.map(({ y }) => y),
      )
  }, [window])

  return (
    <section class="panel flow-drawing" aria-label="Drawing">
      <div class="flow-overview">
        <FlowZoom view={view} />
        <FlowMinimap view={view} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="flow-scroll" ref={scroller} tabIndex={0} aria-label="Lanes over time">
        <div class="flow-grid">
          <div class="flow-corner muted small">
            {plural(rows.filter(({ kind, count }) => kind === 'lane' && count > 0).length, 'lane')}
          </div>
          <FlowAxis view={view} scale={scale} ticks={ticks} />
          <FlowGutter view={view} />
          <div class="flow-plot" ref={plot} style={{ height: `${heightOf(rows)}px` }}>
            <svg width={width} height={heightOf(rows)} role="img" aria-label={summaryWords(view)}>
              <FlowBackdrop view={view} scale={scale} ticks={ticks} drawing={drawing} />
              {mark && <path class="flow-thread-mark" d={`M${mark.x} 0V${heightOf(rows)}`} />}
            </svg>
            <FlowMarks view={view} drawing={drawing} width={width} />
            <FlowPointer view={view} scale={scale} drawing={drawing} plot={plot} />
          </div>
        </div>
      </section>
    </section>
  )
}

/** The drawing in a sentence. */
function summaryWords({ brief: { summary }, groups, activeMs, gaps }: FlowView): string {
  const { total, correlationKey, levels, nextSteps } = summary
  const errors = (levels.Error ?? 0) + (levels.Critical ?? 0)
  const idle = gaps.length === 0 ? '' : `, ${plural(gaps.length, 'idle time')}`
  const next = nextSteps.length === 0 ? '' : ` Not seen yet: ${nextSteps.map(nameOf).join(', ')}.`
  const names = groups.map(({ label }) => label).join(', ')
  return visible(
    `${plural(total, 'log')} of ${correlationKey} in ${names}; ${durationText(activeMs)} of activity${idle}; ${plural(errors, 'error')}.${next} The list below tells the same.`,
  )
}

/** The width of what the ref is given to, as it changes. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(WIDTH_MIN)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = (): void => setWidth(Math.max(WIDTH_MIN, Math.floor(element.clientWidth)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

/** Brings a row into view within the drawing alone; the page stays where it is. */
function scrollToRow(scroller: HTMLElement | null, y: number): void {
  if (scroller === null) return
  const { top, bottom } = shownRows(scroller)
  if (y < top) scroller.scrollTop += y - top
  else if (y > bottom) scroller.scrollTop += y - bottom
}

/** Brings the first of these rows into view where none of them is. */
function scrollToSome(scroller: HTMLElement | null, ys: readonly number[]): void {
  if (scroller === null || ys.length === 0) return
  const { top, bottom } = shownRows(scroller)
  if (!ys.some((y) => y >= top && y <= bottom)) scrollToRow(scroller, Math.min(...ys) + bottom - top)
}

/** The part of the rows that can be seen, but for its margins. */
function shownRows(scroller: HTMLElement): { readonly top: number; readonly bottom: number } {
  const head = scroller.querySelector<HTMLElement>('.flow-axis')?.offsetHeight ?? 0
  const { scrollTop, clientHeight } = scroller
  return { top: scrollTop + MARGIN_PX, bottom: scrollTop + clientHeight - head - MARGIN_PX }
}

const MARGIN_PX = 16
