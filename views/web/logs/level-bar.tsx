import type { FacetValue } from '../api/types.ts'
import { shortCount } from '../lib/format.ts'
import { LEVEL_LOOKS, LEVELS, type Level, levelRank } from '../lib/levels.ts'
import { LevelMark } from '../ui/level.tsx'

export interface LevelBarProps {
  /** The least severe level that is shown; undefined: all. */
  readonly level: Level | undefined
  /** Counts of all levels, whatever is chosen. */
  readonly counts: readonly FacetValue[]
  readonly onLevel: (level: Level | undefined) => void
}

/** The minimum level: a click on a level shows it and all that are more severe. */
export const LevelBar = ({ level, counts, onLevel }: LevelBarProps) => (
  <fieldset class="levels" aria-label="Minimum level">
    {LEVELS.map((each) => {
      const count = counts.find(({ value }) => value === each)?.count ?? 0
      const included = level === undefined || levelRank(each) >= levelRank(level)
      return (
        <button
          key={each}
          type="button"
          class={included ? undefined : 'off'}
          aria-pressed={each === level}
          title={each === level ? 'Show all levels' : `${each} and above`}
          onClick={() => onLevel(each === level ? undefined : each)}
        >
          <span class="level" style={{ color: LEVEL_LOOKS[each].colour }}>
            <LevelMark level={each} />
            {LEVEL_LOOKS[each].tag}
          </span>
          <span class="num">{shortCount(count)}</span>
        </button>
      )
    })}
  </fieldset>
)
