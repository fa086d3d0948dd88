import { useState } from 'preact/hooks'
import { dayText } from '../lib/times.ts'
import { session, signIn } from '../session/session.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useStore } from '../ui/store.ts'
import { useUtc } from '../ui/use-utc.ts'
import { useChange } from './change-dialog.tsx'
import { heldKey } from './send-snippet.tsx'
import type { NewKey, TeamKey } from './types.ts'

const LIVE_MAX = 2

/** The Team's keys by their first characters; a new one is shown once. */
export function Keys({ keys, onChange }: { readonly keys: readonly TeamKey[]; readonly onChange: () => void }) {
  const [dialog, ask] = useChange(onChange)
  const [made, setMade] = useState<string>()
  const { keyPrefix } = useStore(session)
  const utc = useUtc()
  const live = keys.filter(({ revokedAt }) => revokedAt === null)
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null)
  const isFull = live.length >= LIVE_MAX
  const make = (title: string, text: string, revokeOld: boolean): void =>
    ask({
      title,
      action: revokeOld ? title : 'Make a key',
      isDanger: revokeOld,
      method: 'POST',
      path: '/api/team/keys',
      body: { revokeOld },
      text,
      done: async ({ key }: NewKey) => {
        setMade(key)
        heldKey.set(key)
        // The session belongs to a key; the new one carries it on where the old one has ended.
        if (revokeOld) await signIn(key)
      },
    })
  const revoke = (prefix: string): void =>
    ask({
      title: `Revoke the key ${prefix}…`,
      action: 'Revoke it',
      isDanger: true,
      method: 'DELETE',
      path: `/api/team/keys/${encodeURIComponent(prefix)}`,
      text: [
        'Clients that still have it are refused from now on, for good.',
        prefix === keyPrefix && ' You signed in with it, so your session ends as well.',
      ],
      done: `The key ${prefix}… was revoked.`,
    })
  const row = ({ prefix, createdAt, revokedAt }: TeamKey) => (
    <tr key={prefix + createdAt}>
      <td class="mono">
        {prefix}… {prefix === keyPrefix && revokedAt === null && <span class="badge">you signed in with it</span>}
      </td>
      <td class="time" title={createdAt}>
        {dayText(createdAt, utc)}
      </td>
      <td class="num">
        {revokedAt === null && live.length > 1 ? (
          <button
            type="button"
            class="button danger small"
            aria-label={`Revoke ${prefix}`}
            onClick={() => revoke(prefix)}
          >
            Revoke
          </button>
        ) : (
          <span class={`badge ${revokedAt === null ? 'good' : ''}`}>{revokedAt === null ? 'live' : 'revoked'}</span>
        )}
      </td>
    </tr>
  )
  return (
    <section class="panel">
      <div class="head">
        <h2 class="grow">Keys</h2>
        <button
          type="button"
          class="button"
          disabled={isFull}
          title={isFull ? 'Two keys are live, the most there may be.' : undefined}
          onClick={() =>
            make('New key', 'The present key stays live until you revoke it, so that clients can change over.', false)
          }
        >
          New key
        </button>
        <button
          type="button"
          class="button danger"
          onClick={() =>
            make(
              'Replace all keys',
              'All present keys end at once, and every client is refused until it has the new one.',
              true,
            )
          }
        >
          Replace all
        </button>
      </div>
      <table class="table">
        <thead>
          <tr>
            <th>Begins with</th>
            <th>Issued</th>
            <th>
              <span class="hidden">State</span>
            </th>
          </tr>
        </thead>
        <tbody>{live.map(row)}</tbody>
      </table>
      {revoked.length > 0 && (
        <details class="revoked">
          <summary class="muted">{revoked.length} revoked</summary>
          <table class="table">
            <tbody>{revoked.map(row)}</tbody>
          </table>
        </details>
      )}
      {dialog}
      {made !== undefined && <Made made={made} onClose={() => setMade(undefined)} />}
    </section>
  )
}

/** The only time that a key is seen. */
const Made = ({ made, onClose }: { readonly made: string; readonly onClose: () => void }) => (
  <Dialog title="Your new key">
    <div class="stack">
      <p>It is shown this once and kept nowhere. Copy it to where your clients read it.</p>
      <div class="bar">
        <code class="code grow wrap">{made}</code>
        <Copy text={made} label="Copy the key" named class="button primary" />
      </div>
      <p class="hint">Until this tab is loaded anew, the snippets that you copy here have it in them.</p>
      <div>
        <button type="button" class="button" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </div>
  </Dialog>
)
