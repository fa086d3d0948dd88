import { useState } from 'preact/hooks'
import { LEVELS, parseLevel } from '../../../shared/contract/levels.ts'
import { visible } from '../../flow-layout/format.ts'
import { SELECTING } from '../../schemas/list-parameters.ts'
import type { TeamSettings } from '../../schemas/team.ts'
import type { Condition, MadeWatch, Watch } from '../../schemas/watches.ts'
import { type Result, send } from '../api/client.ts'
import type { NameOf } from '../api/names.ts'
import { useFetch } from '../api/use-fetch.ts'
import { isGroup } from '../logs/texts.ts'
import { FormDialog, FormField } from '../team/form.tsx'
import { Button } from '../ui/button.tsx'
import { BY, FLOW_STATES, FORMATS, LISTS, paramsText, TYPES, WATCHES } from './texts.ts'
import { useGroupNames } from './use-group-names.ts'

/** A watch being edited, or the initial values of a new one. */
export interface WatchDraft {
  readonly watch?: Watch
  readonly list?: string
  readonly name?: string | undefined
  readonly params?: Readonly<Record<string, string>>
}

/** The initial values of a new watch, from the parameters of an address. */
export const draftOf = (address: Readonly<Record<string, string>>): WatchDraft => ({
  name: address['name'],
  list: LISTS.find(([list]) => list === address['new'])?.[0] ?? 'event-logs',
  params: Object.fromEntries(SELECTING.flatMap((name) => (address[name] ? [[name, address[name]]] : []))),
})

/** The numbers of a new watch: of one kind of message or exception, each log counts. */
const usual = (params: WatchDraft['params'] = {}) => ({ more: Object.keys(params).some(isGroup) ? 0 : 10, minutes: 5 })

interface WatchDialogProps {
  readonly draft: WatchDraft
  readonly nameOf: NameOf
  readonly onClose: () => void
  /** Receives the secret if one was created. */
  readonly onSaved: (secret: string | null) => void
}

export function WatchDialog({ draft, nameOf, onClose, onSaved }: WatchDialogProps) {
  const { watch } = draft
  const before = watch?.condition
  const [type, setType] = useState<Condition['type']>(before?.type ?? 'count')
  const given = before !== undefined && 'params' in before ? before.params : (draft.params ?? {})
  const [{ q = '', level = '', ...others }, setParams] = useState(given)
  const names = useGroupNames(given, nameOf)
  const numbers = before?.type === 'count' ? before : usual(draft.params)

  const submit = async (form: FormData): Promise<Result<MadeWatch>> => {
    const text = (name: string): string => String(form.get(name) ?? '')
    const params = Object.fromEntries(
      Object.entries({ q: text('q'), level: text('level'), ...others }).filter(([, value]) => value !== ''),
    )
    const conditions: Readonly<Record<Condition['type'], object>> = {
      count: { list: text('list'), params, more: Number(text('more')), minutes: Number(text('minutes')) },
      flows: { state: text('state'), event: text('event') || null },
      newGroup: { by: text('by'), params },
    }
    const webhook = { url: text('url'), format: text('format'), ...(form.has('secret') && { secret: null }) }
    const body = { name: text('name'), condition: { type, ...conditions[type] }, webhook }
    const answer = watch
      ? await send<MadeWatch>('PATCH', `/api/team/watches/${watch.id}`, body)
      : await send<MadeWatch>('POST', '/api/team/watches', body)
    if (answer.ok) onSaved(answer.data.secret)
    return answer
  }
  return (
    <FormDialog
      title={watch ? visible(watch.name) : WATCHES.add}
      confirm={watch ? WATCHES.save : WATCHES.create}
      onSubmit={submit}
      onClose={onClose}
    >
      <FormField name="name" label={WATCHES.name} value={watch?.name ?? draft.name ?? q} required />
      <FormField
        name="type"
        label={WATCHES.type}
        value={type}
        options={TYPES}
        onChange={(chosen) => setType(chosen as Condition['type'])}
      />
      {type === 'flows' && <FlowFields before={before} />}
      {type === 'count' && (
        <FormField
          name="list"
          label={WATCHES.list}
          value={before?.type === 'count' ? before.list : draft.list}
          options={LISTS}
        />
      )}
      {type === 'newGroup' && (
        <FormField
          name="by"
          label={WATCHES.by}
          value={before?.type === 'newGroup' ? before.by : undefined}
          options={BY}
        />
      )}
      {/* Fields of another type are out of sight, and keep what was typed in them. */}
      <fieldset class="stack" disabled={type === 'flows'}>
        <FormField name="q" label={WATCHES.search} value={q} hint={WATCHES.searchHint} />
        <FormField
          name="level"
          label={WATCHES.level}
          value={parseLevel(level)}
          options={[['', WATCHES.anyLevel], ...LEVELS.map((one) => [one, `${one} or worse`] as const)]}
        />
        {Object.keys(others).length > 0 && (
          <div class="bar">
            <span class="grow">
              {WATCHES.also} <bdi>{visible(paramsText(others, names))}</bdi>
            </span>
            <Button label={WATCHES.withoutAlso} class="quiet small" onClick={() => setParams({ q, level })} />
          </div>
        )}
      </fieldset>
      <fieldset class="bar" disabled={type !== 'count'}>
        <FormField name="more" label={WATCHES.more} value={String(numbers.more)} type="number" required />
        <FormField name="minutes" label={WATCHES.minutes} value={String(numbers.minutes)} type="number" required />
      </fieldset>
      <FormField name="url" label={WATCHES.url} value={watch?.webhook.url} type="url" hint={WATCHES.urlHint} required />
      <FormField name="format" label={WATCHES.format} value={watch?.webhook.format} options={FORMATS} />
      {watch && (
        <label class="check">
          <input type="checkbox" name="secret" /> {WATCHES.newSecret}
        </label>
      )}
    </FormDialog>
  )
}

function FlowFields({ before }: { readonly before: Condition | undefined }) {
  const { data: team } = useFetch<TeamSettings>('/api/team')
  const { state, event } = before?.type === 'flows' ? before : { state: 'failed', event: null }
  const events = (team?.events ?? []).map(({ identifier, name }) => [identifier, name] as const)
  // The Event stays the chosen one while the others are not known, and where it is none of them.
  const chosen = event === null || events.some(([identifier]) => identifier === event) ? [] : [[event, event] as const]
  return (
    <>
      <FormField name="state" label={WATCHES.state} options={FLOW_STATES} value={state} />
      <FormField
        name="event"
        label={WATCHES.event}
        options={[['', WATCHES.anyEvent], ...chosen, ...events]}
        value={event ?? ''}
      />
    </>
  )
}
