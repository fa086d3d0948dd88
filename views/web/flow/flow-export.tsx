import { urlOf } from '../api/client.ts'
import { iso } from '../lib/times.ts'
import { Icon } from '../ui/icon.tsx'
import { Popover } from '../ui/popover.tsx'
import { apiOf } from './flow-address.ts'
import type { FlowView } from './use-flow-view.ts'

/** The flow as files: a drawing, and its logs as they were stored. */
export function FlowExport({ view: { window, params, brief } }: { readonly view: FlowView }) {
  const api = apiOf(brief.summary.correlationKey, '/export')
  // The API's range is of the time that was written.
  const range = window &&
    params['order'] !== 'received' && { from: iso(window.from), to: iso(Math.ceil(window.to) + 1) }
  return (
    <Popover class="button small" align="end" label={[<Icon name="download" />, 'Export']}>
      {() =>
        ['SVG', 'NDJSON', 'CSV'].map((format, index) => (
          <a key={format} href={urlOf(api.path, { ...api.params, ...range, format })} download>
            {index ? (range ? 'Logs of this time' : 'All logs') : 'Drawing'} as {format}
          </a>
        ))
      }
    </Popover>
  )
}
