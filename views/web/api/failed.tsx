import { NoAnswer } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import type { Problem } from './client.ts'

interface FailedProps {
  readonly problem: Problem | undefined
  readonly reload: () => void
  /** Whether there is nothing of an earlier answer to show. */
  readonly instead?: boolean
}

/**
 * The reason why something could not be read, and a button to try again where that may help; an unreachable server is reported by the
 * banner, and here where nothing else would be.
 */
export function Failed({ problem, reload, instead }: FailedProps) {
  if (problem === undefined) return null
  if (problem.code === 'unreachable') return instead ? <NoAnswer /> : null
  return (
    <div class="notice bad" role="alert">
      <span>{problem.message}</span>
      {problem.retryable && <Button label="Try again" class="small" onClick={reload} />}
    </div>
  )
}

interface GoneProps {
  /** The kind of item that the address names: `log`. */
  readonly what: string
  /** Called to remove it from the address. */
  readonly onLeave: () => void
}

/** Reports that what the address names is not there, and leads on. */
export const Gone = ({ what, onLeave }: GoneProps) => (
  <div class="notice warn" role="status">
    <span>The {what} of this address is not there, or is not kept any more.</span>
    <Button label="Go on without it" class="small" onClick={onLeave} />
  </div>
)
