import { useState } from 'preact/hooks'
import { send } from '../api/client.ts'
import { useNow } from '../flow/use-now.ts'
import { plural, visible } from '../lib/format.ts'
import { agoText } from '../lib/times.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Popover } from '../ui/popover.tsx'
import { toast } from '../ui/toast.tsx'
import { ChangeDialog, Field } from './change-dialog.tsx'
import { problemText } from './problem.ts'
import { SendSnippet } from './send-snippet.tsx'
import type { Target } from './snippets.ts'
import type { TeamEvent, TeamProject, TeamSettings, TeamStep } from './types.ts'

/** An Event, a Step or a Project in a row. */
interface Row extends Target {
  readonly of: TeamEvent | TeamStep | TeamProject
  /** Of a Step: its Event, and whether that is archived. */
  readonly event?: string | undefined
  readonly isHeld?: boolean
}

const NAMES = { event: 'Event', step: 'Step', project: 'Project' } as const

const pathOf = ({ kind, id }: Target): string =>
  /^\.{1,2}$/.test(id) ? `/api/team/${kind}s/-?identifier=${id}` : `/api/team/${kind}s/${encodeURIComponent(id)}`

type Asked =
  | { readonly what: 'create'; readonly kind: Target['kind']; readonly event?: string }
  | { readonly what: 'rename' | 'snippet'; readonly row: Row }

export interface OwnedProps {
  readonly settings: TeamSettings
  readonly onChange: () => void
}

/** Events with their Steps, and Steps that stand alone. */
export const Events = ({ settings: { events, steps }, onChange }: OwnedProps) => (
  <Section
    title="Events and Steps"
    makes={['event', 'step']}
    rows={[
      ...events.flatMap((event): Row[] => [
        { kind: 'event', id: event.identifier, of: event },
        ...event.steps.map(
          (step): Row => ({
            kind: 'step',
            id: step.identifier,
            of: step,
            event: event.identifier,
            isHeld: event.archivedAt !== null,
          }),
        ),
      ]),
      ...steps.map((step): Row => ({ kind: 'step', id: step.identifier, of: step })),
    ]}
    empty="An Event is a process of yours, such as an order; Steps are what happens in it. Logs are sent to either."
    onChange={onChange}
  />
)

export const Projects = ({ settings: { projects }, onChange }: OwnedProps) => (
  <Section
    title="Projects"
    makes={['project']}
    rows={projects.map((project): Row => ({ kind: 'project', id: project.id, of: project }))}
    empty="A Project gathers the application logs of one program."
    onChange={onChange}
  />
)

interface SectionProps {
  readonly title: string
  readonly makes: readonly Target['kind'][]
  readonly rows: readonly Row[]
  readonly empty: string
  readonly onChange: () => void
}

function Section({ title, makes, rows, empty, onChange }: SectionProps) {
  const [asked, setAsked] = useState<Asked>()
  const [all, setAll] = useState(false)
  const archived = rows.filter(({ of }) => of.archivedAt !== null).length
  const shown = all ? rows : rows.filter(({ of }) => of.archivedAt === null)
  const close = (): void => setAsked(undefined)
  const done = (text: string): void => {
    close()
    toast(text)
    onChange()
  }
  const archive = async (row: Row, archived: boolean): Promise<void> => {
    const answer = await send('PATCH', pathOf(row), { archived })
    if (answer.ok) done(`${NAMES[row.kind]} ${archived ? 'archived: its logs are refused from now on' : 'restored'}.`)
    else toast(problemText(answer.problem), 'bad')
  }
  return (
    <section class="panel">
      <div class="head">
        <h2 class="grow">{title}</h2>
        {archived > 0 && (
          <button type="button" class="button quiet" onClick={() => setAll(!all)}>
            {all ? 'Hide' : 'Show'} {archived} archived
          </button>
        )}
        {makes.map((kind) => (
          <button key={kind} type="button" class="button" onClick={() => setAsked({ what: 'create', kind })}>
            New {NAMES[kind]}
          </button>
        ))}
      </div>
      {shown.length === 0 ? (
        <p class="body muted">{empty}</p>
      ) : (
        <table class="table owned">
          <thead>
            <tr>
              <th>Name</th>
              <th>Last seen</th>
              <th>
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <OwnedRow key={`${row.kind} ${row.id}`} row={row} onAsk={setAsked} onArchive={archive} />
            ))}
          </tbody>
        </table>
      )}
      {asked?.what === 'create' && <Create {...asked} rows={rows} onDone={done} onClose={close} />}
      {asked?.what === 'rename' && <Rename row={asked.row} onDone={done} onClose={close} />}
      {asked?.what === 'snippet' && (
        <Dialog title={`Send to ${visible(asked.row.of.name)}`} wide onClose={close}>
          <SendSnippet target={asked.row} />
        </Dialog>
      )}
    </section>
  )
}

