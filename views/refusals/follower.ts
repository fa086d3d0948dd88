import { createTopicFollower, type TopicFollowerDeps } from '../../shared/journal/topic-follower.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import { createRefusalRing, type RefusalRing, type RefusalsReader } from './ring.ts'

type RefusalsFollowerDeps = Omit<TopicFollowerDeps<RefusalRing>, 'name' | 'isRequired' | 'begin' | 'fold' | 'onChange'>

type RefusalsFollower = Service & RefusalsReader

/** Keeps the latest refusals of every Team in memory. */
export function createRefusalsFollower(deps: RefusalsFollowerDeps): RefusalsFollower {
  const { name, start, stop, state, caughtUp } = createTopicFollower({
    ...deps,
    name: 'refusals',
    begin: () => createRefusalRing(deps.clock.now),
    fold: (ring, records) => ring.fold(records),
  })
  return { name, start, stop, of: (team) => (caughtUp() ? state().of(team) : undefined) }
}
