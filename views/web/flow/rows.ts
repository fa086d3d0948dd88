import type { FlowLog } from './flow-log.ts'
import type { Group } from './lanes.ts'

/** A horizontal line of the drawing. */
export interface Row {
  /** That of its group or lane. */
  readonly id: string
  readonly kind: 'group' | 'lane'
  readonly group: Group
  readonly label: string
  readonly hint: string
  /** Its logs that are drawn here; a group that is open leaves those of its lanes to them. */
  readonly logs: readonly FlowLog[]
  /** All that it stands for. */
  readonly count: number
  readonly top: number
  readonly height: number
  /** Whether its lanes are shown; undefined for a lane and for a group without any. */
  readonly open: boolean | undefined
}

export const GROUP_PX = 30
export const LANE_PX = 26

export interface RowOptions {
  /** Groups that are not as they are at first: an Event shows its Steps, a Project keeps its categories together. */
  readonly toggled: ReadonlySet<string>
  /** Events whose Steps that were not seen are left out. */
  readonly optional: ReadonlySet<string>
}

/** The rows of a drawing from top to bottom. */
export function rowsOf(groups: readonly Group[], { toggled, optional }: RowOptions): readonly Row[] {
  let top = 0
  const place = <Part extends Omit<Row, 'top' | 'height'>>(row: Part): Row => {
    const height = row.kind === 'group' ? GROUP_PX : LANE_PX
    top += height
    return { ...row, top: top - height, height }
  }
  return groups.flatMap((group) => {
    const { id, label, hint, own, logs } = group
    const lanes = optional.has(id) ? group.lanes.filter((lane) => lane.logs.length > 0) : group.lanes
    const open = lanes.length === 0 ? undefined : isOpen(group, toggled)
    const heading = { id, kind: 'group', group, label, hint, count: logs.length, open } as const
    return [
      place({ ...heading, logs: open === true ? own : logs }),
      ...(open === true ? lanes : []).map((lane) =>
        place({ ...lane, kind: 'lane', group, count: lane.logs.length, open: undefined }),
      ),
    ]
  })
}

const isOpen = ({ id, kind }: Group, toggled: ReadonlySet<string>): boolean => (kind !== 'project') !== toggled.has(id)

export const heightOf = (rows: readonly Row[]): number => {
  const last = rows.at(-1)
  return last === undefined ? 0 : last.top + last.height
}