interface OwnedRowProps {
  readonly row: Row
  readonly onAsk: (asked: Asked) => void
  readonly onArchive: (row: Row, archived: boolean) => void
}

function OwnedRow({ row, onAsk, onArchive }: OwnedRowProps) {
  const { kind, id, of, event, isHeld = false } = row
  const isArchived = of.archivedAt !== null
  return (
    <tr class={isArchived ? 'muted' : undefined}>
      <td class={event === undefined ? undefined : 'of'}>
        <bdi class={kind === 'event' ? 'label' : undefined}>{visible(of.name)}</bdi>{' '}
        {isArchived && <span class="badge">archived</span>}
        <br />
        <bdi class="mono muted">{visible(id)}</bdi> <Copy text={id} label={`Copy ${id}`} />
      </td>
      <td class="nowrap">
        <LastSeen {...of} />
      </td>
      <td class="num nowrap">
        {!isArchived && (
          <button
            type="button"
            class="button small"
            aria-label={`Code that sends to ${of.name}`}
            onClick={() => onAsk({ what: 'snippet', row })}
          >
            Code
          </button>
        )}{' '}
        <Popover label="…" name={`Actions for ${of.name}`} class="button quiet icon small" align="end">
          {(close) => {
            const item = (name: string, run: () => void) => (
              <button
                type="button"
                onClick={() => {
                  close()
                  run()
                }}
              >
                {name}
              </button>
            )
            return (
              <>
                {kind === 'event' &&
                  !isArchived &&
                  item('New Step', () => onAsk({ what: 'create', kind: 'step', event: id }))}
                {item('Rename', () => onAsk({ what: 'rename', row }))}
                {!isHeld && item(isArchived ? 'Restore' : 'Archive', () => onArchive(row, !isArchived))}
              </>
            )
          }}
        </Popover>
      </td>
    </tr>
  )
}

function LastSeen({ lastSeenAt, lastDay }: Row['of']) {
  const now = useNow()
  if (lastDay === null) return <span class="muted">not known</span>
  if (lastDay === 0) return <span class="muted">not in 24 h</span>
  return (
    <span title={`${plural(lastDay, 'log')} within 24 hours; the last one at ${lastSeenAt ?? 'an unknown time'}`}>
      {lastSeenAt === null ? 'in 24 h' : agoText(lastSeenAt, now)}
    </span>
  )
}

interface FormProps {
  readonly onDone: (text: string) => void
  readonly onClose: () => void
}

const Rename = ({ row, onDone, onClose }: FormProps & { readonly row: Row }) => (
  <ChangeDialog
    title={`Rename the ${NAMES[row.kind]}`}
    action="Rename"
    method="PATCH"
    path={pathOf(row)}
    body={(fields) => fields}
    onDone={() => onDone('Renamed, for the logs that are stored too.')}
    onClose={onClose}
  >
    <Field name="name" label="Name" value={row.of.name} required />
  </ChangeDialog>
)

function Create({
  kind,
  event,
  rows,
  onDone,
  onClose,
}: FormProps & { readonly kind: Target['kind']; readonly event?: string; readonly rows: readonly Row[] }) {
  const name = NAMES[kind]
  return (
    <ChangeDialog
      title={`New ${name}`}
      action={`Create the ${name}`}
      method="POST"
      path={`/api/team/${kind}s`}
      body={(fields) => fields}
      onDone={() => onDone(`${name} created.`)}
      onClose={onClose}
    >
      {kind === 'project' ? (
        <Field name="name" label="Name" required />
      ) : (
        <>
          <Field
            name="identifier"
            label="Identifier"
            hint="What clients send; exact, unique over all Teams, and not to be changed later. Such as order-placed."
            required
            mono
          />
          <Field name="name" label="Name" hint="What people read; left empty: the identifier." />
        </>
      )}
      {kind === 'project' && <Field name="id" label="Id" hint="A GUID; left empty: a new one." mono />}
      {kind === 'step' && (
        <div class="field">
          <label for="field-event">Event</label>
          <select id="field-event" name="event" class="input" defaultValue={event ?? ''}>
            <option value="">None, it stands alone</option>
            {rows
              .filter((row) => row.kind === 'event' && row.of.archivedAt === null)
              .map(({ id, of }) => (
                <option key={id} value={id} selected={id === event}>
                  {visible(of.name)}
                </option>
              ))}
          </select>
        </div>
      )}
    </ChangeDialog>
  )
}
