import type { Level } from '../../../shared/contract/levels.ts'
import { shapePath } from '../../flow-layout/shapes.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'

/** A level's mark alone, for use beside its name or in a drawing. */
export function LevelMark({ level }: { readonly level: Level }) {
  const { shape, colour } = LEVEL_LOOKS[level]
  return (
    <svg viewBox="-5 -5 10 10" width="10" height="10" aria-hidden="true">
      <path d={shapePath(shape, 3.4)} fill={shape === 'ring' ? 'none' : colour} stroke={colour} stroke-width="1.2" />
    </svg>
  )
}

/** A level as mark and word: the short word of a row, or its full name. */
export const LevelTag = ({ level, full = false }: { readonly level: Level; readonly full?: boolean }) => (
  <span class="level" style={{ color: LEVEL_LOOKS[level].colour }} title={full ? undefined : level}>
    <LevelMark level={level} />
    {full ? level : LEVEL_LOOKS[level].tag}
  </span>
)
