// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { visible } from '../../flow-layout/format.ts'
import { pairsOf, valueText } from '../../flow-layout/payload.ts'
import { clockText } from '../../flow-layout/times.ts'
import type { Entry } from '../../schemas/answers.ts'
import { get } from '../api/client.ts'
import type { Sought } from '../lib/found.ts'
import { Icon } from '../ui/button.tsx'
import { LevelTag } from '../ui/level.tsx'
import { Marked } from '../ui/log-text.tsx'
import type { Column } from './columns.ts'
import { EntryActions } from './entry-actions.tsx'
import { EntryFields } from './entry-fields.tsx'
import { type Excerpt, excerptOf, lineOf, PREVIEW } from './excerpt.ts'
import { eventTag, hueOf, sourceOf, thrownText } from './facts.ts'
import { entryPath, flowHref } from './links.ts'
import { useWhole } from './use-entry.ts'

/** The search that found the rows. */
export interface RowSearch {
  /** The matches, which are marked; see `useFound`. */
  readonly found: RegExp | undefined
  readonly sought: readonly Sought[]
  /** How many characters of its text a row has room for. */
  readonly room: number
}

interface LogRowProps {
  readonly entry: Entry
  /** Its position among all rows, including the head. */
  readonly index: number
  readonly utc: boolean
  readonly expanded: boolean
  /** Whether it is open beside the list. */
  readonly open: boolean
  /** Whether keyboard focus enters the list at this row. */
  readonly current: boolean
  readonly columns: readonly Column[]
  readonly search: RowSearch
}

/** A payload on one line; a JSON object is shown as `order=4711 outcome=declined`. */
export function Payload({ text, found }: { readonly text: string; readonly found?: RegExp | undefined }) {
  const pairs = pairsOf(text)
  if (pairs === undefined) return <Preview text={text} found={found} />
  return (
    <>
      {pairs.map(({ path, text: value }, index) => (
        <bdi key={index}>
          {index > 0 && ' '}
          <span class="muted">
            <Marked text={path} found={found} />=
          </span>
          <Marked text={valueText(value.slice(0, PREVIEW))} found={found} />
        </bdi>
      ))}
    </>
  )
}

const Preview = ({ text, found }: { readonly text: string; readonly found: RegExp | undefined }) => (
  <bdi>
    <Marked text={text.slice(0, PREVIEW)} found={found} />
  </bdi>
)

interface WithExcerptProps {
  readonly excerpt: Excerpt | undefined
  readonly found: RegExp | undefined
  /** The text of the row. */
  readonly children: ComponentChildren
}

/** The text of a row, and beside it what a search found in the entry beyond it. */
export const WithExcerpt = ({ excerpt, found, children }: WithExcerptProps): ComponentChildren =>
  excerpt === undefined ? (
    children
  ) : (
    <span class="with-excerpt">
      <span class="cut">{children}</span>{' '}
      <bdi class="cut mono excerpt">
        <span class="muted">
          <Marked text={excerpt.name} found={excerpt.name.endsWith('=') ? found : undefined} />
        </span>
        <Marked text={excerpt.text} found={found} />
      </bdi>
    </span>
  )

/** The cells of the current row that a screen reader says with its time, as one walks from row to row. */
const SAID = 'said-lv said-text'
const saidId = (look: Column['look'], { current }: LogRowProps) => (current ? `said-${look}` : undefined)

/** A row of the list. The table handles its clicks, so that drawing many rows creates no closures. */
export class LogRow extends Component<LogRowProps> {
  override shouldComponentUpdate(next: LogRowProps): boolean {
    return (Object.keys(next) as (keyof LogRowProps)[]).some((name) => next[name] !== this.props[name])
  }

  override render({ entry, index, utc, expanded, open, current, columns }: LogRowProps) {
    const { id, timestamp, level } = entry
    return (
      <tr
        role="row"
        class={`log is-${level.toLowerCase()} ${open ? 'open' : ''} ${expanded ? 'expanded' : ''}`}
        data-id={id}
        aria-rowindex={index}
      >
        <td role="cell" class="at" title={timestamp}>
          <button
            type="button"
            class="time"
            aria-expanded={expanded}
            aria-describedby={current ? SAID : undefined}
            tabIndex={current ? 0 : -1}
          >
            <Icon name={expanded ? 'down' : 'right'} />
            {clockText(timestamp, utc)}
          </button>
        </td>
        {columns.map((column) => cellOf(column, this.props))}
      </tr>
    )
  }
}

