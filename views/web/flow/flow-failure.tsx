import { epochMs, type FlowLog } from '../../flow-layout/flow-log.ts'
import { visible } from '../../flow-layout/format.ts'
import type { EntryDetails } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { detailsPath } from '../logs/links.ts'
import type { FlowView } from './use-flow-view.ts'
import { failingLog, failureText } from './words.ts'

/** The error that a flow ended with, on one line that links to its log. */
export function FlowFailure({ view }: { readonly view: FlowView }) {
  const { state, lastProgressAt } = view.brief.summary
  const log =
    state === 'failed' ? failingLog(view.logs, lastProgressAt === null ? 0 : epochMs(lastProgressAt)) : undefined
  return log === undefined ? null : <Line log={log} onSelect={() => view.select(log)} />
}

function Line({ log, onSelect }: { readonly log: FlowLog; readonly onSelect: () => void }) {
  const { entry } = log
  const thrown = entry.kind === 'application' && entry.exception !== null
  const { data } = useFetch<EntryDetails>(thrown ? detailsPath(entry) : null)
  const { what, where } = failureText(log, data?.exception?.parts ?? [])
  return (
    <p class="flow-failure">
      <button type="button" class="mono bad" title="Go to this log" onClick={onSelect}>
        <bdi>{visible(what)}</bdi>
        {where !== '' && <bdi class="muted"> · {visible(where)}</bdi>}
      </button>
    </p>
  )
}
