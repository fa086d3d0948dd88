import { LEVELS, type Level } from '../../../shared/contract/levels.ts'
import { SHAPES, type Shape } from '../../flow-layout/shapes.ts'

interface LevelLook {
  /** The short name shown in rows. */
  readonly tag: string
  readonly shape: Shape
  /** Colour of text and marks. */
  readonly colour: string
  /** Colour of areas, such as a histogram's bars. */
  readonly fill: string
}

/** The appearance of each level. */
export const LEVEL_LOOKS = Object.fromEntries(
  ['trace', 'debug', 'info', 'warn', 'error', 'crit'].map((tag, rank) => [
    LEVELS[rank],
    { tag, shape: SHAPES[rank], colour: `var(--level-${tag})`, fill: `var(--level-${tag}-fill)` },
  ]),
) as Readonly<Record<Level, LevelLook>>
