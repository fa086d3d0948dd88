import { useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import type { Condition, TestedWatch, Watch, WatchDetails, Watches } from '../../schemas/watches.ts'
import { type Result, send } from '../api/client.ts'
import { Failed, Gone } from '../api/failed.tsx'
import { type NameOf, useNames } from '../api/names.ts'
import { useFetch } from '../api/use-fetch.ts'
import type { AddressPatch } from '../lib/address.ts'
import { agoText } from '../lib/times.ts'
import { searchPatch } from '../logs/saved-searches.tsx'
import { FormDialog, SecretDialog } from '../team/form.tsx'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { Time, useNow } from '../ui/time.tsx'
import { toast } from '../ui/toast.tsx'
import { go, hrefTo, useAddress } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { conditionText, NEW_SECRET, OUTCOMES, STATES, WATCHES } from './texts.ts'
import { useGroupNames } from './use-group-names.ts'
import { draftOf, WatchDialog, type WatchDraft } from './watch-dialog.tsx'

/** Shows a watch in full, or none. */
const open = (id: string | undefined): void => go({ params: { id } }, 'replace')

const PATH = '/api/team/watches'
const LOOK_MS = 5_000

/** The Team's watches, each with its history. */
export function WatchesPage() {
  const { params } = useAddress()
  const { id } = params
  const watches = useFetch<Watches>(PATH)
  const { problem, loading, reload } = watches
  useEvery(LOOK_MS, reload, !loading)
  const nameOf = useNames()
  const data = nameOf && watches.data
  const [edited, setEdited] = useState<WatchDraft>()
  const [secret, setSecret] = useState<string>()
  // A list of logs links here with its search in the address.
  const draft = edited ?? (params['new'] === undefined ? undefined : draftOf(params))
  const close = (): void => {
    setEdited(undefined)
    if (params['new'] !== undefined) go({ path: ['watches'] }, 'replace')
  }
  return (
    <div class="page prose">
      <div class="bar">
        <h1 class="grow">{WATCHES.title}</h1>
        <Button label={WATCHES.add} class="primary" onClick={() => setEdited(draftOf({}))} />
      </div>
      <p class="muted">{WATCHES.about}</p>
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      <Busy on={data === undefined && problem === undefined} />
      {data !== undefined && id !== undefined && !data.items.some((watch) => watch.id === id) && (
        <Gone what="watch" onLeave={() => open(undefined)} />
      )}
      {nameOf &&
        data?.items.map((watch) => (
          <WatchPanel
            key={watch.id}
            watch={watch}
            nameOf={nameOf}
            isOpen={watch.id === id}
            onToggle={() => open(watch.id === id ? undefined : watch.id)}
            onEdit={setEdited}
            onChange={reload}
          />
        ))}
      {data?.items.length === 0 && (
        <div class="panel empty">
          <h2>{WATCHES.none}</h2>
          <p>{WATCHES.noneAbout}</p>
        </div>
      )}
      {draft && nameOf && (
        <WatchDialog
          draft={draft}
          nameOf={nameOf}
          onClose={close}
          onSaved={(made) => {
            close()
            if (made !== null) setSecret(made)
            reload()
          }}
        />
      )}
      {secret && <SecretDialog {...NEW_SECRET} secret={secret} onClose={() => setSecret(undefined)} />}
    </div>
  )
}

interface WatchPanelProps {
  readonly watch: Watch
  readonly nameOf: NameOf
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly onEdit: (draft: WatchDraft) => void
  readonly onChange: () => void
}

function WatchPanel({ watch, nameOf, isOpen, onToggle, onEdit, onChange }: WatchPanelProps) {
  const { name, condition, state, lastEvaluatedAt, delivery, gaveUpAt } = watch
  const now = useNow()
  const names = useGroupNames('params' in condition ? condition.params : {}, nameOf)
  const { look, name: stateName } = STATES[state]
  return (
    <section class="panel">
      <details class="refused watch" open={isOpen}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control */}
        <summary
          onClick={(event) => {
            event.preventDefault()
            onToggle()
          }}
        >
          <h2>
            <bdi>{visible(name)}</bdi>
          </h2>
          <span class={`badge ${look}`}>{stateName}</span>
          {delivery && delivery.attempts > 0 && <span class="badge bad">{WATCHES.undelivered}</span>}
          {gaveUpAt !== null && <span class="badge bad">{WATCHES.gaveUp}</span>}
          <span class="grow muted">
            <bdi>{visible(conditionText(condition, names))}</bdi>
          </span>
          <span class="muted nowrap">
            {lastEvaluatedAt === null ? WATCHES.never : WATCHES.evaluated(agoText(lastEvaluatedAt, now))}
          </span>
        </summary>
        {isOpen && <Details watch={watch} onEdit={onEdit} onChange={onChange} />}
      </details>
    </section>
  )
}

