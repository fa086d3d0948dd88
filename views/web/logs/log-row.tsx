// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { Component } from 'preact'
import { visible } from '../../flow-layout/format.ts'
import { pairsOf, valueText } from '../../flow-layout/payload.ts'
import { clockText } from '../../flow-layout/times.ts'
import type { Entry } from '../../schemas/answers.ts'
import { Icon } from '../ui/icon.tsx'
import { LevelTag } from '../ui/level.tsx'
import { EntryActions } from './entry-actions.tsx'
import { EntryFields } from './entry-fields.tsx'
import { eventTag, hueOf, sourceOf } from './facts.ts'
import { flowHref } from './links.ts'
import { useWhole } from './use-entry.ts'

interface LogRowProps {
  readonly entry: Entry
  /** Its place among all rows, of which the head is the first. */
  readonly index: number
  readonly utc: boolean
  readonly expanded: boolean
  /** Whether it is open beside the list. */
  readonly open: boolean
  /** Whether the keyboard enters the list here. */
  readonly current: boolean
  readonly environments: boolean
  readonly projects: boolean
}

/** A payload on one line: `order=4711 outcome=declined` of one that is a JSON object. */
export function Payload({ text }: { readonly text: string }) {
  const pairs = pairsOf(text)
  if (pairs === undefined) return <bdi>{visible(text.slice(0, PREVIEW))}</bdi>
  return (
    <>
      {pairs.map(({ path, text: value }, index) => (
        <bdi key={index}>
          {index > 0 && ' '}
          <span class="muted">{visible(path)}=</span>
          {visible(valueText(value.slice(0, PREVIEW)))}
        </bdi>
      ))}
    </>
  )
}

/** Characters of a message that a row may need, whatever is in it. */
const PREVIEW = 400

/** A row of the list. What a click does to it is the table's, so that drawing many rows makes no functions. */
export class LogRow extends Component<LogRowProps> {
  override shouldComponentUpdate(next: LogRowProps): boolean {
    return (Object.keys(next) as (keyof LogRowProps)[]).some((name) => next[name] !== this.props[name])
  }

  override render({ entry, index, utc, expanded, open, current, environments, projects }: LogRowProps) {
    const { id, timestamp, level, correlationKey, environment } = entry
    const source = sourceOf(entry)
    const tag = eventTag(entry)
    const failed = entry.kind === 'application' && entry.exception !== null
    return (
      <tr
        role="row"
        class={`log is-${level.toLowerCase()} ${open ? 'open' : ''} ${expanded ? 'expanded' : ''}`}
        data-id={id}
        aria-rowindex={index}
      >
        <td role="cell" class="at">
          <button type="button" class="time" aria-expanded={expanded} tabIndex={current ? 0 : -1} title={timestamp}>
            <Icon name={expanded ? 'down' : 'right'} />
            {clockText(timestamp, utc)}
          </button>
        </td>
        <td role="cell" class="lv">
          <LevelTag level={level} />
        </td>
        {environments && (
          <td role="cell" class="cut muted env">
            <bdi>{visible(environment)}</bdi>
          </td>
        )}
        {projects && (
          <td role="cell" class="cut project" title={visible(projectOf(entry))}>
            <bdi>{visible(projectOf(entry))}</bdi>
          </td>
        )}
        <td role="cell" class="cut from" title={visible(source.full)}>
          <bdi>{visible(source.name)}</bdi>
        </td>
        <td role="cell" class="text">
          {tag !== '' && <bdi class="muted">[{visible(tag)}] </bdi>}
          {entry.kind === 'event' ? (
            <Payload text={entry.payload} />
          ) : (
            <bdi>{visible(entry.message.slice(0, PREVIEW))}</bdi>
          )}
          {failed && <bdi class="thrown"> {visible(entry.exception?.slice(0, 120).split('\n', 1)[0] ?? '')}</bdi>}
        </td>
        <td role="cell" class="key">
          {correlationKey !== null && (
            <a
              href={flowHref(correlationKey)}
              title={`Open the flow ${visible(correlationKey)}`}
              tabIndex={current ? 0 : -1}
            >
              <i style={{ '--hue': hueOf(correlationKey) }} />
              <bdi class="mono cut">{visible(correlationKey)}</bdi>
            </a>
          )}
        </td>
      </tr>
    )
  }
}

const projectOf = (entry: Entry): string => (entry.kind === 'event' ? '' : (entry.project.name ?? entry.project.id))

/** An entry in place, below its row. */
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
