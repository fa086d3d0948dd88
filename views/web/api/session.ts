import type { Session } from '../../schemas/answers.ts'
import { createStore } from '../ui/store.ts'
import { toast } from '../ui/toast.tsx'
import { changedSessions, connection, get, type Problem, refusedSessions, send } from './client.ts'
import { reloadAll } from './use-fetch.ts'

/** `over`: the session has ended, and the page stays as it is until the user signs in again. */
type SessionState = Session & { readonly state: 'unknown' | 'out' | 'in' | 'over' }

const NOBODY: Session = { team: null, keyPrefix: null, refused: null }

export const session = createStore<SessionState>({ ...NOBODY, state: 'unknown' })

/** The number of known refusals of the Team within the last day. */
export const refusedCount = ({ refused }: Session): number => (refused ?? []).reduce((sum, { count }) => sum + count, 0)

const RETRY_MS = 2_000

let retry = 0

/** Asks the server who is signed in, until it can tell. While the server is away, the banner retries. */
export async function loadSession(): Promise<void> {
  const changes = changedSessions.get()
  const answer = await get<Session>('/api/session')
  if (changes !== changedSessions.get()) return
  if (answer.ok) {
    const before = session.get().team
    take(answer.data)
    const { team } = answer.data
    if (before && team && team.id !== before.id)
      toast(`Another tab signed in as ${team.name}: all tabs show that Team.`, 'bad')
  } else if (connection.get() === 'up') {
    clearTimeout(retry)
    retry = window.setTimeout(loadSession, RETRY_MS)
  }
}

const NOT_KEPT: Problem = {
  code: 'session_not_kept',
  message: 'This browser does not keep the cookie of the session, or another server answers that does not accept it.',
  retryable: false,
  retryAfter: null,
}

/** Signs in with a Team key; returns the problem on failure. The key is not stored. */
export async function signIn(apiKey: string): Promise<Problem | undefined> {
  const answer = await send<Session>('POST', '/api/session', { apiKey })
  if (!answer.ok) return answer.problem
  countChange()
  const kept = await get<Session>('/api/session')
  if (kept.ok && kept.data.team === null) return NOT_KEPT
  take(answer.data)
  return undefined
}

export async function signOut(): Promise<void> {
  const answer = await send('DELETE', '/api/session')
  if (!answer.ok) return toast(`Signing out failed: ${answer.problem.message}`, 'bad')
  countChange()
  session.set({ ...NOBODY, state: 'out' })
}

/** All tabs share the cookie: another one may sign out, or in as another Team, and this one does not show its logs as those of the first. */
const tabs = new BroadcastChannel('sluice-session')
tabs.onmessage = loadSession
addEventListener('focus', loadSession)

function countChange(): void {
  changedSessions.set(changedSessions.get() + 1)
  tabs.postMessage(null)
}

function take(next: Session): void {
  const before = session.get()
  if (next.team === null) end()
  else {
    // One Team's key must not be used for another.
    if (next.team.id !== before.team?.id) heldKey.set('')
    session.set({ ...next, state: 'in' })
  }
  if (before.state === 'over') reloadAll()
}

/** Nobody is signed in any more, or nobody was. */
function end(): void {
  const before = session.get()
  session.set(before.team === null ? { ...NOBODY, state: 'out' } : { ...before, state: 'over' })
}

refusedSessions.subscribe(end)

// A download that is refused says nothing; asking who is signed in does.
addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('a[download]') !== null) void loadSession()
})

/** A key that was entered or created on this page: only in this tab's memory, until a reload or a change of Team. */
export const heldKey = createStore('')
