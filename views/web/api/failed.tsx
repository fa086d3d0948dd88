import type { Problem } from './client.ts'

interface FailedProps {
  readonly problem: Problem | undefined
  readonly reload?: () => void
}

/** Why something could not be read, and a button to try again where that may help; an unreachable server is reported by the banner. */
export function Failed({ problem, reload }: FailedProps) {
  if (problem === undefined || problem.code === 'unreachable') return null
  return (
    <div class="notice bad" role="alert">
      <span>{problem.message}</span>
      {problem.retryable && reload && (
        <button type="button" class="button small" onClick={reload}>
          Try again
        </button>
      )}
    </div>
  )
}
