import { useState } from 'preact/hooks'
import { countText, visible } from '../../flow-layout/format.ts'
import type { Action, Line, List, TeamLists } from '../../schemas/team.ts'
import { Failed } from '../api/failed.tsx'
import { session } from '../api/session.ts'
import { useFetch } from '../api/use-fetch.ts'
import { agoText } from '../lib/times.ts'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Popover } from '../ui/popover.tsx'
import { useStore } from '../ui/store.ts'
import { useNow } from '../ui/time.tsx'
import { useEvery } from '../ui/use-every.ts'
import { type Ask, type Change, textsOf, useChange } from './change-dialog.tsx'
import { SampleButton } from './first-minute.tsx'
import { SendSnippet } from './send-snippet.tsx'
import { LISTS, limitedOf, QUOTA, quotaText, seenText } from './texts.ts'

const LOOK_MS = 30_000
/** Longer lists have a field to find lines by. */
const FINDABLE_MIN = 20
/** Lines shown at once: a table of tens of thousands stops the browser for a minute. */
const SHOWN_STEP = 500

/** The Team's Events, Steps, Projects and keys, and the changes to them. */
export function TeamPage() {
  const { data, problem, reload } = useFetch<TeamLists>('/api/team/lists')
  const { team } = useStore(session)
  useEvery(LOOK_MS, reload)
  return (
    <div class="page prose">
      <div class="bar">
        <h1 class="grow">
          <bdi>{team?.name}</bdi> <span class="muted">Team settings</span>
        </h1>
        <SampleButton />
      </div>
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      {data === undefined && problem === undefined && <Busy on />}
      {data?.lists.map((list) => (
        <TeamList key={list.kind} list={list} onChange={reload} />
      ))}
      {data !== undefined && <Quota {...data} />}
    </div>
  )
}

/** The Team's quota, if it has one. */
function Quota({ limits, refused }: Pick<TeamLists, 'limits' | 'refused'>) {
  const now = useNow()
  const given = quotaText(limits)
  const { text, lastAt } = limitedOf(refused)
  if (given === undefined) return null
  return (
    <section class="panel">
      <div class="head">
        <h2 class="grow">{QUOTA.title}</h2>
        {limits.shadow && <span class="badge">{QUOTA.shadow}</span>}
      </div>
      <p class="body">
        {given} {limits.shadow ? QUOTA.shadowAbout : text}
        {!limits.shadow && lastAt !== undefined && (
          <>
            {' '}
            {QUOTA.last} <span title={lastAt}>{agoText(lastAt, now)}</span>.
          </>
        )}
        <br />
        <span class="muted">{QUOTA.about}</span>
      </p>
    </section>
  )
}

/** A list of the settings; the API reports which changes each line allows. */
function TeamList({ list, onChange }: { readonly list: List; readonly onChange: () => void }) {
  const { kind, lines, actions, changes } = list
  const { title, columns, empty } = LISTS[kind]
  const [dialog, ask] = useChange(list, onChange)
  const [sendTo, setSendTo] = useState<Line>()
  const [all, setAll] = useState(false)
  const [part, setPart] = useState('')
  const [most, setMost] = useState(SHOWN_STEP)
  const found = linesWith(part.trim().toLowerCase(), lines)
  const ended = found.filter(({ state }) => state !== 'live')
  const shown = all ? found : found.filter(({ state }) => state === 'live')
  return (
    <section class="panel">
      <div class="head">
        <h2 class="grow">{title}</h2>
        {lines.length > FINDABLE_MIN && (
          <input
            class="input"
            type="search"
            placeholder={`Find in ${title}`}
            aria-label={`Find in ${title}`}
            value={part}
            onInput={({ currentTarget }) => setPart(currentTarget.value)}
          />
        )}
        {ended[0] && (
          <Button
            label={`${all ? 'Hide' : 'Show'} ${ended.length} ${ended[0].state}`}
            class="quiet"
            onClick={() => setAll(!all)}
          />
        )}
        {actions.map((action) => (
          <ActionButton key={action.kind} action={action} ask={ask} />
        ))}
      </div>
      {shown.length === 0 ? (
        <p class="body muted">{part.trim() === '' ? empty : `Nothing has “${part}” in its name or id.`}</p>
      ) : (
        <table class="table owned">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
              <th>
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((line) => (
              <Row key={line.id} line={line} changes={changes} ask={ask} onSend={() => setSendTo(line)} />
            ))}
          </tbody>
        </table>
      )}
      {shown.length > most && (
        <Button
          label={`Show more of ${countText(shown.length)}`}
          class="quiet"
          onClick={() => setMost(most + SHOWN_STEP)}
        />
      )}
      {dialog}
      {sendTo?.snippets && (
        <Dialog title={`Send to ${visible(sendTo.name ?? '')}`} wide onClose={() => setSendTo(undefined)}>
          <SendSnippet path={sendTo.path.replace(/(?=[?]|$)/, '/snippets')} />
        </Dialog>
      )}
    </section>
  )
}

