import { useEffect, useMemo, useRef } from 'preact/hooks'
import { drawFlow } from '../../flow-layout/drawing.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { ticksOf } from '../../flow-layout/ticks.ts'
import { createTimeScale } from '../../flow-layout/time-scale.ts'
import { plural, visible } from '../lib/format.ts'
import { durationText } from '../lib/times.ts'
import { FlowAxis } from './flow-axis.tsx'
import { FlowGutter } from './flow-gutter.tsx'
import { FlowMinimap } from './flow-minimap.tsx'
import { FlowPlot } from './flow-plot.tsx'
import { FlowZoom } from './flow-zoom.tsx'
import { keepInView } from './keep-in-view.ts'
import { clipSegments } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'
import { useWidth } from './use-width.ts'

/** The flow as lanes over time, with its overview above. */
export function FlowDrawing({ view }: { readonly view: FlowView }) {
  const { rows, visits, segments, window, utc, selected, shown } = view
  const [plot, width] = useWidth()
  const scale = useMemo(() => createTimeScale(clipSegments(segments, window), width), [segments, window, width])
  const drawing = useMemo(() => drawFlow(rows, visits, scale, new Set(shown)), [rows, visits, scale, shown])
  const ticks = useMemo(() => ticksOf(scale, utc), [scale, utc])
  const scroller = useRef<HTMLElement>(null)
  useEffect(() => keepInView(scroller.current, '.flow-ring', HEAD_PX), [selected, window])

  return (
    <section class="panel flow-drawing" aria-label="Drawing">
      <FlowMinimap view={view} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="flow-scroll" ref={scroller} tabIndex={0} aria-label="Lanes over time">
        <FlowZoom view={view} />
        <FlowAxis view={view} scale={scale} ticks={ticks} />
        <FlowGutter view={view} />
        <div ref={plot}>
          {width > 0 && <FlowPlot view={view} scale={scale} ticks={ticks} drawing={drawing} words={wordsOf(view)} />}
        </div>
      </section>
    </section>
  )
}

/** The drawing in a sentence. */
function wordsOf({ brief: { summary }, rows, active, gaps }: FlowView): string {
  const { total, correlationKey, levels, nextSteps } = summary
  const groups = rows.flatMap(({ kind, label }) => (kind === 'lane' ? [] : [label]))
  const errors = (levels.Error ?? 0) + (levels.Critical ?? 0)
  return visible(
    [
      `${plural(total, 'log')} of ${correlationKey} in ${groups.join(', ')}`,
      `${durationText(active)} of activity with ${plural(gaps.length, 'idle time')}`,
      plural(errors, 'error'),
      ...nextSteps.map((step) => `${nameOf(step)} not seen yet`),
      'the list below tells the same',
    ].join('; '),
  )
}

/** What the axis takes, and some room. */
const HEAD_PX = 44
