import { useState } from 'preact/hooks'
import { send } from '../api/client.ts'
import { useNow } from '../flow/use-now.ts'
import { plural, visible } from '../lib/format.ts'
import { agoText } from '../lib/times.ts'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Popover } from '../ui/popover.tsx'
import { toast } from '../ui/toast.tsx'
import { type Change, useChange } from './change-dialog.tsx'
import { problemText } from './problem.ts'
import { SendSnippet } from './send-snippet.tsx'
import { pathOf, type Target, type TeamEvent, type TeamProject, type TeamSettings, type TeamStep } from './types.ts'

/** An Event, a Step or a Project in a row. */
interface Row extends Target {
  readonly of: TeamEvent | TeamStep | TeamProject
  /** Of a Step: its Event. */
  readonly event?: TeamEvent | undefined
}

const rowOf = (kind: Row['kind'], of: Row['of'], event?: TeamEvent): Row => ({
  kind,
  id: 'id' in of ? of.id : of.identifier,
  of,
  event,
})

const NAMES = { event: 'Event', step: 'Step', project: 'Project' } as const

const isInUse = ({ of }: Row): boolean => of.archivedAt === null

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
      ...events.flatMap((event) => [rowOf('event', event), ...event.steps.map((step) => rowOf('step', step, event))]),
      ...steps.map((step) => rowOf('step', step)),
    ]}
    empty="An Event is a process, such as an order; Steps are what happens in it. Logs are sent to either."
    onChange={onChange}
  />
)

export const Projects = ({ settings: { projects }, onChange }: OwnedProps) => (
  <Section
    title="Projects"
    makes={['project']}
    rows={projects.map((project) => rowOf('project', project))}
    empty="A Project gathers the application logs of one program."
    onChange={onChange}
  />
)

interface SectionProps {
  readonly title: string
  readonly makes: readonly Row['kind'][]
  readonly rows: readonly Row[]
  readonly empty: string
  readonly onChange: () => void
}

function Section({ title, makes, rows, empty, onChange }: SectionProps) {
  const [dialog, ask] = useChange(onChange)
  const [sendTo, setSendTo] = useState<Row>()
  const [all, setAll] = useState(false)
  const inUse = rows.filter(isInUse)
  const archived = rows.length - inUse.length
  const shown = all ? rows : inUse
  const actions: Actions = {
    send: setSendTo,
    create: (kind, event) => ask(creation(kind, event, inUse)),
    rename: (row) =>
      ask({
        title: `Rename the ${NAMES[row.kind]}`,
        action: 'Rename',
        method: 'PATCH',
        path: pathOf(row),
        fields: [{ name: 'name', label: 'Name', value: row.of.name, required: true }],
        done: 'Renamed, for the logs that are stored too.',
      }),
    archive: async (row, archived) => {
      const answer = await send('PATCH', pathOf(row), { archived })
      if (!answer.ok) return toast(problemText(answer.problem), 'bad')
      toast(`${NAMES[row.kind]} ${archived ? 'archived: its logs are refused from now on' : 'restored'}.`)
      onChange()
    },
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
          <button key={kind} type="button" class="button" onClick={() => actions.create(kind)}>
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
              <OwnedRow key={`${row.kind} ${row.id}`} row={row} actions={actions} />
            ))}
          </tbody>
        </table>
      )}
      {dialog}
      {sendTo && (
        <Dialog title={`Send to ${visible(sendTo.of.name)}`} wide onClose={() => setSendTo(undefined)}>
          <SendSnippet target={sendTo} />
        </Dialog>
      )}
    </section>
  )
}

/** What is asked for a new one; a Step can belong to an Event that is in use. */
function creation(kind: Row['kind'], event: string | undefined, inUse: readonly Row[]): Change {
  const title = `New ${NAMES[kind]}`
  const identifier = {
    name: 'identifier',
    label: 'Identifier',
    hint: 'What clients send, such as order-placed; it cannot be changed later.',
    required: true,
  }
  const events = inUse.flatMap((row) => (row.kind === 'event' ? [[row.id, visible(row.of.name)] as const] : []))
  const ofEvent = {
    name: 'event',
    label: 'Event',
    value: event,
    options: [['', 'None, it stands alone'] as const, ...events],
  }
  return {
    title,
    action: `Create the ${NAMES[kind]}`,
    method: 'POST',
    path: `/api/team/${kind}s`,
    fields:
      kind === 'project'
        ? [
            { name: 'name', label: 'Name', required: true },
            { name: 'id', label: 'Id', hint: 'A GUID; left empty: a new one.' },
          ]
        : [
            identifier,
            { name: 'name', label: 'Name', hint: 'Left empty: the identifier.' },
            ...(kind === 'step' ? [ofEvent] : []),
          ],
    done: `${NAMES[kind]} created.`,
  }
}

interface Actions {
  readonly send: (row: Row) => void
  readonly create: (kind: Row['kind'], event?: string) => void
  readonly rename: (row: Row) => void
  readonly archive: (row: Row, archived: boolean) => void
}

function OwnedRow({ row, actions }: { readonly row: Row; readonly actions: Actions }) {
  const { kind, id, of, event } = row
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
            onClick={() => actions.send(row)}
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
                {kind === 'event' && !isArchived && item('New Step', () => actions.create('step', id))}
                {item('Rename', () => actions.rename(row))}
                {!event?.archivedAt &&
                  item(isArchived ? 'Restore' : 'Archive', () => actions.archive(row, !isArchived))}
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
