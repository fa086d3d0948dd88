import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** A stretch that is being marked by dragging; pixels from the element's left edge. */
export interface Drag {
  readonly from: number
  readonly to: number
}

/** A shorter way is a click. */
const DRAG_MIN_PX = 5

/** Follows a mouse or a pen that drags over an element; a finger scrolls. */
export function useDrag(ref: RefObject<HTMLElement>, onEnd: (drag: Drag) => void): Drag | undefined {
  const [drag, setDrag] = useState<Drag>()
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    let start: number | undefined
    let current: Drag | undefined
    const show = (next: Drag | undefined): void => {
      current = next
      setDrag(next)
    }
    const down = (event: PointerEvent): void => {
      if (event.button === 0 && event.pointerType !== 'touch') start = placeOf(event, element)
    }
    const move = (event: PointerEvent): void => {
      if (start === undefined) return
      const to = placeOf(event, element)
      // Only now: a captured pointer's click would not reach the mark below it.
      if (current === undefined && Math.abs(to - start) < DRAG_MIN_PX) return
      if (current === undefined) element.setPointerCapture(event.pointerId)
      show({ from: start, to })
    }
    const up = (): void => {
      if (current !== undefined) end.current(current)
      cancel()
    }
    const cancel = (): void => {
      start = undefined
      show(undefined)
    }
    const giveUp = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || current === undefined) return
      event.preventDefault()
      cancel()
    }
    element.addEventListener('pointerdown', down)
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerup', up)
    element.addEventListener('pointercancel', cancel)
    document.addEventListener('keydown', giveUp, true)
    return () => {
      element.removeEventListener('pointerdown', down)
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerup', up)
      element.removeEventListener('pointercancel', cancel)
      document.removeEventListener('keydown', giveUp, true)
    }
  }, [])
  return drag
}

/** How far right of an element's left edge the pointer is, within it. */
export function placeOf({ clientX }: MouseEvent, element: Element): number {
  const { left, width } = element.getBoundingClientRect()
  return Math.min(width, Math.max(0, clientX - left))
}
