import { durationText } from '../lib/times.ts'
import type { Gap } from './gaps.ts'
import type { Tick } from './ticks.ts'
import type { TimeScale } from './time-scale.ts'
import { type FlowView, gapId } from './use-flow-view.ts'

interface AxisProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
}

/** Times above the lanes, and over each idle time a button that folds or unfolds it. */
export function FlowAxis({ view, scale, ticks }: AxisProps) {
  const { gaps, isFolded, window } = view
  const inside = gaps.filter(({ from, to }) => window === undefined || (from >= window.from && to <= window.to))
  return (
    <div class="flow-axis">
      <svg width={scale.width} height="20" aria-hidden="true">
        {ticks.map(({ x, label }) => (
          <text key={x} x={x + 3} y="13">
            {label}
          </text>
        ))}
      </svg>
      {inside.map((gap) => {
        const text = durationText(gap.to - gap.from)
        const folded = isFolded(gap)
        return (
          <button
            key={gap.from}
            type="button"
            class="flow-idle"
            style={{ left: `${middleOf(gap, scale)}px` }}
            aria-pressed={folded}
            aria-label={`Hide ${text} of idle time`}
            title={`${folded ? 'Show' : 'Hide'} ${text} of idle time`}
            onClick={() => view.toggle('gaps', gapId(gap))}
          >
            {text}
          </button>
        )
      })}
    </div>
  )
}

const middleOf = ({ from, to }: Gap, scale: TimeScale): number =>
  Math.round((scale.project(from + 1e-3) + scale.project(to - 1e-3)) / 2)
