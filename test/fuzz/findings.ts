import type { Plan } from './plan.ts'

/** A fault of the program. */
export interface Finding {
  /** Its name, which is the same for all occurrences. */
  readonly what: string
  /** The case that revealed it, if any. */
  readonly plan?: Plan | undefined
  /** Details of this occurrence. */
  readonly detail?: string | undefined
  /** Its severity, such as a time in milliseconds; a group reports the worst. */
  readonly measure?: { readonly value: number; readonly unit: string } | undefined
}

/** Occurrences of the same fault, as reported at the end. */
export interface FindingGroup {
  readonly what: string
  count: number
  /** The numbers of the first cases, for replay. */
  readonly numbers: number[]
  readonly first: Finding
  worst: Finding['measure']
}

export interface Findings {
  /** Returns true for the first of its kind. */
  add(finding: Finding): boolean
  /** Most frequent first. */
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
