import { visible } from '../lib/format.ts'
import { hrefTo } from '../ui/use-address.ts'
import type { FlowData } from './use-flow.ts'

/** Before a flow is there: being read, unknown, or not to be had. */
export function NoFlow({ correlationKey, data }: { readonly correlationKey: string; readonly data: FlowData }) {
  const { problem, loading, live } = data
  const unknown = problem?.code === 'not_found'
  return (
    <div class="page">
      <h1 class="flow-key">
        <bdi>{visible(correlationKey)}</bdi>
      </h1>
      {problem === undefined ? (
        <div class="busy-line">{loading && <div class="busy" />}</div>
      ) : (
        <div class="panel empty" role="status">
          <h2>{unknown ? 'No log of your Team has this key' : 'This flow cannot be read now'}</h2>
          <p>
            {unknown
              ? `A key is matched exactly, capitals included. ${live === 'live' ? 'The page waits: the flow appears here with its first log.' : ''}`
              : problem.message}
          </p>
          <div class="bar">
            <a class="button primary" href={hrefTo({ path: ['flows'], params: { q: correlationKey } })}>
              Find keys that contain it
            </a>
            <a class="button" href={hrefTo({ path: ['flows'] })}>
              Recent flows
            </a>
          </div>
        </div>
      )}
    </div>
  )
}
