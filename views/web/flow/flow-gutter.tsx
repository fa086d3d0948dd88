import { plural, shortCount, visible } from '../lib/format.ts'
import { LEVELS } from '../lib/levels.ts'
import { Icon } from '../ui/icon.tsx'
import { LevelMark } from '../ui/level.tsx'
import type { Row } from './rows.ts'
import type { FlowView } from './use-flow-view.ts'

/** The names of the rows, with what folds them and what shows one alone. */
export function FlowGutter({ view }: { readonly view: FlowView }) {
  return (
    <div class="flow-gutter">
      {view.rows.map((row) => (
        <div
          key={row.id}
          class={`flow-row ${row.kind}${row.count === 0 ? ' unseen' : ''}`}
          style={{ height: `${row.height}px` }}
        >
          {row.kind === 'group' ? <Fold row={row} view={view} /> : <span class="flow-indent" />}
          <button
            type="button"
            class="flow-name cut"
            aria-pressed={view.lane?.id === row.id}
            disabled={row.count === 0}
            title={[row.label, row.hint]
              .filter((part, index, all) => part !== all[index - 1])
              .map(visible)
              .join('\n')}
            onClick={() => view.set({ lane: view.lane?.id === row.id ? undefined : row.id })}
          >
            <bdi>{visible(row.label)}</bdi>
          </button>
          {row.kind === 'group' && (
            <>
              {row.group.kind === 'project' && <span class="flow-kind">Project</span>}
              <Optional row={row} view={view} />
            </>
          )}
          {row.count > 0 && <Count row={row} />}
        </div>
      ))}
    </div>
  )
}

function Fold({ row: { id, open, label, group }, view }: { readonly row: Row; readonly view: FlowView }) {
  if (open === undefined) return <span class="flow-indent" />
  const what = group.kind === 'project' ? 'categories' : 'Steps'
  return (
    <button
      type="button"
      class="flow-caret"
      aria-expanded={open}
      aria-label={`${what} of ${visible(label)}`}
      onClick={() => view.toggle('fold', id)}
    >
      <Icon name={open ? 'down' : 'right'} />
    </button>
  )
}

/** An Event whose Steps need not all come can do without their empty lanes. */
function Optional({ row: { id, group, open }, view }: { readonly row: Row; readonly view: FlowView }) {
  const unseen = group.lanes.filter(({ logs }) => logs.length === 0).length
  if (unseen === 0 || open === false) return null
  const off = view.lists.optional.has(id)
  return (
    <button
      type="button"
      class="flow-optional"
      aria-pressed={!off}
      aria-label={`${plural(unseen, 'Step')} not seen`}
      title={`${off ? 'Show' : 'Hide'} ${plural(unseen, 'Step')} that ${unseen === 1 ? 'was' : 'were'} not seen`}
      onClick={() => view.toggle('optional', id)}
    >
      <svg width="10" height="10" viewBox="-5 -5 10 10" aria-hidden="true">
        <circle r="3.8" fill="none" stroke="currentColor" stroke-dasharray="2 1.6" />
      </svg>
      <span>{unseen}</span>
    </button>
  )
}

function Count({ row: { count, logs, group, kind } }: { readonly row: Row }) {
  const worst = (kind === 'group' ? group.logs : logs).reduce((rank, log) => Math.max(rank, log.rank), 0)
  return (
    <>
      {worst > 2 && <LevelMark level={LEVELS[worst] ?? 'Trace'} />}
      <span class="muted small num" title={plural(count, 'log')}>
        {shortCount(count)}
      </span>
    </>
  )
}
