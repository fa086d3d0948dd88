import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import type { Action, Field, Line, List, NewKey } from '../../schemas/team.ts'
import { type Result, send } from '../api/client.ts'
import { heldKey, signIn } from '../api/session.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { toast } from '../ui/toast.tsx'
import { actionTexts, fieldTexts, problemText } from './texts.ts'

/** A change, and the line that it applies to. */
export type Change = Action & { readonly line?: Line }

/** Performs a change, after asking for what it needs. */
export type Ask = (change: Change) => void

export const textsOf = ({ kind, line }: Change) => actionTexts(kind, line?.id)

/** The open dialog of a list, if any, and the function that starts a change; `onChange` is called after each change. */
export function useChange({ options }: List, onChange: () => void): readonly [ComponentChildren, Ask] {
  const [asked, setAsked] = useState<Change>()
  const [made, setMade] = useState<string>()
  const make = async (action: Change, given?: object): Promise<Result<Partial<NewKey> | null>> => {
    const { method, line, path = line?.path ?? '', body } = action
    const answer = await send<Partial<NewKey> | null>(
      method,
      path,
      method === 'DELETE' ? undefined : { ...body, ...given },
    )
    if (!answer.ok) return answer
    setAsked(undefined)
    const key = answer.data?.key
    if (key) {
      setMade(key)
      heldKey.set(key)
      // The session belongs to a key; signing in with the new one keeps it alive if the old one was revoked.
      if (body?.['revokeOld']) await signIn(key)
    } else toast(textsOf(action).done)
    onChange()
    return answer
  }
  const ask = async (action: Change): Promise<void> => {
    if (textsOf(action).text || action.fields) return setAsked(action)
    const answer = await make(action)
    if (!answer.ok) toast(problemText(answer.problem), 'bad')
  }
  return [
    <>
      {asked && <ChangeDialog action={asked} options={options} make={make} onClose={() => setAsked(undefined)} />}
      {made && <Made made={made} onClose={() => setMade(undefined)} />}
    </>,
    (action) => void ask(action),
  ]
}

interface ChangeDialogProps extends Pick<List, 'options'> {
  readonly action: Change
  readonly make: (action: Change, given: object) => Promise<Result<unknown>>
  readonly onClose: () => void
}

/** Asks for what a change needs, and shows in place why it was refused. */
function ChangeDialog({ action, options, make, onClose }: ChangeDialogProps) {
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget as HTMLFormElement)].filter(([, value]) => value !== '')
    setBusy(true)
    const answer = await make(action, Object.fromEntries(given))
    setBusy(false)
    if (!answer.ok) setProblem(problemText(answer.problem))
  }
  const { title, text, confirm } = textsOf(action)
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {text && <p>{text}</p>}
        {action.fields?.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={field.value ?? (field.from && action.line?.[field.from])}
            options={options[field.name]}
          />
        ))}
        <p class="error" role="alert">
          {problem}
        </p>
        <div class="bar">
          <button type="submit" class={`button ${action.isDanger ? 'danger' : 'primary'}`} disabled={busy}>
            {confirm}
          </button>
          <button type="button" class="button quiet" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface FieldInputProps {
  readonly field: Field
  readonly value: string | null | undefined
  readonly options: List['options'][string] | undefined
}

function FieldInput({ field, value, options }: FieldInputProps) {
  const { name, required } = field
  const { label, hint, none } = fieldTexts(field)
  const shared = { id: `field-${name}`, name, class: 'input' }
  return (
    <div class="field">
      <label for={shared.id}>{label}</label>
      {options ? (
        <select {...shared}>
          {[['', none ?? ''] as const, ...options].map(([each, shown]) => (
            <option key={each} value={each} selected={each === value}>
              {visible(shown)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
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

/** Shows a new key, for the only time. */
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
