import { useRef, useState } from 'preact/hooks'
import type { Level } from '../../../shared/contract/levels.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { Series } from '../../schemas/answers.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'
import { IconButton } from '../ui/button.tsx'
import { useUtc } from '../ui/time.tsx'
import { CHART, FUNCTIONS } from './chart-texts.ts'
import type { AddressParams } from './filters.ts'
import { AS_TABLE } from './texts.ts'
import { Brush, MarkedTime, Parts, SpansTable, secondsText, TimeTicks, useBrush } from './time-axis.tsx'
import { partText, rangeOf, type Spans } from './time-spans.ts'
import { heightOf, numberText, PLOT_HEIGHT, pathsOf, tickTexts, type ValueAxis, valueAxis } from './value-axis.ts'

/** Number of series colours (`--series-1` and so on); further series are dashed. */
const COLOURS = 5
/** Points that Page Up and Page Down move by. */
const PAGE = 10

/** A line of the chart; `total` is the number of all its logs, for a chart of such numbers. */
interface Drawn {
  /** Unlike that of every other line of the chart. */
  readonly key: string
  /** Whether it is the line of an earlier time. */
  readonly isEarlier: boolean
  readonly total: number | undefined
  readonly value: string | null
  readonly term: string | null
  readonly label: string
  readonly points: readonly (number | null)[]
  readonly look: Look
  readonly isHidden: boolean
}

type Points = Pick<Series['items'][number], 'count' | 'points'>

/** The lines of an earlier time. */
export interface Earlier {
  /** How much earlier. */
  readonly label: string
  /** The line of the same value; undefined if it is not known. */
  lineOf(value: string | null): Points | undefined
}

interface PlotProps {
  readonly series: Series
  readonly counted: AddressParams
  /** Drawn beside the lines of the same values. */
  readonly earlier: Earlier | undefined
  /** Called with the range of the chosen spans; `isPoint` if it is a single one. */
  readonly onRange: (range: { readonly from: string; readonly to: string }, isPoint: boolean) => void
  /** Given a line of the chart whose logs alone are to be shown. */
  readonly onOnly: (line: Pick<Drawn, 'value' | 'term'>) => void
}

/** Lines over time, a legend with their values at a point, and the same data as a table. */
export function ChartPlot({ series, counted, earlier, onRange, onOnly }: PlotProps) {
  const { fn, value, by, interval, items } = series
  const spans: Spans = { starts: series.spans, interval, counted }
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [point, setPoint] = useState<number>()
  const [table, setTable] = useState(false)
  const lookFor = useLooks(
    items.map(({ value }) => value),
    by,
  )
  const choose = (one: number, other = one): void => {
    const range = rangeOf(spans, one, other)
    if (range !== undefined) onRange(range, one === other)
  }
  const { marked, handlers } = useBrush(spans, (one, other, { pointerType }) => {
    // Touch has no hover, so the first tap only shows the values.
    if (pointerType === 'touch' && one === other && one !== point) setPoint(one)
    else choose(one, other)
  })
  const fnName = FUNCTIONS.find(([name]) => name === fn)?.[1] ?? fn
  const title = CHART.title(fnName, value && visible(value), by && visible(by))
  const all = items.flatMap(({ value, term, ...item }): readonly Drawn[] => {
    const name = item.label === null ? title : visible(item.label)
    const look = lookFor(value)
    const draw = ({ count, points }: Points, isEarlier: boolean, label: string, look: Look): Drawn => {
      const key = `${isEarlier} ${value}`
      const total = fn === 'count' ? count : undefined
      return { key, isEarlier, total, value, term, label, points, look, isHidden: hidden.has(key) }
    }
    const now = draw(item, false, name, look)
    const before = earlier?.lineOf(value)
    if (earlier === undefined || before === undefined) return [now]
    // The counterpart of an only line is grey, which is easier to tell apart than dots.
    if (by === null) return [now, draw(before, true, earlier.label, lookOf('var(--muted)', DASHES))]
    return [now, draw(before, true, `${earlier.label}: ${name}`, lookOf(look.stroke, DOTS))]
  })
  const toggle = (one: string): void => {
    const others = [...hidden].filter((each) => each !== one)
    setHidden(new Set(hidden.has(one) ? others : [...others, one]))
  }
  const last = spans.starts.length - 1
  const at = marked?.to ?? (point === undefined ? undefined : Math.min(point, last))
  return (
    <figure class="chart" aria-label={title}>
      <Plot
        title={title}
        spans={spans}
        shown={all.filter(({ isHidden }) => !isHidden)}
        isCount={fn === 'count'}
        at={at}
        marked={marked}
        handlers={handlers}
        onPoint={setPoint}
        onChoose={choose}
      />
      <figcaption class="muted small num">
        {at === undefined ? (
          <span class="grow">{CHART.point(durationText(interval))}</span>
        ) : (
          <>
            <MarkedTime spans={spans} from={marked?.from ?? at} to={at} />
            <span class="grow" />
          </>
        )}
        <button type="button" aria-expanded={table} onClick={() => setTable(!table)}>
          {AS_TABLE(table)}
        </button>
      </figcaption>
      <Legend all={all} at={at} onToggle={toggle} onOnly={by === null ? undefined : onOnly} />
      {table && (
        <SpansTable
          label={title}
          spans={spans}
          columns={all.map(({ label }) => label)}
          cellsOf={(index) =>
            // Spans without logs are omitted; a number of the logs may be zero.
            all.every(({ points }) => points[index] == null || (fn === 'count' && points[index] === 0))
              ? undefined
              : all.map((one) => numberAt(one, index))
          }
          onShow={choose}
        />
      )}
    </figure>
  )
}

