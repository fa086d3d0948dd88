import { useMemo, useRef } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import type { Drawing, DrawnMark } from '../../flow-layout/drawing.ts'
import { visible } from '../../flow-layout/format.ts'
import { heightOf } from '../../flow-layout/rows.ts'
import { markPaths } from '../../flow-layout/shapes.ts'
import { neighbourOf } from './navigation.ts'
import { WINDOW_MIN_MS, windowAt } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'
import { markWords } from './words.ts'

const PATHS = markPaths()

interface MarksProps {
  readonly view: FlowView
  readonly drawing: Drawing
  readonly width: number
}

/** The marks; the Tab key reaches one of them, and the arrow keys lead from it to the others. */
export function FlowMarks({ view, drawing: { marks, markOf }, width }: MarksProps) {
  const { selected, matches, utc, fit } = view
  const svg = useRef<SVGSVGElement>(null)
  const chosen = selected && markOf.get(selected)
  const entry = chosen === undefined ? 0 : marks.indexOf(chosen)

  const choose = (mark: DrawnMark): void => {
    const [first] = mark.logs
    const last = mark.logs.at(-1)
    // Zooms into a mark of several logs until the minimum window is reached.
    if (first && last && last.at - first.at > WINDOW_MIN_MS)
      view.setWindow(windowAt(fit, fit.project(first.at), fit.project(last.at)))
    else view.select(first)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = markAt(event)
    const mark = marks[at]
    const to = neighbourOf(marks, at, event.key)
    if (mark !== undefined && (event.key === 'Enter' || event.key === ' ')) choose(mark)
    else if (to !== undefined) {
      view.select(marks[to]?.logs[0])
      svg.current?.querySelector<SVGElement>(`[data-mark="${to}"]`)?.focus({ preventScroll: true })
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <svg
      ref={svg}
      class="flow-marks"
      width={width}
      height={heightOf(view.rows)}
      role={marks.length === 0 ? 'presentation' : 'listbox'}
      aria-label="Logs in the drawing"
      onClick={(event) => {
        const mark = marks[markAt(event)]
        if (mark !== undefined) choose(mark)
      }}
      onKeyDown={onKeyDown}
    >
      {useMemo(
        () =>
          marks.map((mark, index) => (
            <path
              // A mark that is drawn anew for the same log keeps the focus.
              key={mark.logs[0]?.entry.id}
              class={`flow-mark ${LEVELS[mark.rank]}${matches === undefined || mark.logs.some((log) => matches.has(log)) ? '' : ' dim'}`}
              d={PATHS[mark.rank]}
              transform={`translate(${mark.x} ${mark.y})`}
              data-mark={index}
              role="option"
              aria-selected={mark === chosen}
              aria-label={visible(markWords(mark, utc))}
              tabindex={index === entry ? 0 : -1}
            />
          )),
        [marks, matches, utc, entry, chosen],
      )}
      {chosen && <circle class="flow-ring" cx={chosen.x} cy={chosen.y} r="8.5" />}
    </svg>
  )
}

/** The index of the mark that an event is on; -1 for none. */
export const markAt = ({ target }: Event): number => Number((target as SVGElement).dataset['mark'] ?? -1)
