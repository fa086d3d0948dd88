import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The width of the element that the ref is attached to, kept up to date. */
export function useWidth<Node extends HTMLElement = HTMLDivElement>(): readonly [RefObject<Node>, number] {
  const ref = useRef<Node>(null)
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

/** How much larger the reader's font is than the usual one, with which labels in rem have the sizes that drawings count with. */
export const fontScale = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

/** The width of a character of a monospace font, as a part of its size. */
const CHARACTER = 0.6

/** How many characters of its monospace text a cell has room for. */
export function roomOf(cell: Element): number {
  const { fontSize } = getComputedStyle(cell.querySelector('.mono') ?? cell)
  const { paddingLeft, paddingRight } = getComputedStyle(cell)
  const width = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  return Math.floor(width / (CHARACTER * parseFloat(fontSize)))
}
