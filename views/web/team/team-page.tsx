import type { TeamLists } from '../../team/types.ts'
import { session } from '../session/session.ts'
import { useStore } from '../ui/store.ts'
import { useEvery } from '../ui/use-every.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { SampleButton } from './first-minute.tsx'
import { TeamList } from './team-list.tsx'

const LOOK_MS = 30_000

/** What the Team owns, and what it can do with it. */
export function TeamPage() {
  const { data, problem, reload } = useFetch<TeamLists>('/api/team/lists')
  const { team } = useStore(session)
  useEvery(LOOK_MS, reload)
  return (
    <div class="page prose">
      <div class="bar">
        <h1 class="grow">
          <bdi>{team?.name}</bdi> <span class="muted">Team settings</span>
        </h1>
        <SampleButton />
      </div>
      {problem !== undefined && (
        <p class="notice bad" role="status">
          {problem.message}
        </p>
      )}
      {data?.lists.map((list) => (
        <TeamList key={list.title} list={list} onChange={reload} />
      ))}
    </div>
  )
}
