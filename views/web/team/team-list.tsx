import { useState } from 'preact/hooks'
import type { Action, Line, List } from '../../team/types.ts'
import { useNow } from '../flow/use-now.ts'
import { visible } from '../lib/format.ts'
import { agoText } from '../lib/times.ts'
import { session } from '../session/session.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Popover } from '../ui/popover.tsx'
import { useStore } from '../ui/store.ts'
import { type Ask, type Change, useChange } from './change-dialog.tsx'
import { SendSnippet } from './send-snippet.tsx'

/** A list of what the Team owns; the API says what can be done with each. */
export function TeamList({ list, onChange }: { readonly list: List; readonly onChange: () => void }) {
  const { title, columns, empty, lines, actions, changes } = list
  const [dialog, ask] = useChange(list, onChange)
  const [sendTo, setSendTo] = useState<Line>()
  const [all, setAll] = useState(false)
  const ended = lines.filter(({ state }) => state !== 'live')
  const shown = all ? lines : lines.filter((line) => !ended.includes(line))
  return (
    <section class="panel">
      <div class="head">
        <h2 class="grow">{title}</h2>
        {ended.length > 0 && (
          <button type="button" class="button quiet" onClick={() => setAll(!all)}>
            {all ? 'Hide' : 'Show'} {ended.length} {ended[0]?.state}
          </button>
        )}
        {actions.map((action) => (
          <ActionButton key={action.name} action={action} ask={ask} />
        ))}
      </div>
      {shown.length === 0 ? (
        <p class="body muted">{empty}</p>
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
            {shown.map((line) => (
              <Row key={line.id} line={line} changes={changes} ask={ask} onSend={() => setSendTo(line)} />
            ))}
          </tbody>
        </table>
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

interface ActionButtonProps {
  readonly action: Change
  readonly ask: Ask
  readonly look?: 'small'
}

const ActionButton = ({ action, ask, look }: ActionButtonProps) => (
  <button
    type="button"
    class={`button ${look ?? ''} ${action.isDanger ? 'danger' : ''}`}
    disabled={action.refused !== undefined}
    title={action.refused}
    onClick={() => ask(action)}
  >
    {action.name}
  </button>
)

interface RowProps extends Pick<List, 'changes'> {
  readonly line: Line
  readonly ask: Ask
  readonly onSend: () => void
}

function Row({ line, changes, ask, onSend }: RowProps) {
  const { id, name, below, state, at, about, snippets } = line
  const actions = line.changes.map((each): Change => ({ ...(changes[each] as Action), line }))
  const { keyPrefix } = useStore(session)
  const now = useNow()
  return (
    <tr class={state === 'live' ? undefined : 'muted'}>
      <td class={below ? 'of' : undefined}>
        {name === null ? (
          <span class="mono">{id}…</span>
        ) : (
          <>
            <bdi class={below ? undefined : 'label'}>{visible(name)}</bdi>
            <br />
            <bdi class="mono muted">{visible(id)}</bdi> <Copy text={id} label={`Copy ${id}`} />
          </>
        )}{' '}
        {name === null && id === keyPrefix && state === 'live' && <span class="badge">you signed in with it</span>}{' '}
        {(name === null || state !== 'live') && <span class={`badge ${state === 'live' ? 'good' : ''}`}>{state}</span>}
      </td>
      <td class="nowrap" title={about}>
        {at === null ? <span class="muted">{about}</span> : agoText(at, now)}
      </td>
      <td class="num nowrap">
        {snippets && (
          <button type="button" class="button small" aria-label={`Code that sends to ${name}`} onClick={onSend}>
            Code
          </button>
        )}{' '}
        {name === null ? (
          actions.map((action) => <ActionButton key={action.name} action={action} ask={ask} look="small" />)
        ) : (
          <Popover label="…" name={`Actions for ${name}`} class="button quiet icon small" align="end">
            {(close) =>
              actions.map((action) => (
                <button
                  key={action.name}
                  type="button"
                  onClick={() => {
                    close()
                    ask(action)
                  }}
                >
                  {action.name}
                </button>
              ))
            }
          </Popover>
        )}
      </td>
    </tr>
  )
}
