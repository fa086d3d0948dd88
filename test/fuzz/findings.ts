import type { Plan } from './plan.ts'

/** A fault of the program. */
export interface Finding {
  /** Its name: the same for all that are one finding. */
  readonly what: string
  /** The case that showed it, if it was one. */
  readonly plan?: Plan | undefined
  /** The circumstances of this time. */
  readonly detail?: string | undefined
  /** How bad it was, such as milliseconds; of a group the worst is told. */
  readonly measure?: { readonly value: number; readonly unit: string } | undefined
}

/** Findings that are the same, as they are reported at the end. */
export interface FindingGroup {
  readonly what: string
  count: number
  /** The numbers of the first cases, to replay. */
  readonly numbers: number[]
  readonly first: Finding
  worst: Finding['measure']
}

export interface Findings {
  /** Gives true where it is the first of its kind. */
  add(finding: Finding): boolean
  /** The most frequent first. */
  groups(): readonly FindingGroup[]
}

const NUMBERS_KEPT = 5

export function createFindings(onFirst: (finding: Finding) => void): Findings {
  const groups = new Map<string, FindingGroup>()
  return {
    add: (finding) => {
      const { what, plan, measure } = finding
      const group = groups.get(what) ?? { what, count: 0, numbers: [], first: finding, worst: measure }
      groups.set(what, group)
      group.count += 1
      if ((measure?.value ?? 0) > (group.worst?.value ?? 0)) group.worst = measure
      if (plan !== undefined && group.numbers.length < NUMBERS_KEPT) group.numbers.push(plan.number)
      if (group.count > 1) return false
      onFirst(finding)
      return true
    },
    groups: () => [...groups.values()].sort((one, other) => other.count - one.count),
  }
}
