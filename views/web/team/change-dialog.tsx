import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { send } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { problemText } from './problem.ts'

export interface ChangeDialogProps<Data> {
  readonly title: string
  /** The name of the button that does it. */
  readonly action: string
  readonly isDanger?: boolean
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The body of the request, from the fields of the form; empty ones are left out. */
  readonly body?: (fields: Readonly<Record<string, string>>) => object
  readonly onDone: (data: Data) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks before something is changed, with the fields that it takes; says in place why it was refused. */
export function ChangeDialog<Data>(props: ChangeDialogProps<Data>) {
  const { title, action, isDanger = false, method, path, body, onDone, onClose, children } = props
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget as HTMLFormElement)].filter(([, value]) => value !== '')
    setBusy(true)
    const answer = await send<Data>(method, path, body?.(Object.fromEntries(given) as Record<string, string>))
    setBusy(false)
    if (answer.ok) onDone(answer.data)
    else setProblem(problemText(answer.problem))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {children}
        <p class="error" role="alert">
          {problem}
        </p>
        <div class="bar">
          <button type="submit" class={`button ${isDanger ? 'danger' : 'primary'}`} disabled={busy}>
            {action}
          </button>
          <button type="button" class="button quiet" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export interface FieldProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly value?: string
  readonly required?: boolean
  readonly mono?: boolean
  readonly type?: string
}

export const Field = ({ name, label, hint, value, required, mono, type = 'text' }: FieldProps) => (
  <div class="field">
    <label for={`field-${name}`}>{label}</label>
    <input
      id={`field-${name}`}
      name={name}
      type={type}
      class={mono ? 'input mono' : 'input'}
      defaultValue={value ?? ''}
      required={required}
      spellcheck={false}
      autocomplete="off"
      aria-describedby={hint === undefined ? undefined : `hint-${name}`}
    />
    {hint !== undefined && (
      <span id={`hint-${name}`} class="hint">
        {hint}
      </span>
    )}
  </div>
)
