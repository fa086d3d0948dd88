import { useMemo } from 'preact/hooks'
import { shortCount } from '../lib/format.ts'
import { agoText } from '../lib/times.ts'
import type { Drawing } from './drawing.ts'
import { heightOf, type Row } from './rows.ts'
import { zigzag } from './svg-text.ts'
import type { Tick } from './ticks.ts'
import type { TimeScale } from './time-scale.ts'
import type { FlowView } from './use-flow-view.ts'
import { useNow } from './use-now.ts'

interface BackdropProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
  readonly drawing: Drawing
}

/** What lies behind the marks: rows, times, folds, visits and the thread. Few nodes, however many logs. */
export function FlowBackdrop({ view, scale, ticks, drawing }: BackdropProps) {
  const { rows, lane, brief } = view
  const height = heightOf(rows)
  return useMemo(() => {
    const next = new Set(brief.summary.nextSteps.map(({ identifier }) => identifier))
    const unseen = rows.filter(({ count }) => count === 0)
    return (
      <>
        {rows.map(
          (row) =>
            row.kind === 'group' && <rect class="flow-band" y={row.top} width={scale.width} height={row.height} />,
        )}
        {lane && <rect class="flow-lane-on" y={lane.top} width={scale.width} height={lane.height} />}
        <path
          class="flow-lines"
          d={rows.map(({ top, height: tall }) => `M0 ${top + tall - 0.5}H${scale.width}`).join('')}
        />
        <path class="flow-ticks" d={ticks.map(({ x }) => `M${Math.round(x) + 0.5} 0V${height}`).join('')} />
        {unseen.map(({ id, hint, top, height: tall }) => (
          <rect
            key={id}
            class={`flow-unseen${next.has(hint) ? ' next' : ''}`}
            x="3.5"
            y={top + 5.5}
            width={scale.width - 7}
            height={tall - 12}
            rx="6"
          />
        ))}
        {scale.segments.map(
          (segment) =>
            segment.folded && (
              <>
                <rect class="flow-fold" x={segment.x0} width={segment.x1 - segment.x0} height={height} />
                <path class="flow-zigzag" d={zigzag(segment, height)} />
              </>
            ),
        )}
        <path class="flow-thread" d={drawing.thread} />
        {unseen.map((row) => (
          <Wait key={row.id} row={row} since={next.has(row.hint) ? brief.summary.lastAt : undefined} />
        ))}
        <path class="flow-spans" d={drawing.spans} />
        <path class="flow-visits" d={drawing.visits} />
        <path class="flow-lasting" d={drawing.lasting} />
        {drawing.marks.map(
          ({ x, y, logs }, index) =>
            logs.length > 1 && (
              <text key={index} class="flow-count" x={x + 9} y={y + 3.5}>
                {shortCount(logs.length)}
              </text>
            ),
        )}
      </>
    )
  }, [rows, lane, brief, scale, ticks, drawing])
}

interface WaitProps {
  readonly row: Row
  /** When the flow last logged, where this is the Step that comes next. */
  readonly since: string | undefined
}

/** What the lane of a Step that was not seen says: a slot that nothing stands in yet. */
function Wait({ row: { top, height }, since }: WaitProps) {
  const ago = agoText(since ?? '', useNow())
  return (
    <text class={since === undefined ? 'flow-wait' : 'flow-wait next'} x="14" y={top + height / 2 + 3}>
      {since === undefined ? 'not seen' : `next, not seen; last log ${ago}`}
    </text>
  )
}
