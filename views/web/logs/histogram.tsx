import { useState } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { countText, plural } from '../../flow-layout/format.ts'
import { durationText, timeText } from '../../flow-layout/times.ts'
import type { Histogram as Counts } from '../../schemas/answers.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'
import { useUtc } from '../ui/time.tsx'
import { barsOf, bucketAt, HEIGHT, rangeOf, ticksOf } from './bars.ts'

interface HistogramProps {
  readonly counts: Counts
  readonly onRange: (range: { readonly from: string; readonly to: string }) => void
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

interface Drag {
  readonly from: number
  readonly to: number
}

/** Counts over time, stacked by level: a click shows one bar's time, a drag that of several. A table says the same. */
export function Histogram({ counts, onRange }: HistogramProps) {
  const utc = useUtc()
  const [hovered, setHovered] = useState(-1)
  const [drag, setDrag] = useState<Drag>()
  const [table, setTable] = useState(false)
  const { buckets, interval } = counts
  if (buckets.length === 0) return null
  const at = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect()
    return bucketAt(counts, (clientX - left) / width)
  }
  const finish = (): void => {
    const range = drag === undefined ? undefined : rangeOf(counts, drag.from, drag.to)
    setDrag(undefined)
    if (range !== undefined) onRange(range)
  }
  const shown = drag ?? (hovered === -1 ? undefined : { from: hovered, to: hovered })
  return (
    <figure class="histogram" aria-label="Logs over time">
      <svg
        viewBox={`0 0 ${buckets.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag({ from: at(event), to: at(event) })
        }}
        onPointerMove={(event) => {
          setHovered(at(event))
          if (drag !== undefined) setDrag({ ...drag, to: at(event) })
        }}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setHovered(-1)}
      >
        <Bars counts={counts} />
        {shown !== undefined && (
          <rect
            class="brush"
            x={Math.min(shown.from, shown.to)}
            width={Math.abs(shown.to - shown.from) + 1}
            height={HEIGHT}
          />
        )}
      </svg>
      <div class="times muted small num" aria-hidden="true">
        {ticksOf(counts, systemClock.now()).map(({ at: time, part }) => (
          <span key={time} style={{ left: `${100 * part}%` }}>
            {timeText(time, utc).slice(
              interval < DAY_MS ? 5 : 0,
              interval < MINUTE_MS ? 19 : interval < DAY_MS ? 16 : 10,
            )}
          </span>
        ))}
      </div>
      <figcaption class="muted small num">
        {shown === undefined ? (
          <span class="grow">
            a bar is {durationText(interval)}, the highest{' '}
            {plural(Math.max(...buckets.map(({ total }) => total)), 'log')}
          </span>
        ) : (
          <Caption counts={counts} {...shown} />
        )}
        <button type="button" aria-expanded={table} onClick={() => setTable(!table)}>
          {table ? 'Hide the table' : 'As a table'}
        </button>
      </figcaption>
      {table && <AsTable counts={counts} onRange={onRange} />}
    </figure>
  )
}

const Bars = ({ counts }: { readonly counts: Counts }) => (
  <>
    {barsOf(counts).map((segments, index) =>
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
  </>
)

/** The time and the counts of the bars between two. */
function Caption({ counts, from, to }: { readonly counts: Counts } & Drag) {
  const utc = useUtc()
  const range = rangeOf(counts, from, to)
  const covered = counts.buckets.slice(Math.min(from, to), Math.max(from, to) + 1)
  const sum = (pick: (bucket: Counts['buckets'][number]) => number): number =>
    covered.reduce((total, bucket) => total + pick(bucket), 0)
  return (
    <>
      <span>
        {secondsText(range?.from ?? '', utc)} – {secondsText(range?.to ?? '', utc).slice(11)}
      </span>
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

/** A time without its milliseconds, where it has none. */
const secondsText = (at: string | number, utc: boolean): string => timeText(at, utc).replace('.000', '')

/** The same counts for those who do not see the drawing. */
function AsTable({ counts, onRange }: HistogramProps) {
  const utc = useUtc()
  const levels = LEVELS.filter((level) => counts.buckets.some((bucket) => bucket.levels[level] !== undefined))
  const show = (index: number): void => {
    const range = rangeOf(counts, index, index)
    if (range !== undefined) onRange(range)
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section class="scroll" tabIndex={0} aria-label="Logs over time as a table">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {['Logs', ...levels].map((name) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {counts.buckets.map(
            ({ from, total, levels: counted }, index) =>
              total > 0 && (
                <tr key={from}>
                  <td class="time">
                    <button type="button" class="button quiet small" onClick={() => show(index)}>
                      {timeText(from, utc)}
                    </button>
                  </td>
                  <td class="num">{countText(total)}</td>
                  {levels.map((level) => (
                    <td key={level} class="num">
                      {countText(counted[level] ?? 0)}
                    </td>
                  ))}
                </tr>
              ),
          )}
        </tbody>
      </table>
    </section>
  )
}
