import { visible } from '../lib/format.ts'
import { Icon } from '../ui/icon.tsx'
import type { AddressParams } from './filters.ts'
import type { TeamRegistry } from './rail.tsx'
import { valuesOf } from './search-values.ts'
import type { FacetLists } from './use-facets.ts'

export interface ChosenProps {
  readonly params: AddressParams
  readonly registry: TeamRegistry | undefined
  readonly facets: FacetLists
  readonly onChange: (params: Readonly<Record<string, string | undefined>>) => void
}

const NAMES = ['event', 'step', 'project', 'category'] as const

/** What was chosen in the rail, each to be taken away. */
export function Chosen({ params, registry, facets, onChange }: ChosenProps) {
  const chosen = NAMES.filter((name) => params[name] !== undefined)
  if (chosen.length === 0) return null
  const values = valuesOf(facets, registry)
  return (
    <div class="chips">
      {chosen.map((name) => {
        const value = params[name] ?? ''
        const label = values[name]?.find((one) => one.value === value)?.name ?? value
        return (
          <button key={name} type="button" class="chip" onClick={() => onChange({ [name]: undefined })}>
            <span class="hidden">Remove</span>
            <span class="muted">{name}</span>
            <bdi class="cut">{visible(label)}</bdi>
            <span class="x">
              <Icon name="close" />
            </span>
          </button>
        )
      })}
    </div>
  )
}
