import type { Tick } from '../../flow-layout/ticks.ts'
import type { TimeScale } from '../../flow-layout/time-scale.ts'
import { durationText } from '../lib/times.ts'
import type { FlowView } from './use-flow-view.ts'

interface AxisProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
}

/** Times above the lanes, and over each idle time a button that folds or unfolds it. */
export const FlowAxis = ({ view: { gaps, window, toggle }, scale, ticks }: AxisProps) => (
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
          title={`${folded ? 'Show' : 'Hide'} this idle time`}
          onClick={() => toggle('gaps', id)}
        >
          {durationText(to - from)}
        </button>
      ))}
  </div>
)
