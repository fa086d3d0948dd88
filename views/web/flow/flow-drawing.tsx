import { useEffect, useMemo, useRef } from 'preact/hooks'
import { drawFlow } from '../../flow-layout/drawing.ts'
import { awaitedSteps, nameOf } from '../../flow-layout/flow-log.ts'
import { plural, visible } from '../../flow-layout/format.ts'
import { type Tick, ticksOf } from '../../flow-layout/ticks.ts'
import { createTimeScale, FOLDED_PX, type TimeScale } from '../../flow-layout/time-scale.ts'
import { durationText } from '../../flow-layout/times.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { fontScale, useWidth } from '../ui/use-width.ts'
import { keepInView } from './element-hooks.ts'
import { FlowGutter } from './flow-gutter.tsx'
import { FlowMinimap } from './flow-minimap.tsx'
import { FlowPlot } from './flow-plot.tsx'
import { clipSegments } from './time-window.ts'
import { type FlowView, ZOOM, zoomBy } from './use-flow-view.ts'

/** Room after the last log for Steps not yet seen, in pixels. */
const UNSEEN_PX = 116

/** The flow as lanes over time, with its overview above. */
export function FlowDrawing({ view }: { readonly view: FlowView }) {
  const { rows, visits, segments, window, utc, selected, shown } = view
  const [plot, plotWidth] = useWidth()
  const hasUnseen = rows.some(({ all }) => all.length === 0)
  // Missing Steps are drawn after the last log.
  const room = hasUnseen && window === undefined ? Math.min(UNSEEN_PX, plotWidth / 3) : 0
  const width = plotWidth - room
  const scale = useMemo(() => createTimeScale(clipSegments(segments, window), width), [segments, window, width])
  const drawing = useMemo(() => drawFlow(rows, visits, scale, new Set(shown)), [rows, visits, scale, shown])
  const ticks = useMemo(() => ticksOf(scale, utc), [scale, utc])
  const scroller = useRef<HTMLElement>(null)
  useEffect(() => {
    const gutter = scroller.current?.querySelector('.flow-gutter')
    keepInView(scroller.current, '.flow-ring', HEAD_PX, gutter?.clientWidth)
  }, [selected, window])

  return (
    <section class="panel flow-drawing" aria-label="Drawing">
      <FlowMinimap view={view} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="flow-scroll" ref={scroller} tabIndex={0} aria-label="Lanes over time">
        <FlowZoom view={view} />
        <FlowAxis view={view} scale={scale} ticks={ticks} />
        <FlowGutter view={view} />
        <div ref={plot}>
          {width > 0 && (
            <FlowPlot view={view} scale={scale} ticks={ticks} drawing={drawing} room={room} words={wordsOf(view)} />
          )}
        </div>
      </section>
    </section>
  )
}

/** Describes the drawing in a sentence. */
function wordsOf({ brief: { summary }, rows, active, gaps }: FlowView): string {
  const { total, correlationKey, levels } = summary
  const groups = rows.flatMap(({ kind, label }) => (kind === 'lane' ? [] : [label]))
  const errors = (levels.Error ?? 0) + (levels.Critical ?? 0)
  return visible(
    [
      `${plural(total, 'log')} of ${correlationKey} in ${groups.join(', ')}`,
      `${durationText(active)} of activity with ${plural(gaps.length, 'idle time')}`,
      plural(errors, 'error'),
      ...awaitedSteps(summary).map((step) => `${nameOf(step)} not seen yet`),
      'the list below tells the same',
    ].join('; '),
  )
}

/** Height of the axis with some room, in pixels. */
const HEAD_PX = 44

interface AxisProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
}

/** Times above the lanes, with a button over each idle time that folds or unfolds it. */
const FlowAxis = ({ view: { gaps, window, toggle }, scale, ticks }: AxisProps) => {
  // Narrow folds have no room for two, and would cover each other's buttons.
  const units = scale.segments.some(({ folded, x0, x1 }) => folded && x1 - x0 < FOLDED_PX * fontScale()) ? 1 : 2
  return (
    <div class="flow-axis">
      <svg width={scale.width} height="20" class="flow-times" aria-hidden="true">
        {ticks.map(({ x, label }) => (
          <text key={x} x={x + 3} y="13">
            {label}
          </text>
        ))}
      </svg>
      {gaps
        .filter(({ from, to }) => window === undefined || (from >= window.from && to <= window.to))
        .map(({ from, to, id, folded }) => (
          <button
            key={id}
            type="button"
            class="flow-idle"
            style={{ left: `${(scale.project(from) + scale.project(to)) / 2}px` }}
            aria-pressed={folded}
            title={`${folded ? 'Show' : 'Hide'} this idle time, ${durationText(to - from)}`}
            onClick={() => toggle('gaps', id)}
          >
            {durationText(to - from, units)}
          </button>
        ))}
    </div>
  )
}

/** Buttons that duplicate the wheel, the mouse and the keys. */
const FlowZoom = ({ view }: { readonly view: FlowView }) => (
  <div class="flow-corner">
    <IconButton icon="minus" class="small" label="Zoom out (-)" onClick={() => zoomBy(view, 1 / ZOOM)} />
    <IconButton icon="plus" class="small" label="Zoom in (+)" onClick={() => zoomBy(view, ZOOM)} />
    <Button
      label="Fit"
      class="small"
      title="Show the whole time (0)"
      // Not `disabled`, which would take the focus from it.
      aria-disabled={view.window === undefined}
      onClick={() => view.setWindow(undefined)}
    />
  </div>
)
