import { urlOf } from '../api/client.ts'
import { plural, visible } from '../lib/format.ts'
import { LEVELS } from '../lib/levels.ts'
import { durationText, iso, timeText } from '../lib/times.ts'
import { Icon } from '../ui/icon.tsx'
import { Popover } from '../ui/popover.tsx'
import { drawFlow } from './drawing.ts'
import { apiOf } from './flow-address.ts'
import { svgText } from './svg-text.ts'
import { ticksOf } from './ticks.ts'
import { createTimeScale } from './time-scale.ts'
import { clipSegments } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'

/** The width of an exported drawing, whatever that of the page. */
const WIDTH = 1_200

/** The flow as files: what is drawn as an image, and its logs as they were stored. */
export function FlowExport({ view }: { readonly view: FlowView }) {
  const { window, order, brief } = view
  const { path, params } = apiOf(brief.summary.correlationKey, '/export')
  // The API's range is of the time that was written.
  const range = window !== undefined && order === 'written'
  const url = (format: string): string =>
    urlOf(path, {
      ...params,
      format,
      ...(range ? { from: iso(window.from), to: iso(Math.floor(window.to) + 1) } : {}),
    })
  return (
    <Popover
      class="button small"
      align="end"
      label={
        <>
          <Icon name="download" /> Export
        </>
      }
    >
      {(close) => (
        <>
          <button
            type="button"
            onClick={() => {
              close()
              download(drawingText(view), fileName(brief.summary.correlationKey))
            }}
          >
            Drawing as SVG
          </button>
          <a href={url('ndjson')} download onClick={close}>
            {range ? 'Logs of this time' : 'All logs'} as NDJSON
          </a>
          <a href={url('csv')} download onClick={close}>
            {range ? 'Logs of this time' : 'All logs'} as CSV
          </a>
        </>
      )}
    </Popover>
  )
}

function drawingText(view: FlowView): string {
  const { rows, visits, segments, window, order, utc, listed, brief } = view
  const scale = createTimeScale(window === undefined ? segments : clipSegments(segments, window), WIDTH)
  const shown = new Set(listed)
  const { correlationKey, firstAt, lastAt } = brief.summary
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  return svgText({
    title: correlationKey,
    subtitle: `${plural(shown.size, 'log')}, ${timeText(window?.from ?? firstAt, utc)} to ${timeText(window?.to ?? lastAt, utc)}`,
    rows,
    drawing: drawFlow({ rows, visits, scale, order, shown: (log) => shown.has(log) }),
    scale,
    ticks: ticksOf(scale, utc),
    palette: {
      back: colour('panel'),
      band: colour('inset'),
      line: colour('line'),
      text: colour('text'),
      muted: colour('muted'),
      levels: LEVELS.map((level) => colour(LOOK_NAMES[level])),
    },
    foldLabel: ({ from, to }) => durationText(to - from),
  })
}

const LOOK_NAMES = {
  Trace: 'level-trace',
  Debug: 'level-debug',
  Information: 'level-info',
  Warning: 'level-warn',
  Error: 'level-error',
  Critical: 'level-crit',
} as const

const fileName = (key: string): string =>
  `flow-${visible(key)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 64)}.svg`

function download(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