const excerptIn = (entry: Entry, { utc, columns, search: { sought, room } }: LogRowProps): Excerpt | undefined =>
  sought.length === 0
    ? undefined
    : excerptOf(entry, sought, room, [lineOf(entry).slice(0, room), ...columns.map((one) => one.read(entry, utc))])

interface FurtherDownProps {
  readonly row: LogRowProps
  /** Says that something was found. */
  readonly excerpt: Excerpt
  readonly text: ComponentChildren
}

/** Ends with the last read of a row's whole entry: one at a time, as a hundred rows would take all reads that the Team may have. */
let reads: Promise<void> = Promise.resolve()

/** The text of a row whose entry has what was found beyond the beginning that a list has: it is read as a whole. */
function FurtherDown({ row, excerpt, text }: FurtherDownProps) {
  const { entry } = row
  const [whole, setWhole] = useState(entry)
  useEffect(() => {
    const controller = new AbortController()
    reads = reads.then(async () => {
      if (controller.signal.aborted) return
      const result = await get<Entry>(entryPath(entry), {}, controller.signal)
      if (result.ok) setWhole(result.data)
    })
    return () => controller.abort()
  }, [entry.id])
  return (
    <WithExcerpt excerpt={excerptIn(whole, row) ?? excerpt} found={row.search.found}>
      {text}
    </WithExcerpt>
  )
}

/** The cell of a column; a plain function instead of a component, as a list draws thousands. */
function cellOf({ name, label, look, read }: Column, row: LogRowProps) {
  const { entry, utc, current, search } = row
  const { found } = search
  if (look === 'lv')
    return (
      <td role="cell" class={look} id={saidId(look, row)} key={name}>
        <LevelTag level={entry.level} />
      </td>
    )
  if (look === 'text') {
    const excerpt = excerptIn(entry, row)
    const text = textOf(entry, found)
    return (
      <td role="cell" class={look} id={saidId(look, row)} key={name}>
        {excerpt?.text === '' ? (
          <FurtherDown row={row} excerpt={excerpt} text={text} />
        ) : (
          <WithExcerpt excerpt={excerpt} found={found}>
            {text}
          </WithExcerpt>
        )}
      </td>
    )
  }
  const text = visible(read(entry, utc))
  if (look === 'key')
    return (
      <td role="cell" class={look} key={name}>
        {entry.correlationKey !== null && (
          <a href={flowHref(entry.correlationKey)} title={`Open the flow ${text}`} tabIndex={current ? 0 : -1}>
            <i style={{ '--hue': hueOf(entry.correlationKey) }} />
            <bdi class="mono cut">
              <Marked text={read(entry, utc)} found={found} />
            </bdi>
          </a>
        )}
      </td>
    )
  const title = look === 'from' ? visible(sourceOf(entry).full) : text
  return (
    <td role="cell" class={`cut ${look}`} key={name} title={title} data-label={visible(label)}>
      <bdi>
        <Marked text={read(entry, utc)} found={found} />
      </bdi>
    </td>
  )
}

/** The payload or message on one line, between the event and the exception. */
function textOf(entry: Entry, found: RegExp | undefined) {
  if (entry.kind === 'event') return <Payload text={entry.payload} found={found} />
  const tag = eventTag(entry)
  return (
    <>
      {tag !== '' && (
        <bdi class="muted">
          [<Marked text={tag} found={found} />]{' '}
        </bdi>
      )}
      <Preview text={entry.message} found={found} />
      {entry.exception !== null && (
        <bdi class="thrown">
          {' '}
          <Marked text={thrownText(entry.exception)} found={found} />
        </bdi>
      )}
    </>
  )
}

/** An entry expanded below its row. */
export function DetailRow({ entry, onOpen }: { readonly entry: Entry; readonly onOpen: (id: string) => void }) {
  const whole = useWhole(entry)
  return (
    <tr role="row" class="detail" data-of={entry.id}>
      <td role="cell">
        <EntryActions entry={whole} onOpen={() => onOpen(entry.id)} />
        <EntryFields entry={whole} exception />
      </td>
    </tr>
  )
}
