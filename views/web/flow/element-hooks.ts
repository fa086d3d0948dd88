import { useRef, useState } from 'preact/hooks'

/** A range being dragged, in pixels from the element's left edge; `from` is where the drag began. */
interface Drag {
  readonly from: number
  readonly to: number
}

/** A shorter movement counts as a click. */
const DRAG_MIN_PX = 5

type Handler = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => void

/** Tracks mouse and pen drags over the element that gets the handlers; touch scrolls instead. */
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
        // The button may have been let go outside of the element, before the pointer was captured.
        if (event.buttons === 0) return end()
        const to = placeOf(event)
        // Captured only now: a captured pointer's click would not reach the mark below it.
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

/** The pointer's distance from its element's left edge, clamped to the element. */
export function placeOf({ clientX, currentTarget }: MouseEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return Math.min(width, Math.max(0, clientX - left))
}

/** The position of a range, dragged in either direction. */
export const spanOf = ({ from, to }: Drag) => ({ left: `${Math.min(from, to)}px`, width: `${Math.abs(to - from)}px` })

/** Scrolls the page to an element, unless a part of it or of another one is in the window. */
export function bringIntoSight(thing: Element | null, other: string): void {
  const isInWindow = (one: Element | null): boolean => {
    const { top = 0, bottom = 0 } = one?.getBoundingClientRect() ?? {}
    return bottom > 0 && top < innerHeight
  }
  if (![thing, document.querySelector(other)].some(isInWindow)) thing?.scrollIntoView({ block: 'nearest' })
}

/**
 * Scrolls a box so that its selected element is visible: below a head and beside a column of so many pixels, in the part of the box that is
 * in the window. The page itself does not scroll.
 */
export function keepInView(box: Element | null | undefined, selector: string, headPx: number, sidePx = 0): void {
  const thing = box?.querySelector(selector)
  if (!box || !thing) return
  const { top, bottom, left, right } = thing.getBoundingClientRect()
  const frame = box.getBoundingClientRect()
  const header = document.querySelector('.top')?.clientHeight ?? 0
  const above = top - Math.max(frame.top + headPx, header)
  // Not so far that the element would be above the box, if all of it is below the window.
  box.scrollTop += Math.min(above, Math.max(0, bottom - Math.min(frame.bottom, innerHeight)))
  box.scrollLeft += Math.min(left - frame.left - sidePx, Math.max(0, right - frame.right))
}
