import { LEVELS } from '../../../shared/contract/levels.ts'
import { plural, shortCount, visible } from '../../flow-layout/format.ts'
import type { Row } from '../../flow-layout/rows.ts'
import { Icon } from '../ui/button.tsx'
import { LevelMark } from '../ui/level.tsx'
import { listOf } from './flow-address.ts'
import type { FlowView } from './use-flow-view.ts'

interface GutterProps {
  readonly view: FlowView
  readonly row: Row
}

/** The names of the rows, with controls that fold a row or show it alone. */
export const FlowGutter = ({ view }: Pick<GutterProps, 'view'>) => (
  <div class="flow-gutter">
    {view.rows.map((row) => (
      <Name key={row.id} row={row} view={view} />
    ))}
  </div>
)

function Name({ row, view }: GutterProps) {
  const { id, kind, label, hint, all, open, height } = row
  const on = view.lane?.id === id
  const worst = LEVELS.findLast((level, rank) => rank > 2 && all.some((log) => log.entry.level === level))
  const count = all.length
  return (
    <div class={`flow-row ${kind}`} style={{ height: `${height}px` }}>
      {open !== undefined && (
        <button
          type="button"
          class="flow-caret"
          aria-expanded={open}
          aria-label={`Lanes of ${visible(label)}`}
          onClick={() => view.toggle('fold', id)}
        >
          <Icon name={open ? 'down' : 'right'} />
        </button>
      )}
      <button
        type="button"
        class="flow-name cut"
        aria-pressed={on}
        disabled={count === 0}
        title={visible(hint || label)}
        onClick={() => view.set({ lane: on ? undefined : id })}
      >
        <bdi>{visible(label)}</bdi>
      </button>
      {kind === 'project' && <span class="muted small">Project</span>}
      {row.unseen && open ? <Optional row={row} view={view} /> : null}
      {count > 0 && (
        <>
          {worst && <LevelMark level={worst} />}
          <span class="muted small num">{shortCount(count)}</span>
        </>
      )}
    </div>
  )
}

/** Hides the empty lanes of an Event whose Steps are optional. */
function Optional({ row: { id, unseen = 0 }, view }: GutterProps) {
  const shown = !listOf(view.params['optional']).has(id)
  const what = `${shown ? 'Hide' : 'Show'} ${plural(unseen, 'Step')} not seen`
  return (
    <button
      type="button"
      class="flow-optional"
      aria-pressed={shown}
      aria-label={what}
      title={what}
      onClick={() => view.toggle('optional', id)}
    >
      <span>{unseen}</span>
    </button>
  )
}
