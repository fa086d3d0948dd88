/** Scrolls a box so that what is selected in it can be seen, below a head of so many pixels; the page itself stays where it is. */
export function keepInView(box: Element | null | undefined, selector: string, headPx: number): void {
  const thing = box?.querySelector(selector)
  if (!box || !thing) return
  const { top, bottom } = thing.getBoundingClientRect()
  const frame = box.getBoundingClientRect()
  box.scrollTop += Math.min(0, top - frame.top - headPx) + Math.max(0, bottom - frame.bottom)
}
