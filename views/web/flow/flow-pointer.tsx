import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { cut, plural, visible } from '../lib/format.ts'
import { LEVELS } from '../lib/levels.ts'
import { clockText } from '../lib/times.ts'
import { LevelTag } from '../ui/level.tsx'
import type { Drawing, DrawnMark } from './drawing.ts'
import type { TimeScale } from './time-scale.ts'
import { panWindow, wholeOf, windowBetween, zoomWindow } from './time-window.ts'
import { placeOf as placeOfPointer, useDrag } from './use-drag.ts'
import type { FlowView } from './use-flow-view.ts'
import { placeOf, plusText } from './words.ts'

interface PointerProps {
  readonly view: FlowView
  readonly scale: TimeScale
  readonly drawing: Drawing
  readonly plot: RefObject<HTMLDivElement>
}

/** What the time beside the line takes. */
const HAIR_LABEL_PX = 90

interface Hover {
  /** From the left edge of the plot. */
  readonly x: number
  readonly clientX: number
  readonly clientY: number
  readonly mark: DrawnMark | undefined
}

/** What follows the pointer over the lanes: a line with its time, what a mark says, and the stretch that is zoomed to. */
export function FlowPointer({ view, scale, drawing, plot }: PointerProps) {
  const [hover, setHover] = useState<Hover>()
  const latest = useRef({ view, scale, drawing })
  latest.current = { view, scale, drawing }
  const drag = useDrag(plot, ({ from, to }) => {
    if (Math.abs(to - from) < scale.width / 100) return
    view.setWindow(windowBetween(view.segments, scale.unproject(from), scale.unproject(to)), 'push')
  })

  useEffect(() => {
    const element = plot.current
    if (element === null) return
    const move = (event: PointerEvent): void => {
      const index = (event.target as SVGElement).dataset['mark']
      const mark = index === undefined ? undefined : latest.current.drawing.marks[Number(index)]
      const { clientX, clientY } = event
      setHover(
        event.pointerType === 'touch' ? undefined : { x: placeOfPointer(event, element), clientX, clientY, mark },
      )
    }
    const leave = (): void => setHover(undefined)
    const wheel = (event: WheelEvent): void => {
      const { view: now, scale: at } = latest.current
      const shown = now.window ?? wholeOf(now.segments)
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX
      if (event.ctrlKey || event.metaKey) {
        const around = at.unproject(placeOfPointer(event, element))
        now.setWindow(whole(now, zoomWindow(now.segments, shown, 1.0025 ** clampWheel(event.deltaY), around)))
      } else if (now.window !== undefined && Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        now.setWindow(panWindow(now.segments, shown, sideways / at.width))
      } else return
      event.preventDefault()
    }
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerleave', leave)
    element.addEventListener('wheel', wheel, { passive: false })
    return () => {
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerleave', leave)
      element.removeEventListener('wheel', wheel)
    }
  }, [])

  return (
    <div aria-hidden="true">
      {drag && <div class="flow-brush" style={spanOf(drag.from, drag.to)} />}
      {hover && (
        <>
          <div class="flow-hair" style={{ left: `${hover.x}px` }}>
            <span class={hover.x > scale.width - HAIR_LABEL_PX ? 'before' : undefined}>
              {clockText(scale.unproject(hover.x), view.utc)}
            </span>
          </div>
          {hover.mark && !drag && <Tip mark={hover.mark} hover={hover} view={view} />}
        </>
      )}
    </div>
  )
}

interface TipProps {
  readonly mark: DrawnMark
  readonly hover: Hover
  readonly view: FlowView
}

/** What a mark says, beside the pointer and towards the middle of the window. */
function Tip({ mark, hover: { clientX, clientY }, view }: TipProps) {
  const { logs, rank } = mark
  const { order, utc, relative } = view
  const [log] = logs
  const last = logs.at(-1)
  if (log === undefined || last === undefined) return null
  const level = LEVELS[rank] ?? 'Information'
  const { clientWidth: width, clientHeight: height } = document.documentElement
  const place = {
    ...(clientX > width / 2 ? { right: `${width - clientX}px` } : { left: `${clientX}px` }),
    ...(clientY > height / 2 ? { bottom: `${height - clientY}px` } : { top: `${clientY}px` }),
  }
  return (
    <div class="flow-tip" style={place}>
      <div class="bar">
        <LevelTag level={level} full />
        <span class="time muted">
          {clockText(log[order], utc)}
          {logs.length > 1 && ` – ${clockText(last[order], utc)}`}
        </span>
        <span class="time muted">{plusText(relative.get(log)?.sinceStart ?? 0)}</span>
      </div>
      {logs.length > 1 ? (
        <p>
          {plural(logs.length, 'log')} together, {level.toLowerCase()} at worst
        </p>
      ) : (
        <>
          <p class="muted cut">{visible(placeOf(log.entry).join(' › '))}</p>
          <bdi class="mono wrap">{visible(cut(log.text, 200).text)}</bdi>
        </>
      )}
    </div>
  )
}

/** A window, or none where it is all there is. */
const whole = (view: FlowView, window: { readonly from: number; readonly to: number }) =>
  windowBetween(view.segments, window.from, window.to)

/** One turn of a mouse wheel and the small steps of a touchpad alike. */
const clampWheel = (delta: number): number => Math.max(-120, Math.min(120, delta))

export const spanOf = (from: number, to: number) => ({
  left: `${Math.min(from, to)}px`,
  width: `${Math.abs(to - from)}px`,
})
