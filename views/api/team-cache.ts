import type { Clock } from '../../shared/runtime/clock.ts'

/** Caches one answer per Team for `keptMs`. Requests during its computation share it, so `compute` should not reject. */
export function createTeamCache<Answer>(
  keptMs: number,
  clock: Clock,
): (team: string, compute: () => Promise<Answer>) => Promise<Answer> {
  const kept = new Map<string, { readonly at: number; readonly answer: Promise<Answer> }>()
  return (team, compute) => {
    const now = clock.now()
    // A clock that was set back is far from the time that was noted, too.
    const isOld = ({ at }: { readonly at: number }): boolean => Math.abs(now - at) >= keptMs
    const present = kept.get(team)
    if (present !== undefined && !isOld(present)) return present.answer
    for (const [one, each] of kept) if (isOld(each)) kept.delete(one)
    const answer = compute()
    kept.set(team, { at: now, answer })
    return answer
  }
}
