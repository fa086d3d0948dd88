import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { send } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { toast } from '../ui/toast.tsx'
import { problemText } from './problem.ts'

/** A change of what the Team owns, asked for before it is made. */
export interface Change {
  readonly title: string
  /** The name of the button that makes it; else it is the title. */
  readonly action?: string
  readonly isDanger?: boolean
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What the body says besides the fields. */
  readonly body?: object
  /** Those left empty are left out. */
  readonly fields?: readonly FieldProps[]
  readonly text?: ComponentChildren
  /** What is said then, or done with the answer. */
  readonly done: string | ((data: never) => unknown)
}

/** A dialog for changes, and what opens it; `onChange` is called after each. */
export function useChange(onChange: () => void): readonly [ComponentChildren, (change: Change) => void] {
  const [asked, ask] = useState<Change>()
  const close = (): void => ask(undefined)
  return [asked && <ChangeDialog {...asked} onChange={onChange} onClose={close} />, ask]
}

interface ChangeDialogProps extends Change {
  readonly onChange: () => void
  readonly onClose: () => void
}

/** Says in place why a change was refused. */
function ChangeDialog(props: ChangeDialogProps) {
  const { title, action = title, isDanger, method, path, body, fields = [], text, done, onChange, onClose } = props
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget as HTMLFormElement)].filter(([, value]) => value !== '')
    const whole = { ...body, ...Object.fromEntries(given) }
    setBusy(true)
    const answer = await send<never>(method, path, method === 'DELETE' ? undefined : whole)
    setBusy(false)
    if (!answer.ok) return setProblem(problemText(answer.problem))
    onClose()
    if (typeof done === 'string') toast(done)
    else await done(answer.data)
    onChange()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {text && <p>{text}</p>}
        {fields.map((field) => (
          <Field key={field.name} {...field} />
        ))}
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
  readonly value?: string | undefined
  readonly required?: boolean
  /** What can be chosen; without it, one types. */
  readonly options?: readonly (readonly [value: string, name: string])[]
}

const Field = ({ name, label, hint, value = '', required, options }: FieldProps) => {
  const shared = { id: `field-${name}`, name, class: 'input' }
  return (
    <div class="field">
      <label for={shared.id}>{label}</label>
      {options ? (
        <select {...shared}>
          {options.map(([each, shown]) => (
            <option key={each} value={each} selected={each === value}>
              {shown}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          defaultValue={value}
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