/** The address of what a condition matches now. */
function matchedPatch(condition: Condition): AddressPatch {
  switch (condition.type) {
    case 'count': {
      const { list, params, minutes } = condition
      // Whole hours have names in the choice of the range: "Last 24 hours".
      const length = minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
      return searchPatch({ page: list, params: { ...params, from: `now-${length}` } })
    }
    case 'flows':
      return searchPatch({ page: 'flows', params: { state: condition.state, event: condition.event ?? '' } })
    case 'newGroup':
      return searchPatch({ page: 'application-logs', params: { ...condition.params, group: condition.by } })
  }
}

function Details({ watch, onEdit, onChange }: Omit<WatchPanelProps, 'nameOf' | 'isOpen' | 'onToggle'>) {
  const { id, name, webhook, paused, error, delivery, gaveUpAt } = watch
  const path = `${PATH}/${id}`
  const { data, problem, reload, loading } = useFetch<WatchDetails>(path)
  useEvery(LOOK_MS, reload, !loading)
  const [asksToDelete, setAsksToDelete] = useState(false)
  const [tested, setTested] = useState<TestedWatch | 'busy'>()
  const now = useNow()
  const test = async (): Promise<void> => {
    if (tested === 'busy') return
    setTested('busy')
    const answer = await send<TestedWatch>('POST', `${path}/test`)
    setTested(answer.ok ? answer.data : { delivered: false, status: null, message: answer.problem.message })
  }
  const pause = async (): Promise<void> => {
    const answer = await send('PATCH', path, { paused: !paused })
    if (!answer.ok) toast(answer.problem.message, 'bad')
    onChange()
  }
  const remove = async (): Promise<Result<unknown>> => {
    const answer = await send('DELETE', path)
    if (answer.ok) {
      setAsksToDelete(false)
      open(undefined)
      toast(WATCHES.deleted)
      onChange()
    }
    return answer
  }
  return (
    <div class="body stack">
      {error !== null && <p class="notice bad">{error}</p>}
      {gaveUpAt !== null && <p class="notice bad">{WATCHES.givenUp(agoText(gaveUpAt, now))}</p>}
      {delivery && delivery.attempts > 0 && (
        <p class="notice warn">
          {WATCHES.delivery(delivery.attempts, agoText(delivery.nextAt, now))}{' '}
          {delivery.reason !== null && WATCHES.lastFailure(delivery.reason)}
        </p>
      )}
      <p class="wrap">
        <span class="muted">{WATCHES.url}</span> <bdi class="mono">{visible(webhook.url)}</bdi>
      </p>
      <div class="bar">
        <Button
          label={tested === 'busy' ? WATCHES.testing : WATCHES.test}
          aria-disabled={tested === 'busy'}
          onClick={() => void test()}
        />
        <a class="button" href={hrefTo(matchedPatch(watch.condition))}>
          {WATCHES.show}
        </a>
        <Button label={WATCHES.edit} onClick={() => onEdit({ watch })} />
        <Button label={paused ? WATCHES.resume : WATCHES.pause} onClick={() => void pause()} />
        <Button label={WATCHES.delete} class="danger" onClick={() => setAsksToDelete(true)} />
      </div>
      <p
        role="status"
        class={tested === undefined || tested === 'busy' ? 'hidden' : `notice ${tested.delivered ? 'good' : 'bad'}`}
      >
        {tested !== undefined && tested !== 'busy' && tested.message}
      </p>
      <h3>{WATCHES.history}</h3>
      <Failed problem={problem} reload={reload} />
      {data?.history.length === 0 && <p class="muted">{WATCHES.noHistory}</p>}
      <ul class="watch-history">
        {data?.history.map(({ at, outcome, text }, index) => (
          <li key={`${at}${index}`}>
            <Time at={at} full /> <span class={`badge ${OUTCOMES[outcome].look}`}>{OUTCOMES[outcome].name}</span>{' '}
            <bdi>{visible(text)}</bdi>
          </li>
        ))}
      </ul>
      {asksToDelete && (
        <FormDialog
          title={WATCHES.delete}
          confirm={WATCHES.delete}
          isDanger
          onSubmit={remove}
          onClose={() => setAsksToDelete(false)}
        >
          <p>{WATCHES.deleteIt(visible(name))}</p>
        </FormDialog>
      )}
    </div>
  )
}
