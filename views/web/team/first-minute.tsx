import { useEffect, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { plural } from '../../flow-layout/format.ts'
import type { EntryPage, FlowPage } from '../../schemas/answers.ts'
import type { SampleFlow, TeamLists } from '../../schemas/team.ts'
import { get, send } from '../api/client.ts'
import { Failed } from '../api/failed.tsx'
import { heldKey } from '../api/session.ts'
import { reloadAll, useFetch } from '../api/use-fetch.ts'
import { RefusedNote } from '../refused/refused-note.tsx'
import { Button, Icon } from '../ui/button.tsx'
import { useStore } from '../ui/store.ts'
import { toast } from '../ui/toast.tsx'
import { currentAddress, go, hrefTo } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { SendSnippet } from './send-snippet.tsx'

type Kind = EntryKind | 'flow'

const WANTED: Readonly<Record<Kind, readonly [path: string, name: string]>> = {
  event: ['/api/event-logs', 'event log'],
  application: ['/api/application-logs', 'application log'],
  flow: ['/api/flows', 'flow'],
}

const LOOK_MS = 2_000
/** How long the news stays before the arrived logs replace it, in milliseconds. */
const NEWS_MS = 1_200

/** A page without any logs yet: the code that sends the first one, and a wait for it. */
export function FirstMinute({ kind }: { readonly kind: Kind }) {
  const [path, name] = WANTED[kind]
  const lists = useFetch<TeamLists>('/api/team/lists')
  const first = useFetch<EntryPage | FlowPage>(path, { limit: 1 })
  const arrived = (first.data?.items.length ?? 0) > 0
  useEvery(LOOK_MS, first.reload, !arrived && !first.loading)
  useEffect(() => {
    if (!arrived) return
    const timer = setTimeout(reloadAll, NEWS_MS)
    return () => clearTimeout(timer)
  }, [arrived])
  const target = lists.data?.targets[kind]
  return (
    <section class="panel first-minute">
      <div class="head">
        <h2 class="grow waiting">
          {arrived ? <Icon name="check" /> : <i />}
          <span role="status">{arrived ? `The first ${name} is here` : `Waiting for the first ${name}`}</span>
        </h2>
        <SampleButton />
      </div>
      <div class="body stack">
        <Failed problem={lists.problem ?? first.problem} reload={lists.reload} />
        {target === null && <NoTarget kind={kind} />}
        {target && <Send kind={kind} path={target} />}
        <RefusedNote />
      </div>
    </section>
  )
}

const Send = ({ kind, path }: { readonly kind: Kind; readonly path: string }) => (
  <>
    <p class="muted">
      {kind === 'flow'
        ? 'All logs with one correlationKey make a flow. '
        : 'Run this, and the log appears here by itself. '}
      Code for all that can be sent to is under <a href={hrefTo({ path: ['team'] })}>Team</a>.
    </p>
    <SendSnippet path={path} />
    <div class="field">
      <label for="held-key">Your key, for what you copy</label>
      <input
        id="held-key"
        class="input mono"
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={useStore(heldKey)}
        onInput={({ currentTarget }) => heldKey.set(currentTarget.value.trim())}
      />
      <span class="hint">It stays in this tab: it is neither stored nor sent.</span>
    </div>
  </>
)

const NoTarget = ({ kind }: { readonly kind: Kind }) => (
  <p>
    The Team has no {kind === 'application' ? 'Project' : 'Event'} yet that a log could be sent to.{' '}
    <a href={hrefTo({ path: ['team'] })}>Create one</a>, and come back.
  </p>
)

const SHOWN_TRIES = 40
const SHOWN_MS = 250

/** Waits until an accepted flow is searchable, which takes a moment; after ten seconds the flow's own page takes over the wait. */
async function untilShown(q: string): Promise<void> {
  for (let tries = 0; tries < SHOWN_TRIES; tries += 1) {
    const found = await get<FlowPage>('/api/flows', { q, limit: 1 })
    if (found.ok && found.data.items.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, SHOWN_MS))
  }
}

/** Sends a sample flow through the real gateway, and opens it. */
export function SampleButton() {
  const [busy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    const [page] = currentAddress().path
    const answer = await send<SampleFlow>('POST', '/api/team/sample-flow')
    if (answer.ok) await untilShown(answer.data.correlationKey)
    setBusy(false)
    if (!answer.ok) return toast(answer.problem.message, 'bad')
    toast(`${plural(answer.data.sent, 'log')} went through the gateway.`)
    // A reader who has gone to another page meanwhile stays there.
    if (page === currentAddress().path[0]) go({ path: ['flows', answer.data.correlationKey] })
  }
  return (
    <Button onClick={run} disabled={busy}>
      <Icon name="flow" />
      {busy ? 'Sending…' : 'Send a sample flow'}
    </Button>
  )
}
