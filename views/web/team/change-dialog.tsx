import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Action, Line, List, NewKey } from '../../schemas/team.ts'
import { type Result, send } from '../api/client.ts'
import { heldKey, signIn } from '../api/session.ts'
import { toast } from '../ui/toast.tsx'
import { FormDialog, FormField, SecretDialog } from './form.tsx'
import { actionTexts, fieldTexts, NEW_KEY } from './texts.ts'

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
    if (!answer.ok) toast(answer.problem.message, 'bad')
  }
  return [
    <>
      {asked && <ChangeDialog action={asked} options={options} make={make} onClose={() => setAsked(undefined)} />}
      {made && <SecretDialog {...NEW_KEY} secret={made} onClose={() => setMade(undefined)} />}
    </>,
    (action) => void ask(action),
  ]
}

interface ChangeDialogProps extends Pick<List, 'options'> {
  readonly action: Change
  readonly make: (action: Change, given: object) => Promise<Result<unknown>>
  readonly onClose: () => void
}

function ChangeDialog({ action, options, make, onClose }: ChangeDialogProps) {
  const { title, text, confirm } = textsOf(action)
  const submit = (form: FormData) => make(action, Object.fromEntries([...form].filter(([, value]) => value !== '')))
  return (
    <FormDialog title={title} confirm={confirm} isDanger={action.isDanger} onSubmit={submit} onClose={onClose}>
      {text && <p>{text}</p>}
      {action.fields?.map((field) => {
        const { name, required, value, from } = field
        const { label, hint, none = '' } = fieldTexts(field)
        const known = options[name]
        return (
          <FormField
            key={name}
            name={name}
            label={label}
            hint={hint}
            value={value ?? (from && action.line?.[from])}
            options={known && [['', none], ...known]}
            required={required}
          />
        )
      })}
    </FormDialog>
  )
}
