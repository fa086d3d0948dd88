import { useMemo } from 'preact/hooks'
import type { Drawing } from '../../flow-layout/drawing.ts'
import { awaitedSteps } from '../../flow-layout/flow-log.ts'
import { shortCount } from '../../flow-layout/format.ts'
import { heightOf } from '../../flow-layout/rows.ts'
import { zigzag } from '../../flow-layout/shapes.ts'
import type { Tick } from '../../flow-layout/ticks.ts'
import type { TimeScale } from '../../flow-layout/time-scale.ts'
import type { FlowView } from './use-flow-view.ts'

export interface BackdropProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
  readonly drawing: Drawing
  /** Width in pixels after the last log, for Steps not yet seen; 0 if these take the whole width. */
  readonly room: number
}

/** The layer behind the marks: rows, times, folds, visits and the thread. Few nodes, however many logs. */
export function FlowBackdrop({ view, scale, ticks, drawing, room }: BackdropProps) {
  const { rows, lane, brief } = view
  return useMemo(() => {
    const height = heightOf(rows)
    const width = scale.width + room
    const unseenFrom = room === 0 ? 0 : scale.width
    const next = new Set(awaitedSteps(brief.summary).map(({ identifier }) => identifier))
    const unseen = rows
      .filter(({ all }) => all.length === 0)
      .map(({ top, hint }) => ({ top, look: next.has(hint) ? ' next' : '' }))
    return (
      <>
        {rows.map(({ id, kind, top, height: tall }) =>
          id === lane?.id || kind !== 'lane' ? (
            <rect key={id} class={id === lane?.id ? 'flow-on' : 'flow-band'} y={top} width={width} height={tall} />
          ) : null,
        )}
        <path class="flow-lines" d={rows.map(({ top }) => `M0 ${top - 0.5}H${width}`).join('')} />
        <path class="flow-ticks" d={ticks.map(({ x }) => `M${Math.round(x) + 0.5} 0V${height}`).join('')} />
        {unseen.map(({ top, look }) => (
          <rect
            key={top}
            class={`flow-unseen${look}`}
            x={unseenFrom + 3.5}
            y={top + 5.5}
            width={width - unseenFrom - 7}
            height="14"
            rx="6"
          />
        ))}
        {scale.segments.map(
          ({ folded, x0, x1 }) =>
            folded && (
              <>
                <rect class="flow-fold" x={x0} width={x1 - x0} height={height} />
                <path class="flow-zigzag" d={zigzag(x0, x1, height)} />
              </>
            ),
        )}
        <path class="flow-thread" d={drawing.thread} />
        {unseen.map(({ top, look }) => (
          <text key={top} class={`flow-wait${look}`} x={unseenFrom + 14} y={top + 16}>
            {look === '' ? 'not seen' : 'next, not seen'}
          </text>
        ))}
        <path class="flow-spans" d={drawing.spans} />
        <path class="flow-stays" d={drawing.stays} />
        <path class="flow-lasting" d={drawing.lasting} />
        {drawing.marks.map(
          ({ x, y, logs }) =>
            logs.length > 1 && (
              <text class="flow-count" x={x + 9} y={y + 3.5}>
                {shortCount(logs.length)}
              </text>
            ),
        )}
      </>
    )
  }, [rows, lane, brief, scale, ticks, drawing, room])
}
