import { useEffect, useRef, useState } from 'preact/hooks'
import type { Problem } from '../api/client.ts'
import { session, signIn, signOut } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useStore } from '../ui/store.ts'
import { Banner } from './banner.tsx'
import { Brand } from './header.tsx'

export const SignInPage = () => (
  <>
    <Banner />
    <main class="gate">
      <div class="panel card">
        <h1 class="brand">
          <Brand />
        </h1>
        <p class="muted">Sign in with a key of your Team to see its logs and flows.</p>
        <SignInForm />
        <p class="hint">
          The first start of the embedded mode prints one; an operator makes more with{' '}
          <code>sluice registry rotate-key TEAM</code>.
        </p>
      </div>
    </main>
  </>
)

/** Shown over the current page, so that nothing on it is lost. */
export function SignInDialog() {
  const { team } = useStore(session)
  return (
    <Dialog title="Your session is over">
      <div class="stack">
        <p class="muted">
          Sign in again as <b class="isolate">{team?.name}</b> to go on where you were. Nothing on the page is lost.
        </p>
        <SignInForm />
        <Button label="Sign out" class="quiet" onClick={signOut} />
      </div>
    </Dialog>
  )
}

function SignInForm() {
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<Problem>()
  const [busy, setBusy] = useState(false)
  useEffect(() => input.current?.focus(), [])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const apiKey = input.current?.value.trim() ?? ''
    if (apiKey === '') return input.current?.focus()
    setBusy(true)
    setProblem(await signIn(apiKey))
    setBusy(false)
    input.current?.select()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <div class="field">
        <label for="api-key">Team key</label>
        <input
          ref={input}
          id="api-key"
          class="input mono"
          type="password"
          name="apiKey"
          autocomplete="current-password"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby="api-key-problem"
          onPaste={({ currentTarget }) => setTimeout(() => currentTarget.form?.requestSubmit())}
        />
        <span id="api-key-problem" class="error" role="alert">
          {problem?.message}
        </span>
      </div>
      <button type="submit" class="button primary" disabled={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}
