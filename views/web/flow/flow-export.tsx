import { systemClock } from '../../../shared/clock.ts'
import { urlOf } from '../api/client.ts'
import { plural } from '../lib/format.ts'
import { iso, timeText } from '../lib/times.ts'
import { Icon } from '../ui/icon.tsx'
import { Popover } from '../ui/popover.tsx'
import { apiOf } from './flow-address.ts'
import { shownOf } from './flow-zoom.tsx'
import { svgText } from './svg-text.ts'
import type { FlowView } from './use-flow-view.ts'

/** The flow as files: what is drawn as an image, and its logs as they were stored. */
export function FlowExport({ view }: { readonly view: FlowView }) {
  const { window, params, brief } = view
  const { correlationKey } = brief.summary
  const api = apiOf(correlationKey, '/export')
  // The API's range is of the time that was written.
  const range = window &&
    params['order'] !== 'received' && { from: iso(window.from), to: iso(Math.ceil(window.to) + 1) }
  const logs = (format: string) => (
    <a href={urlOf(api.path, { ...api.params, ...range, format })} download>
      {range ? 'Logs of this time' : 'All logs'} as {format.toUpperCase()}
    </a>
  )
  return (
    <Popover class="button small" align="end" label={[<Icon name="download" />, 'Export']}>
      {(close) => (
        <>
          <button
            type="button"
            onClick={() => {
              close()
              download(fileOf(view), `flow-${correlationKey.replaceAll(/[^\w.-]/g, '_').slice(0, 64)}.svg`)
            }}
          >
            Drawing as SVG
          </button>
          {logs('ndjson')}
          {logs('csv')}
        </>
      )}
    </Popover>
  )
}

/** What is drawn on the page, with the rules that it is drawn by and their colours as they are now. */
function fileOf(view: FlowView): string {
  const { brief, rows, shown, utc } = view
  const { from, to } = shownOf(view)
  const colours = getComputedStyle(document.documentElement)
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map(({ cssText }) => cssText))
  const xml = (selector: string): string =>
    [...document.querySelectorAll(selector)].map((node) => new XMLSerializer().serializeToString(node)).join('')
  return svgText({
    title: brief.summary.correlationKey,
    subtitle: `${plural(shown.length, 'log')}, ${timeText(from, utc)} to ${timeText(to, utc)}; drawn ${timeText(systemClock.now(), utc)}`,
    rows,
    axis: xml('.flow-axis svg'),
    plot: xml('.flow-plot > svg'),
    idle: [...document.querySelectorAll<HTMLElement>('.flow-idle[aria-pressed=true]')].map(
      ({ offsetLeft, textContent }) => [offsetLeft, textContent ?? ''],
    ),
    width: document.querySelector('.flow-plot')?.clientWidth ?? 0,
    style: rules
      .filter((rule) => rule.startsWith('.flow-'))
      .join('\n')
      .replaceAll(/var\((--[\w-]+)\)/g, (_, name) => colours.getPropertyValue(name)),
  })
}

function download(text: string, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
