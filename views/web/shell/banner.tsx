import { useEffect, useState } from 'preact/hooks'
import { connection } from '../api/client.ts'
import { loadSession } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { useStore } from '../ui/store.ts'

const FIRST_WAIT_S = 1
const LONGEST_WAIT_S = 15

const WHY = {
  away: 'The server does not answer.',
  refused: 'A proxy in front of Sluice refuses the requests of this page: load it again, and sign in there if it asks.',
}

/** Reports that the server is unreachable, and retries at growing intervals. */
export function Banner() {
  const state = useStore(connection)
  return state === 'up' ? null : <Away why={WHY[state]} />
}

function Away({ why }: { readonly why: string }) {
  const [wait, setWait] = useState(FIRST_WAIT_S)
  const [left, setLeft] = useState(FIRST_WAIT_S)
  useEffect(() => {
    const timer = setTimeout(() => {
      if (left > 1) return setLeft(left - 1)
      void loadSession()
      const next = Math.min(wait * 2, LONGEST_WAIT_S)
      setWait(next)
      setLeft(next)
    }, 1_000)
    return () => clearTimeout(timer)
  }, [left, wait])
  return (
    <div class="banner">
      {/* Outside the live region; otherwise every second of the countdown would be read out. */}
      <span role="status">{why} Nothing you typed is lost.</span>
      <span class="muted num">Next try in {left} s</span>
      <Button label="Try now" class="small" onClick={() => void loadSession()} />
    </div>
  )
}
