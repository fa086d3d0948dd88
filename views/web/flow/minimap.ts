import type { FlowLog } from './flow-log.ts'
import type { Row } from './rows.ts'

/** SVG paths of all logs in little, by severity; `ticks` point at the errors from above. */
export interface MinimapPaths {
  readonly others: string
  readonly warnings: string
  readonly errors: string
  readonly ticks: string
  /** The height of one log in pixels. */
  readonly size: number
}

/** Room above for the ticks of errors. */
const HEAD_PX = 6

/** One dash for all logs of a row on the same two pixels, the worst of them; so the paths stay short whatever the flow. */
export function minimapPaths(
  rows: readonly Row[],
  shown: (log: FlowLog) => boolean,
  xOf: (log: FlowLog) => number,
  height: number,
): MinimapPaths {
  const room = height - HEAD_PX - 2
  const step = room / Math.max(1, rows.length)
  const worst = new Map<string, number>()
  const ticks = new Set<number>()
  rows.forEach((row, index) => {
    const y = (HEAD_PX + (index + 0.5) * step).toFixed(1)
    for (const log of row.logs) {
      if (!shown(log)) continue
      const x = Math.floor(xOf(log) / 2) * 2
      const place = `M${x} ${y}h3`
      worst.set(place, Math.max(worst.get(place) ?? 0, log.rank))
      if (log.rank > 3) ticks.add(x)
    }
  })
  const pathOf = (from: number, to: number): string =>
    [...worst]
      .filter(([, rank]) => rank >= from && rank <= to)
      .map(([place]) => place)
      .join('')
  return {
    others: pathOf(0, 2),
    warnings: pathOf(3, 3),
    errors: pathOf(4, 5),
    ticks: [...ticks].map((x) => `M${x + 1} 0v${HEAD_PX - 2}`).join(''),
    size: Math.max(1.5, Math.min(4, step)),
  }
}
