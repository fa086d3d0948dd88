import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A stretch that is being marked by dragging, in pixels from the element's left edge; `from` is where it began. */
export interface Drag {
  readonly from: number
  readonly to: number
}

/** A shorter way is a click. */
const DRAG_MIN_PX = 5

type Handler = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => void

/** Follows a mouse or a pen that drags over the element that is given the handlers; a finger scrolls. */
export function useDrag(onEnd: (drag: Drag) => void): readonly [Drag | undefined, Readonly<Record<string, Handler>>] {
  const [drag, setDrag] = useState<Drag>()
  const start = useRef<number>()
  const end = (): void => {
    start.current = undefined
    setDrag(undefined)
  }
  return [
    drag,
    {
      onPointerDown: (event) => {
        if (event.button === 0 && event.pointerType !== 'touch') start.current = placeOf(event)
      },
      onPointerMove: (event) => {
        const from = start.current
        if (from === undefined) return
        const to = placeOf(event)
        // Only now: a captured pointer's click would not reach the mark below it.
        if (drag === undefined && Math.abs(to - from) < DRAG_MIN_PX) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from, to })
      },
      onPointerUp: () => {
        if (drag !== undefined) onEnd(drag)
        end()
      },
      onPointerCancel: end,
    },
  ]
}

/** How far right of its element's left edge the pointer is, within it. */
export function placeOf({ clientX, currentTarget }: MouseEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return Math.min(width, Math.max(0, clientX - left))
}

/** The place of a stretch, whichever way it was dragged. */
export const spanOf = ({ from, to }: Drag) => ({ left: `${Math.min(from, to)}px`, width: `${Math.abs(to - from)}px` })

/** The width of the element that the ref is given to, as it changes. */
export function useWidth(): readonly [RefObject<HTMLDivElement>, number] {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = (): void => setWidth(element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}

/** Scrolls a box so that what is selected in it can be seen, below a head of so many pixels; the page itself stays where it is. */
export function keepInView(box: Element | null | undefined, selector: string, headPx: number): void {
  const thing = box?.querySelector(selector)
  if (!box || !thing) return
  const { top, bottom } = thing.getBoundingClientRect()
  const frame = box.getBoundingClientRect()
  box.scrollTop += Math.min(0, top - frame.top - headPx) + Math.max(0, bottom - frame.bottom)
}
