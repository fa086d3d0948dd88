import { useMemo, useRef } from 'preact/hooks'
import { visible } from '../lib/format.ts'
import { LEVEL_LOOKS, LEVELS, shapePath } from '../lib/levels.ts'
import type { Drawing, DrawnMark } from './drawing.ts'
import { neighbourOf } from './neighbour.ts'
import { heightOf } from './rows.ts'
import { MARK_PX } from './svg-text.ts'
import { windowBetween } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'
import { clusterWords, logWords } from './words.ts'

const LOOKS = LEVELS.map((level) => {
  const { shape } = LEVEL_LOOKS[level]
  return { d: shapePath(shape, shape === 'ring' ? MARK_PX - 1 : MARK_PX), look: `flow-mark ${level.toLowerCase()}` }
})

interface MarksProps {
  readonly view: FlowView
  readonly drawing: Drawing
  readonly width: number
}

/** The marks; one of them can be reached with the tab key, and the others from it with the arrow keys. */
export function FlowMarks({ view, drawing, width }: MarksProps) {
  const { selected, matches, relative, order, utc } = view
  const { marks } = drawing
  const svg = useRef<SVGSVGElement>(null)
  const chosen = selected && drawing.markOf.get(selected)
  const entry = chosen === undefined ? 0 : marks.indexOf(chosen)

  const choose = (mark: DrawnMark | undefined): void => {
    const [first] = mark?.logs ?? []
    const last = mark?.logs.at(-1)
    if (first === undefined || last === undefined) return
    // A cluster is looked into, until there is nothing closer to look at.
    const inner = first === last ? undefined : windowBetween(view.segments, first[order], last[order])
    const closer = inner !== undefined && last[order] - first[order] > 10
    if (closer) view.setWindow(inner, 'push')
    else view.select(first)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = markAt(event)
    const mark = marks[at]
    if (mark === undefined) return
    const to = event.key === 'Enter' || event.key === ' ' ? at : neighbourOf(marks, at, event.key)
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    if (to === at) {
      choose(mark)
      return
    }
    view.select(marks[to]?.logs[0])
    svg.current?.querySelector<SVGElement>(`[data-mark="${to}"]`)?.focus({ preventScroll: true })
  }

  return (
    <svg
      ref={svg}
      class="flow-marks"
      width={width}
      height={heightOf(view.rows)}
      role={marks.length === 0 ? 'presentation' : 'listbox'}
      aria-label={marks.length === 0 ? undefined : 'Logs in the drawing'}
      onClick={(event) => choose(marks[markAt(event)])}
      onKeyDown={onKeyDown}
    >
      {useMemo(
        () =>
          marks.map((mark, index) => {
            const { x, y, rank, logs } = mark
            const [log] = logs
            if (log === undefined) return null
            const dim = matches !== undefined && !logs.some((one) => matches.has(one))
            const words =
              logs.length > 1 ? clusterWords(mark, order, utc) : logWords(log, relative.get(log), order, utc)
            return (
              <path
                key={index}
                class={`${LOOKS[rank]?.look}${dim ? ' dim' : ''}`}
                d={LOOKS[rank]?.d}
                transform={`translate(${x} ${y})`}
                data-mark={index}
                role="option"
                aria-selected={mark === chosen}
                aria-label={visible(words)}
                tabIndex={index === entry ? 0 : -1}
              />
            )
          }),
        [marks, matches, relative, order, utc, chosen, entry],
      )}
      {chosen && <circle class="flow-ring" cx={chosen.x} cy={chosen.y} r="8.5" />}
    </svg>
  )
}

const markAt = ({ target }: Event): number => Number((target as SVGElement).dataset['mark'] ?? -1)
