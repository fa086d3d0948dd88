import type { FlowLog } from '../../flow-layout/flow-log.ts'
import type { Row } from '../../flow-layout/rows.ts'
import type { TimeScale } from '../../flow-layout/time-scale.ts'

/** Room at the top for the error ticks, in pixels. */
const HEAD_PX = 5

/** SVG paths of the rows' logs in miniature, with a tick above each error. Dashes two pixels wide bound their length. */
export function minimapPaths(
  rows: readonly Row[],
  scale: TimeScale,
  shown: ReadonlySet<FlowLog>,
  height: number,
): { readonly others: string; readonly errors: string } {
  const others = new Set<string>()
  const errors = new Set<string>()
  rows.forEach(({ logs }, index) => {
    const y = Math.round(HEAD_PX + ((index + 0.5) * (height - HEAD_PX)) / rows.length)
    for (const log of logs) {
      if (!shown.has(log)) continue
      const x = Math.floor(scale.project(log.at) / 2) * 2
      if (log.rank > 3) errors.add(`M${x} ${y}h3M${x + 1.5} 0v${HEAD_PX}`)
      else others.add(`M${x} ${y}h3`)
    }
  })
  return { others: [...others].join(''), errors: [...errors].join('') }
}
