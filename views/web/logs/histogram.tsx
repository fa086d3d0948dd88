import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { countText, plural } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { Histogram as Counts } from '../../schemas/answers.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'
import { barsOf, HEIGHT } from './bars.ts'
import type { AddressParams } from './filters.ts'
import { AS_TABLE } from './texts.ts'
import { Brush, MarkedTime, Parts, SpansTable, TimeTicks, useBrush } from './time-axis.tsx'
import { rangeOf, type Spans } from './time-spans.ts'

interface HistogramProps {
  readonly counts: Counts
  /** The same object while the same logs are counted again. */
  readonly filter: object
  readonly counted: AddressParams
  readonly onRange: (range: { readonly from: string; readonly to: string }) => void
}

/** Counts over time, stacked by level: a click shows one bar's time, a drag that of several. Also available as a table. */
export function Histogram({ counts, filter, counted, onRange }: HistogramProps) {
  const { buckets, interval } = counts
  const spans: Spans = { starts: buckets.map(({ from }) => from), interval, counted }
  const show = (one: number, other = one): void => {
    const range = rangeOf(spans, one, other)
    if (range !== undefined) onRange(range)
  }
  const { marked, handlers } = useBrush(spans, (one, other) => show(one, other))
  const [table, setTable] = useState(false)
  const last = useRef({ filter, areEnlarged: false })
  const { bars, areEnlarged } = useMemo(
    () => barsOf(counts, last.current.filter === filter && last.current.areEnlarged),
    [counts],
  )
  useEffect(() => {
    last.current = { filter, areEnlarged }
  }, [counts])
  if (buckets.length === 0) return null
  const levels = LEVELS.filter((level) => buckets.some((bucket) => bucket.levels[level] !== undefined))
  return (
    <figure class="histogram" aria-label="Logs over time">
      <svg viewBox={`0 0 ${buckets.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" {...handlers}>
        {bars.map((segments, index) =>
          segments.map(({ level, y, height }) => (
            <rect
              key={`${index}${level}`}
              x={index + 0.1}
              y={y}
              width={0.8}
              height={height}
              fill={LEVEL_LOOKS[level].fill}
            />
          )),
        )}
        <Parts spans={spans} height={HEIGHT} />
        {marked !== undefined && <Brush {...marked} height={HEIGHT} />}
      </svg>
      <TimeTicks spans={spans} />
      <figcaption class="muted small num">
        {marked === undefined ? (
          <span class="grow cut">
            bars of {durationText(interval)}, highest {countText(Math.max(...buckets.map(({ total }) => total)))}
            {areEnlarged && ', low ones enlarged'}
          </span>
        ) : (
          <>
            <MarkedTime spans={spans} {...marked} />
            <Covered covered={buckets.slice(Math.min(marked.from, marked.to), Math.max(marked.from, marked.to) + 1)} />
          </>
        )}
        <button type="button" aria-expanded={table} onClick={() => setTable(!table)}>
          {AS_TABLE(table)}
        </button>
      </figcaption>
      {table && (
        <SpansTable
          label="Logs over time as a table"
          spans={spans}
          columns={['Logs', ...levels]}
          cellsOf={(index) => {
            const { total, levels: counted } = buckets[index] ?? { total: 0, levels: {} }
            return total === 0 ? undefined : [total, ...levels.map((level) => counted[level] ?? 0)].map(countText)
          }}
          onShow={show}
        />
      )}
    </figure>
  )
}

/** The total counts of these bars. */
function Covered({ covered }: { readonly covered: Counts['buckets'] }) {
  const sum = (pick: (bucket: Counts['buckets'][number]) => number): number =>
    covered.reduce((total, bucket) => total + pick(bucket), 0)
  return (
    <>
      <b>
        {plural(
          sum(({ total }) => total),
          'log',
        )}
      </b>
      {LEVELS.toReversed().map((level) => {
        const count = sum(({ levels }) => levels[level] ?? 0)
        return (
          count > 0 && (
            <span key={level} style={{ color: LEVEL_LOOKS[level].colour }}>
              {LEVEL_LOOKS[level].tag} {countText(count)}
            </span>
          )
        )
      })}
      <span class="grow" />
    </>
  )
}
