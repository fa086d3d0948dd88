import { countText, plural } from '../lib/format.ts'
import type { LogRows } from './use-rows.ts'

/** How many there are, and what the answer cost. */
export const Found = ({ total, tookMs }: { readonly total: number | undefined; readonly tookMs: number }) => (
  <span class="muted nowrap num" role="status">
    {total !== undefined && <b>{plural(total, 'log')}</b>}{' '}
    <span class="wide-only">in {countText(Math.max(1, Math.round(tookMs)))} ms</span>
  </span>
)

export interface TailNewsProps {
  readonly list: LogRows
  readonly onShow: () => void
  readonly onLoad: () => void
}

/** What the tail brought that is not in the list: held back, left out by the server, or older than what is in sight. */
export function TailNews({ list: { live, held, skipped, elsewhere }, onShow, onLoad }: TailNewsProps) {
  return (
    <>
      <div class="news" role="status">
        {held.count > 0 && (
          <button type="button" class="button primary small" onClick={onShow}>
            {countText(held.count)} new
          </button>
        )}
      </div>
      {skipped > 0 && (
        <div class="notice warn">
          <span>{plural(skipped, 'log')} came faster than this page could take them, and are not shown.</span>
          <button type="button" class="button small" onClick={onLoad}>
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

/** Why the list could not be read. */
export function ListProblem({ list: { problem, reload } }: { readonly list: LogRows }) {
  if (problem === undefined) return null
  const { details } = problem
  return (
    <div class="notice bad" role="alert">
      <span>
        {problem.message}{' '}
        {Array.isArray(details) && details.map(({ path, message }) => `${path} ${message}`).join('; ')}
      </span>
      <button type="button" class="button small" onClick={reload}>
        Try again
      </button>
    </div>
  )
}