/** The lines that have the text in their name or id. An Event and its Steps stay together: one by itself would seem to be another's. */
function linesWith(text: string, lines: readonly Line[]): readonly Line[] {
  const groups: Line[][] = []
  for (const line of lines) {
    if (line.below) groups.at(-1)?.push(line)
    else groups.push([line])
  }
  return groups.filter((group) => group.some(({ name, id }) => `${name}\n${id}`.toLowerCase().includes(text))).flat()
}

interface ActionButtonProps {
  readonly action: Change
  readonly ask: Ask
  readonly look?: 'small'
}

function ActionButton({ action, ask, look }: ActionButtonProps) {
  const { name, refused } = textsOf(action)
  return (
    <Button
      label={name}
      class={`${look ?? ''} ${action.isDanger ? 'danger' : ''}`}
      disabled={action.isRefused}
      title={action.isRefused ? refused : undefined}
      onClick={() => ask(action)}
    />
  )
}

interface RowProps extends Pick<List, 'changes'> {
  readonly line: Line
  readonly ask: Ask
  readonly onSend: () => void
}

function Row({ line, changes, ask, onSend }: RowProps) {
  const { kind, id, name, below, state, isDefault, at, lastDay, snippets } = line
  const actions = line.changes.map((each): Change => ({ ...(changes[each] as Action), line }))
  const isKey = kind === 'key'
  const { keyPrefix } = useStore(session)
  const now = useNow()
  return (
    <tr class={state === 'live' ? undefined : 'muted'}>
      <td class={below ? 'of' : undefined}>
        {isKey ? (
          <span class="mono">{id}…</span>
        ) : (
          <>
            <bdi class={below ? undefined : 'label'}>{visible(name ?? '')}</bdi>
            <br />
            <bdi class="mono muted">{visible(id)}</bdi> <Copy text={id} label={`Copy ${id}`} />
          </>
        )}{' '}
        {isKey && id === keyPrefix && state === 'live' && <span class="badge">you signed in with it</span>}{' '}
        {isDefault && <span class="badge">unknown services</span>}{' '}
        {(isKey || state !== 'live') && <span class={`badge ${state === 'live' ? 'good' : ''}`}>{state}</span>}
      </td>
      <td class="nowrap" title={isKey ? (at ?? '') : seenText(lastDay)}>
        {at === null ? <span class="muted">{seenText(lastDay)}</span> : agoText(at, now)}
      </td>
      <td class="num nowrap">
        {snippets && <Button label="Code" class="small" aria-label={`Code that sends to ${name}`} onClick={onSend} />}{' '}
        {isKey ? (
          actions.map((action) => <ActionButton key={action.kind} action={action} ask={ask} look="small" />)
        ) : (
          <Popover label="…" name={`Actions for ${name}`} class="button quiet icon small" align="end">
            {(close) =>
              actions.map((action) => (
                <button
                  key={action.kind}
                  type="button"
                  onClick={() => {
                    close()
                    ask(action)
                  }}
                >
                  {textsOf(action).name}
                </button>
              ))
            }
          </Popover>
        )}
      </td>
    </tr>
  )
}
