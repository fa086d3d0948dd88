import { useState } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { visible } from '../../flow-layout/format.ts'
import { SELECTING } from '../../schemas/list-parameters.ts'
import type { TeamSettings } from '../../schemas/team.ts'
import type { Condition, MadeWatch, Watch } from '../../schemas/watches.ts'
import { send } from '../api/client.ts'
import { useFetch } from '../api/use-fetch.ts'
import { problemText } from '../team/texts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { BY, FLOW_STATES, FORMATS, LISTS, paramsText, TYPES, WATCHES } from './texts.ts'

/** A watch being edited, or the initial values of a new one. */
export interface WatchDraft {
  readonly watch?: Watch
  readonly list?: string
  readonly params?: Readonly<Record<string, string>>
}

/** The initial values of a new watch, from the parameters of an address. */
export const draftOf = (address: Readonly<Record<string, string>>): WatchDraft => ({
  list: LISTS.find(([list]) => list === address['new'])?.[0] ?? 'event-logs',
  params: Object.fromEntries(SELECTING.flatMap((name) => (address[name] ? [[name, address[name]]] : []))),
})

/** Defaults of a new watch. */
const USUAL = { more: 10, minutes: 5 }

const numberText = (before: Condition | undefined, name: 'more' | 'minutes'): string =>
  String(before?.type === 'count' ? before[name] : USUAL[name])

interface WatchDialogProps {
  readonly draft: WatchDraft
  readonly onClose: () => void
  /** Receives the secret if one was created. */
  readonly onSaved: (secret: string | null) => void
}

/** The form of a watch; shows in place why it was refused. */
export function WatchDialog({ draft, onClose, onSaved }: WatchDialogProps) {
  const { watch } = draft
  const before = watch?.condition
  const [type, setType] = useState<Condition['type']>(before?.type ?? 'count')
  const given = before !== undefined && 'params' in before ? before.params : (draft.params ?? {})
  const [{ q = '', level = '', ...others }, setParams] = useState(given)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string): string => String(form.get(name) ?? '')
    const params = Object.fromEntries(
      Object.entries({ ...others, q: text('q'), level: text('level') }).filter(([, value]) => value !== ''),
    )
    const conditions: Readonly<Record<Condition['type'], object>> = {
      count: { list: text('list'), params, more: Number(text('more')), minutes: Number(text('minutes')) },
      flows: { state: text('state'), event: text('event') || null },
      newGroup: { by: text('by'), params },
    }
    const webhook = { url: text('url'), format: text('format'), ...(form.has('secret') && { secret: null }) }
    const body = { name: text('name'), condition: { type, ...conditions[type] }, webhook }
    setBusy(true)
    const answer = watch
      ? await send<MadeWatch>('PATCH', `/api/team/watches/${watch.id}`, body)
      : await send<MadeWatch>('POST', '/api/team/watches', body)
    setBusy(false)
    if (!answer.ok) return setProblem(problemText(answer.problem))
    onSaved(answer.data.secret)
  }
  const choice = (name: string, label: string, options: Options, value?: string) => (
    <Choice name={name} label={label} options={options} value={value} />
  )
  return (
    <Dialog title={watch ? visible(watch.name) : WATCHES.add} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <Input name="name" label={WATCHES.name} value={watch?.name ?? q} required />
        <div class="field">
          <label for="watch-type">{WATCHES.type}</label>
          <select
            id="watch-type"
            class="input"
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value as Condition['type'])}
          >
            {TYPES.map(([each, text]) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        </div>
        {type === 'flows' && <FlowFields before={before} />}
        {type === 'count' && choice('list', WATCHES.list, LISTS, before?.type === 'count' ? before.list : draft.list)}
        {type === 'newGroup' && choice('by', WATCHES.by, BY, before?.type === 'newGroup' ? before.by : undefined)}
        {type !== 'flows' && (
          <>
            <Input name="q" label={WATCHES.search} value={q} hint={WATCHES.searchHint} />
            {choice(
              'level',
              WATCHES.level,
              [['', WATCHES.anyLevel], ...LEVELS.map((one) => [one, `${one} or worse`] as const)],
              level,
            )}
            {Object.keys(others).length > 0 && (
              <div class="bar">
                <span class="grow">
                  {WATCHES.also} <bdi>{visible(paramsText(others))}</bdi>
                </span>
                <button type="button" class="button quiet small" onClick={() => setParams({ q, level })}>
                  {WATCHES.withoutAlso}
                </button>
              </div>
            )}
          </>
        )}
        {type === 'count' && (
          <div class="bar">
            <Input name="more" label={WATCHES.more} value={numberText(before, 'more')} type="number" required />
            <Input
              name="minutes"
              label={WATCHES.minutes}
              value={numberText(before, 'minutes')}
              type="number"
              required
            />
          </div>
        )}
        <Input
          name="url"
          label={WATCHES.url}
          value={watch?.webhook.url ?? ''}
          type="url"
          hint={WATCHES.urlHint}
          required
        />
        {choice('format', WATCHES.format, FORMATS, watch?.webhook.format)}
        {watch && (
          <label class="check">
            <input type="checkbox" name="secret" /> {WATCHES.newSecret}
          </label>
        )}
        <p class="error" role="alert">
          {problem}
        </p>
        <div class="bar">
          <button type="submit" class="button primary" disabled={busy}>
            {watch ? WATCHES.save : WATCHES.create}
          </button>
          <button type="button" class="button quiet" onClick={onClose}>
            {WATCHES.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The fields of a condition on flows. */
function FlowFields({ before }: { readonly before: Condition | undefined }) {
  const { data: team } = useFetch<TeamSettings>('/api/team')
  const { state, event } = before?.type === 'flows' ? before : { state: 'failed', event: null }
  const events = (team?.events ?? []).map(({ identifier, name }) => [identifier, name] as const)
  return (
    <>
      <Choice name="state" label={WATCHES.state} options={FLOW_STATES} value={state} />
      <Choice name="event" label={WATCHES.event} options={[['', WATCHES.anyEvent], ...events]} value={event ?? ''} />
    </>
  )
}

interface InputProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly type?: 'text' | 'number' | 'url'
  readonly hint?: string
  readonly required?: boolean
}

const Input = ({ name, label, value, type = 'text', hint, required }: InputProps) => (
  <div class="field grow">
    <label for={`watch-${name}`}>{label}</label>
    <input
      id={`watch-${name}`}
      name={name}
      class="input"
      type={type}
      min={type === 'number' ? 0 : undefined}
      defaultValue={value}
      required={required ?? false}
      spellcheck={false}
      autocomplete="off"
      aria-describedby={hint && `watch-hint-${name}`}
    />
    {hint && (
      <span id={`watch-hint-${name}`} class="hint">
        {hint}
      </span>
    )}
  </div>
)

type Options = readonly (readonly [value: string, name: string])[]

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly options: Options
  readonly value: string | undefined
}

const Choice = ({ name, label, options, value }: ChoiceProps) => (
  <div class="field">
    <label for={`watch-${name}`}>{label}</label>
    <select id={`watch-${name}`} name={name} class="input">
      {options.map(([each, text]) => (
        <option key={each} value={each} selected={each === value}>
          {visible(text)}
        </option>
      ))}
    </select>
  </div>
)
