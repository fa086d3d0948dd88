import { countText, plural } from '../lib/format.ts'
import type { LogRows } from './use-rows.ts'
import type { View } from './use-view.ts'

export interface TailNewsProps {
  readonly list: LogRows
  readonly view: View
}

/** What the tail brought that is not in the list: held back, left out by the server, or older than what is in sight. */
export function TailNews({ list, view }: TailNewsProps) {
  const { live, heldCount, skipped, elsewhere } = list
  const atTop = (run: () => void) => () => {
    view.toTop()
    run()
  }
  return (
    <>
      <div class="news" role="status">
        {heldCount > 0 && (
          <button type="button" class="button primary small" onClick={atTop(list.release)}>
            {countText(heldCount)} new
          </button>
        )}
      </div>
      {skipped > 0 && (
        <div class="notice warn">
          <span>{plural(skipped, 'log')} came faster than this page could take them, and are not shown.</span>
          <button type="button" class="button small" onClick={atTop(list.reload)}>
            Load them
          </button>
        </div>
      )}
      {live !== 'off' && elsewhere > 0 && (
        <p class="muted small pad">{plural(elsewhere, 'log')} arrived with an older time than what is in sight.</p>
      )}
    </>
  )
}

/** Why the list could not be read. That the server is away, the banner says. */
export function ListProblem({ list: { problem, reload } }: { readonly list: LogRows }) {
  if (problem === undefined || problem.code === 'unreachable') return null
  return (
    <div class="notice bad" role="alert">
      <span>{problem.message}</span>
      <button type="button" class="button small" onClick={reload}>
        Try again
      </button>
    </div>
  )
}
