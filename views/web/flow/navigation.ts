import type { DrawnMark } from '../../flow-layout/drawing.ts'

/**
 * The next (`step` 1) or previous (`step` -1) of ascending positions, wrapping around at the ends; undefined if there are none. `from` is
 * undefined before the first step.
 */
export function nextOf(places: readonly number[], from: number | undefined, step: 1 | -1): number | undefined {
  if (step === 1) return places.find((place) => place > (from ?? -1)) ?? places[0]
  return places.findLast((place) => place < (from ?? Number.POSITIVE_INFINITY)) ?? places.at(-1)
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }

/**
 * The mark that an arrow key leads to: left and right within the row, up and down to the nearest mark in the next row that has any.
 * Undefined if there is none, and for other keys. Marks are sorted by row, then by time.
 */
export function neighbourOf(marks: readonly DrawnMark[], at: number, key: string): number | undefined {
  const step = STEPS[key]
  const mark = marks[at]
  if (step === undefined || mark === undefined) return undefined
  if (key === 'ArrowLeft' || key === 'ArrowRight') return marks[at + step]?.row === mark.row ? at + step : undefined
  let to = at
  while (marks[to]?.row === mark.row) to += step
  const row = marks[to]?.row
  const distance = (index: number): number => Math.abs((marks[index]?.x ?? Number.NaN) - mark.x)
  // `to` is the first of its row; the nearest is where the distance stops decreasing.
  while (marks[to + step]?.row === row && distance(to + step) < distance(to)) to += step
  return row && to
}
