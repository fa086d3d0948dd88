import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { useLatest } from '../ui/use-latest.ts'
import { roomOf } from '../ui/use-width.ts'
import { type RowHeights, rowHeights } from './row-heights.ts'

/** Pixels above and below the screen that are drawn as well, so that scrolling shows rows at once. */
const SPARE = 600
/** The window moves by this many rows at a time. */
const STEP = 8

/** Assumed heights in pixels of a row, a day's heading and an expanded entry, until they are measured. */
const GUESS = { row: 29, day: 28, detail: 320, room: 80 }

interface Shape {
  readonly count: number
  /** The rows with a day's heading above them. */
  readonly days: readonly number[]
  /** The expanded rows and their ids. */
  readonly expanded: readonly (readonly [index: number, id: string])[]
}

interface RowWindow {
  /** The drawn rows: `first` inclusive, `end` exclusive. */
  readonly first: number
  readonly end: number
  readonly topOf: RowHeights['topOf']
  /** How many characters of its text a row has room for. */
  readonly room: number
}

/**
 * The rows of a table body that are near the screen. All rows are assumed to be as high as the first drawn one, and so are day headings; an
 * expanded entry is measured while drawn, and its height is kept afterwards.
 */
export function useRowWindow(body: RefObject<HTMLElement>, { count, days, expanded }: Shape): RowWindow {
  const [sizes, setSizes] = useState(GUESS)
  const [details, setDetails] = useState<ReadonlyMap<string, number>>(new Map())
  const extra = new Map(days.map((index) => [index, sizes.day]))
  for (const [index, id] of expanded) extra.set(index, (extra.get(index) ?? 0) + (details.get(id) ?? sizes.detail))
  const heights = rowHeights(count, sizes.row, extra)
  const [window, setWindow] = useState({ first: 0, end: 5 * STEP })

  const look = useLatest(() => {
    if (body.current === null) return
    const top = -body.current.getBoundingClientRect().top
    const first = Math.floor(heights.indexAt(top - SPARE) / STEP) * STEP
    const end = Math.ceil((heights.indexAt(top + innerHeight + SPARE) + 1) / STEP) * STEP
    setWindow((before) => (before.first === first && before.end === end ? before : { first, end }))
  })
  const measure = useLatest(() => {
    const heightOf = (name: string): number => body.current?.querySelector(name)?.getBoundingClientRect().height ?? 0
    const [row, day] = [heightOf('tr.log') || sizes.row, heightOf('tr.day') || sizes.day]
    const text = body.current?.querySelector('td.text')
    const room = text ? roomOf(text) : 0
    if (row !== sizes.row || day !== sizes.day || room !== sizes.room) setSizes({ ...sizes, row, day, room })
    const drawn = [...(body.current?.querySelectorAll<HTMLElement>('tr.detail') ?? [])].map(
      (one) => [one.dataset['of'] ?? '', one.getBoundingClientRect().height] as const,
    )
    if (drawn.some(([id, px]) => details.get(id) !== px)) setDetails(new Map([...details, ...drawn]))
  })

  useLayoutEffect(() => {
    measure.current()
    look.current()
  })
  useEffect(() => {
    const onScroll = (): void => look.current()
    // An entry's details may arrive later, and the window may be resized.
    const observer = new ResizeObserver(() => measure.current())
    if (body.current !== null) observer.observe(body.current)
    addEventListener('scroll', onScroll, { passive: true })
    addEventListener('resize', onScroll)
    return () => {
      observer.disconnect()
      removeEventListener('scroll', onScroll)
      removeEventListener('resize', onScroll)
    }
  }, [])
  return {
    first: Math.min(window.first, count),
    end: Math.min(window.end, count),
    topOf: heights.topOf,
    room: sizes.room,
  }
}
