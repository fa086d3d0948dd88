import { plural } from '../../flow-layout/format.ts'
import { loadSession, refusedCount, session } from '../api/session.ts'
import { useStore } from '../ui/store.ts'
import { hrefTo } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'

const LOOK_MS = 3_000

/** Shown on empty lists: a link to the refusals, as the missing logs may be among them. */
export function RefusedNote() {
  const count = refusedCount(useStore(session))
  useEvery(LOOK_MS, () => void loadSession())
  if (count === 0) return null
  return (
    <p class="refused-note">
      <a href={hrefTo({ path: ['refused'] })}>See the refused logs</a>: {plural(count, 'log was', 'logs were')} refused
      within a day.
    </p>
  )
}
