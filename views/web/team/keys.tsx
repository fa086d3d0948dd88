import { useState } from 'preact/hooks'
import { dayText } from '../lib/times.ts'
import { session, signIn } from '../session/session.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useStore } from '../ui/store.ts'
import { toast } from '../ui/toast.tsx'
import { useUtc } from '../ui/use-utc.ts'
import { ChangeDialog } from './change-dialog.tsx'
import { heldKey } from './send-snippet.tsx'
import type { NewKey, TeamKey } from './types.ts'

const LIVE_MAX = 2

type Asked = { readonly what: 'new' | 'replace' } | { readonly what: 'revoke'; readonly prefix: string }

/** The Team's keys by their first characters; a new one is shown once. */
export function Keys({ keys, onChange }: { readonly keys: readonly TeamKey[]; readonly onChange: () => void }) {
  const [asked, setAsked] = useState<Asked>()
  const [made, setMade] = useState<NewKey>()
  const { keyPrefix } = useStore(session)
  const utc = useUtc()
  const live = keys.filter(({ revokedAt }) => revokedAt === null)
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null)
  const close = (): void => setAsked(undefined)
  const take = async (key: NewKey): Promise<void> => {
    close()
    setMade(key)
    heldKey.set(key.key)
    // The session belongs to a key; the new one carries it on where the old one has ended.
    if (asked?.what === 'replace') await signIn(key.key)
    onChange()
  }
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
            onClick={() => setAsked({ what: 'revoke', prefix })}
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
          disabled={live.length >= LIVE_MAX}
          title={live.length >= LIVE_MAX ? 'Two keys are live, the most there may be: revoke one first.' : undefined}
          onClick={() => setAsked({ what: 'new' })}
        >
          New key
        </button>
        <button type="button" class="button danger" onClick={() => setAsked({ what: 'replace' })}>
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
      {(asked?.what === 'new' || asked?.what === 'replace') && (
        <ChangeDialog<NewKey>
          title={asked.what === 'new' ? 'New key' : 'Replace all keys'}
          action={asked.what === 'new' ? 'Make a key' : 'Replace all keys'}
          isDanger={asked.what === 'replace'}
          method="POST"
          path="/api/team/keys"
          body={() => ({ revokeOld: asked.what === 'replace' })}
          onDone={take}
          onClose={close}
        >
          <p>
            {asked.what === 'new'
              ? 'The present key stays live, so that clients can change over without a refusal. Revoke it when they have.'
              : 'All present keys end at once: every client is refused until it has the new one. For a key that leaked.'}
          </p>
        </ChangeDialog>
      )}
      {asked?.what === 'revoke' && (
        <ChangeDialog
          title={`Revoke the key ${asked.prefix}…`}
          action="Revoke it"
          isDanger
          method="DELETE"
          path={`/api/team/keys/${encodeURIComponent(asked.prefix)}`}
          onDone={() => {
            close()
            toast(`The key ${asked.prefix}… was revoked.`)
            onChange()
          }}
          onClose={close}
        >
          <p>
            Clients that still have it are refused from now on, for good.
            {asked.prefix === keyPrefix && ' You signed in with it, so your session ends as well.'}
          </p>
        </ChangeDialog>
      )}
      {made !== undefined && <Made made={made} onClose={() => setMade(undefined)} />}
    </section>
  )
}

/** The only time that a key is seen. */
const Made = ({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }) => (
  <Dialog title="Your new key">
    <div class="stack">
      <p>It is shown this once and kept nowhere. Copy it to where your clients read it.</p>
      <div class="bar">
        <code class="code grow wrap">{made.key}</code>
        <Copy text={made.key} label="Copy the key" named class="button primary" />
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
