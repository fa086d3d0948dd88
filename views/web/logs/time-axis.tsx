import { useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { timeText } from '../../flow-layout/times.ts'
import { Button } from '../ui/button.tsx'
import { useUtc } from '../ui/time.tsx'
import { fontScale, useWidth } from '../ui/use-width.ts'
import { spanText } from './filters.ts'
import { partText, rangeOf, type Spans, spanAt, ticksOf } from './time-spans.ts'

/** Two spans in either order, with all between them. */
interface Marked {
  readonly from: number
  readonly to: number
}

/**
 * The spans that the pointer is on or drags over, and the drawing's event handlers. `onSpans` receives both ends of a drag, which are equal
 * for a click.
 */
export function useBrush(spans: Spans, onSpans: (one: number, other: number, event: PointerEvent) => void) {
  // As parts of the width, from 0 to 1: the spans change under a resting pointer.
  const [hovered, setHovered] = useState<number>()
  const [dragged, setDragged] = useState<number>()
  const at = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect()
    return (clientX - left) / width
  }
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      setDragged(at(event))
      setHovered(at(event))
    },
    onPointerMove: (event: PointerEvent) => setHovered(at(event)),
    onPointerUp: (event: PointerEvent) => {
      setDragged(undefined)
      if (dragged !== undefined) onSpans(spanAt(spans, dragged), spanAt(spans, at(event)), event)
    },
    onPointerCancel: () => setDragged(undefined),
    onPointerLeave: () => setHovered(undefined),
  }
  const marked =
    hovered === undefined ? undefined : { from: spanAt(spans, dragged ?? hovered), to: spanAt(spans, hovered) }
  return { marked, handlers }
}

/** The marked spans, in a drawing whose spans are one unit wide. */
export const Brush = ({ from, to, height }: Marked & { readonly height: number }) => (
  <rect class="brush" x={Math.min(from, to)} width={Math.abs(to - from) + 1} height={height} />
)

interface PartsProps {
  readonly spans: Spans
  readonly height: number
  /** How far what is drawn for a span reaches into its neighbours, in spans. */
  readonly reach?: number
}

/** Fades the spans of which only a part was counted, so that they do not look like a fall. */
export function Parts({ spans, height, reach = 0 }: PartsProps) {
  const now = systemClock.now()
  const isPart = (index: number): boolean => partText(spans, index, index, now) !== undefined
  const { length } = spans.starts
  const later = spans.starts.findIndex((_, index) => index > 0 && isPart(index))
  const fade = (x: number, width: number) => (
    <rect class="fade" x={x} width={width} height={height} fill="var(--panel)" opacity={0.6} />
  )
  return (
    <>
      {isPart(0) && fade(0, 1 + reach)}
      {later > 0 && fade(later - reach, length - later + reach)}
    </>
  )
}

/** The times below a drawing, as many as fit. */
export function TimeTicks({ spans }: { readonly spans: Spans }) {
  const utc = useUtc()
  const [ref, width] = useWidth()
  const scale = fontScale()
  return (
    <div ref={ref} class="times muted small num" aria-hidden="true">
      {ticksOf(spans, width / scale, utc).map(({ x, label }) => (
        <span key={x} style={{ left: `${x * scale}px` }}>
          {label}
        </span>
      ))}
    </div>
  )
}

/** The time range of the marked spans, and whether it was counted in part only. */
export function MarkedTime({ spans, from, to }: Marked & { readonly spans: Spans }) {
  const utc = useUtc()
  const range = rangeOf(spans, from, to)
  const part = partText(spans, from, to, systemClock.now())
  return (
    <span>
      {spanText(secondsText(range?.from ?? '', utc), secondsText(range?.to ?? '', utc))}
      {part && `, ${part}`}
    </span>
  )
}

/** A time without its milliseconds if they are zero. */
export const secondsText = (at: string | number, utc: boolean): string => timeText(at, utc).replace('.000', '')

interface SpansTableProps {
  readonly label: string
  readonly spans: Spans
  readonly columns: readonly string[]
  /** The cells of a span; undefined to omit it. */
  readonly cellsOf: (index: number) => readonly string[] | undefined
  readonly onShow: (index: number) => void
}

/** A drawing's data as a table, for screen readers; the time of each span links to its logs. */
export function SpansTable({ label, spans, columns, cellsOf, onShow }: SpansTableProps) {
  const utc = useUtc()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {columns.map((name, index) => (
              <th key={index} scope="col" class="num">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spans.starts.map((from, index) => {
            const cells = cellsOf(index)
            const part = partText(spans, index, index, systemClock.now())
            return (
              cells !== undefined && (
                <tr key={from}>
                  <td class="time">
                    <Button label={timeText(from, utc)} class="quiet small" onClick={() => onShow(index)} /> {part}
                  </td>
                  {cells.map((text, column) => (
                    <td key={column} class="num">
                      {text}
                    </td>
                  ))}
                </tr>
              )
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
