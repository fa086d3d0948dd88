import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import type { Result } from '../api/client.ts'
import { session } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useStore } from '../ui/store.ts'

interface FormDialogProps {
  readonly title: string
  readonly confirm: string
  readonly isDanger?: boolean | undefined
  readonly onSubmit: (form: FormData) => Promise<Result<unknown>>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks for what a change needs, and shows in place why it was refused. */
export function FormDialog({ title, confirm, isDanger, onSubmit, onClose, children }: FormDialogProps) {
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const { state } = useStore(session)
  // Whoever has signed in again can try again: that the session was over is no reason any more.
  useEffect(() => setProblem(''), [state])
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    const answer = await onSubmit(new FormData(event.currentTarget as HTMLFormElement))
    setBusy(false)
    if (!answer.ok) setProblem(answer.problem.message)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        <p class="error" role="alert">
          {problem}
        </p>
        <div class="bar">
          {/* Not `disabled`, which would take the focus from it. */}
          <button type="submit" class={`button ${isDanger ? 'danger' : 'primary'}`} aria-disabled={busy}>
            {confirm}
          </button>
          <Button label="Cancel" class="quiet" onClick={onClose} />
        </div>
      </form>
    </Dialog>
  )
}

interface SecretDialogProps {
  readonly title: string
  /** The purpose of the secret, and that it is shown once. */
  readonly about: string
  readonly secret: string
  /** The name of the button that copies it. */
  readonly copy: string
  readonly hint?: string
  /** The name of the button that closes the dialog. */
  readonly done: string
  readonly onClose: () => void
}

/** Shows a secret, for the only time. */
export const SecretDialog = ({ title, about, secret, copy, hint, done, onClose }: SecretDialogProps) => (
  <Dialog title={title}>
    <div class="stack">
      <p>{about}</p>
      <div class="bar">
        <code class="code grow wrap">{secret}</code>
        <Copy text={secret} label={copy} named class="button primary" />
      </div>
      {hint && <p class="hint">{hint}</p>}
      <div>
        <Button label={done} onClick={onClose} />
      </div>
    </div>
  </Dialog>
)

interface FormFieldProps {
  readonly name: string
  readonly label: string
  readonly value?: string | null | undefined
  readonly hint?: string | undefined
  /** The values to choose from; if omitted, a text is typed. */
  readonly options?: readonly (readonly [value: string, name: string])[] | undefined
  /** Called when another value is chosen. */
  readonly onChange?: (value: string) => void
  readonly type?: 'text' | 'number' | 'url'
  readonly required?: boolean | undefined
}

export function FormField(props: FormFieldProps) {
  const { name, label, value, hint, options, onChange, type = 'text', required = false } = props
  const shared = { id: `field-${name}`, name, class: 'input' }
  return (
    <div class="field grow">
      <label for={shared.id}>{label}</label>
      {options ? (
        <select {...shared} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
          {options.map(([each, shown]) => (
            <option key={each} value={each} selected={each === value}>
              {visible(shown)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          type={type}
          min={type === 'number' ? 0 : undefined}
          defaultValue={value ?? ''}
          required={required}
          spellcheck={false}
          autocomplete="off"
          aria-describedby={hint && `hint-${name}`}
        />
      )}
      {hint && (
        <span id={`hint-${name}`} class="hint">
          {hint}
        </span>
      )}
    </div>
  )
}