/** The value of a line at a point; without one the number of all logs, or else the latest value. */
function numberAt({ points, total }: Drawn, at?: number): string {
  const latest = points.findLastIndex((number) => number !== null)
  const number = (at === undefined ? total : undefined) ?? points[at ?? latest] ?? null
  return number === null ? CHART.nothing : numberText(number)
}

interface AreaProps extends ReturnType<typeof useBrush> {
  readonly title: string
  readonly spans: Spans
  readonly shown: readonly Drawn[]
  readonly isCount: boolean
  /** The point whose values are shown. */
  readonly at: number | undefined
  readonly onPoint: (point: number | undefined) => void
  readonly onChoose: (point: number) => void
}

/** The drawing. For the keyboard it is a slider that moves from point to point and announces the values. */
function Plot({ title, spans, shown, isCount, at, marked, handlers, onPoint, onChoose }: AreaProps) {
  const utc = useUtc()
  const last = spans.starts.length - 1
  const present = at ?? last
  const part = partText(spans, present, present, systemClock.now())
  const axis = valueAxis(
    shown.flatMap(({ points }) => points.filter((number) => number !== null)),
    isCount,
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (event.key === 'Enter') onChoose(present)
    else if (step !== undefined) {
      // The point of a resting pointer would stay the one that is shown.
      handlers.onPointerLeave()
      onPoint(Math.max(0, Math.min(last, present + step)))
    } else return
    event.preventDefault()
  }
  return (
    <div class="plot">
      <ValueTicks axis={axis} />
      <div
        class="lines grow"
        role="slider"
        tabIndex={0}
        aria-label={CHART.points(title)}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={present}
        aria-valuetext={[
          secondsText(spans.starts[present] ?? '', utc),
          ...(part ? [part] : []),
          ...shown.map((one) => `${one.label}: ${numberAt(one, present)}`),
        ].join(', ')}
        onKeyDown={onKeyDown}
        onFocus={() => onPoint(present)}
        onBlur={() => onPoint(undefined)}
      >
        <svg
          viewBox={`0 0 ${spans.starts.length} ${PLOT_HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          {...handlers}
        >
          <path
            class="grid"
            d={axis.ticks.map((tick) => `M0 ${heightOf(tick, axis)}H${spans.starts.length}`).join('')}
          />
          {marked !== undefined && marked.from !== marked.to && <Brush {...marked} height={PLOT_HEIGHT} />}
          {at !== undefined && <path class="cross" d={`M${at + 0.5} 0V${PLOT_HEIGHT}`} />}
          {shown.map((one) => (
            <Line key={one.key} line={one} axis={axis} at={at} />
          ))}
          <Parts spans={spans} height={PLOT_HEIGHT} reach={0.5} />
        </svg>
        <TimeTicks spans={spans} />
      </div>
    </div>
  )
}

const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 },
  ...{ PageDown: -PAGE, PageUp: PAGE, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
}

interface Look {
  readonly stroke: string
  readonly 'stroke-dasharray': string | undefined
}

/** The look of each line by its value. That of a level is its own. Any other stays the same while others come and go, which take those that are free. */
function useLooks(values: readonly (string | null)[], by: string | null): (value: string | null) => Look {
  const places = useRef<ReadonlyMap<string | null, number>>(new Map())
  const before = places.current
  const taken = new Set(values.map((value) => before.get(value)))
  const free = [...values.keys()].filter((place) => !taken.has(place))
  places.current = new Map(values.map((value) => [value, before.get(value) ?? free.shift() ?? 0]))
  return (value) => {
    const place = places.current.get(value) ?? 0
    if (by === 'level') return lookOf(LEVEL_LOOKS[value as Level].colour, value === 'Trace' ? DASHES : undefined)
    return lookOf(`var(--series-${(place % COLOURS) + 1})`, Math.floor(place / COLOURS) % 2 === 1 ? DASHES : undefined)
  }
}

const DASHES = '5 4'
const DOTS = '0 5'

const lookOf = (stroke: string, dashes: string | undefined): Look => ({ stroke, 'stroke-dasharray': dashes })

interface LineProps extends Pick<AreaProps, 'at'> {
  readonly line: Drawn
  readonly axis: ValueAxis
}

function Line({ line: { points, look }, axis, at }: LineProps) {
  const { line, marks } = pathsOf(points, axis)
  const number = at === undefined ? null : (points[at] ?? null)
  return (
    <>
      <path d={line} {...look} />
      <path class="mark" d={marks} stroke={look.stroke} />
      {at !== undefined && number !== null && (
        <path class="mark at" d={`M${at + 0.5} ${heightOf(number, axis)}h0`} stroke={look.stroke} />
      )}
    </>
  )
}

/** The axis labels. */
function ValueTicks({ axis }: { readonly axis: ValueAxis }) {
  const texts = tickTexts(axis)
  return (
    <div class="values muted small num" aria-hidden="true">
      {/* Sets the width: as wide as the longest label. */}
      <span>{texts.reduce((longest, text) => (text.length > longest.length ? text : longest))}</span>
      {axis.ticks.map((tick, index) => (
        <span key={tick} style={{ top: `${heightOf(tick, axis)}%` }}>
          {texts[index]}
        </span>
      ))}
    </div>
  )
}

interface LegendProps extends Pick<AreaProps, 'at'> {
  readonly all: readonly Drawn[]
  /** Undefined if no line has logs of its own. */
  readonly onOnly: PlotProps['onOnly'] | undefined
  readonly onToggle: (key: string) => void
}

/** The lines' labels with their values; a click hides or shows a line. */
const Legend = ({ all, at, onToggle, onOnly }: LegendProps) => (
  <div class="legend">
    {all.map((one) => (
      <span key={one.key}>
        <button
          type="button"
          class="series"
          aria-pressed={!one.isHidden}
          title={one.label}
          onClick={() => onToggle(one.key)}
        >
          <svg class="swatch" viewBox="0 0 20 4" aria-hidden="true">
            <path d="M0 2H20" {...one.look} />
          </svg>
          <bdi class="cut">{one.label}</bdi>
          <b class="num">{numberAt(one, at)}</b>
        </button>
        {onOnly && !one.isEarlier && (
          <IconButton icon="plus" label={CHART.onlyOf(one.label)} title={CHART.only} onClick={() => onOnly(one)} />
        )}
      </span>
    ))}
  </div>
)
