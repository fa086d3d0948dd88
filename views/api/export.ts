import type { EntryKind } from '../../shared/contract/records.ts'
import type { EntryFilter, Page } from '../../shared/log-store/log-store.ts'
import type { Call, Stream, Tools } from './call.ts'
import { createCsvTable } from './csv.ts'
import { drained } from './drain.ts'
import { entryFilter } from './filter.ts'
import { flowEntries, flowOf } from './flows.ts'
import { type EntryItem, itemOf } from './items.ts'

/** Most entries read from the store at a time. */
const PAGE_ENTRIES = 500
/** Characters gathered before a write. */
const CHUNK_CHARACTERS = 64 * 1024
/** Longest time that a reader may take nothing before the export is cut. */
const STALL_MS = 60_000

interface Format {
  readonly contentType: string
  readonly head: string
  line(item: EntryItem): string
}

interface Selection {
  /** First part of the file's name. */
  readonly name: string
  readonly kinds: readonly EntryKind[]
  readonly filter: EntryFilter
  readonly order: 'asc' | 'desc'
}

/** All entries of one kind that the parameters select, newest first unless told otherwise. */
export const exportEntries =
  (kind: EntryKind): Stream =>
  (call, tools) => {
    const { filter } = entryFilter(call.team, [kind], call.values)
    const order = call.values.order ?? 'desc'
    return send(call, tools, { name: `${kind}-logs`, kinds: [kind], filter, order })
  }

/** A flow's entries of both kinds that the parameters select, oldest first unless told otherwise. */
export const exportFlow: Stream = async (call, tools) => {
  const { correlationKey } = await flowOf(call, tools)
  const name = `flow-${correlationKey.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 64)}`
  const order = call.values.order ?? 'asc'
  return send(call, tools, { name, kinds: ['event', 'application'], filter: flowEntries(call), order })
}

async function send(call: Call, tools: Tools, selection: Selection): Promise<void> {
  const { request, response, values } = call
  const signal = tools.streams.exports.open(call.team, response)
  const format = formatOf(values.format, selection.kinds)
  const { filter, order } = selection
  const read = (after: Page['next']): Promise<Page> => tools.store.search(filter, { limit: PAGE_ENTRIES, order, after })
  const first = request.method === 'HEAD' ? undefined : await read(null)
  response.writeHead(200, {
    'content-type': format.contentType,
    'content-disposition': `attachment; filename="${fileName(selection.name, values.format, tools.clock.now())}"`,
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
  })
  if (first !== undefined) await sendPages(call, first, read, format, signal)
  // What was cut short is destroyed, not ended, so that its reader cannot take it for the whole.
  if (signal.aborted) response.destroy()
  else response.end()
}

async function sendPages(
  { response, names }: Call,
  first: Page,
  read: (after: Page['next']) => Promise<Page>,
  format: Format,
  signal: AbortSignal,
): Promise<void> {
  let chunk = format.head
  const flush = async (): Promise<void> => {
    response.write(chunk)
    chunk = ''
    if (!(await drained(response, signal, STALL_MS))) throw new Error('the reader of an export takes nothing')
  }
  for (let page = first; ; page = await read(page.next)) {
    for (const entry of page.entries) {
      chunk += format.line(itemOf(entry, names))
      if (chunk.length >= CHUNK_CHARACTERS) await flush()
    }
    if (page.next === null) break
  }
  if (chunk !== '') await flush()
}

function formatOf(format: 'ndjson' | 'csv', kinds: readonly EntryKind[]): Format {
  switch (format) {
    case 'ndjson':
      return {
        contentType: 'application/x-ndjson; charset=utf-8',
        head: '',
        line: (item) => `${JSON.stringify(item)}\n`,
      }
    case 'csv':
      return { contentType: 'text/csv; charset=utf-8; header=present', ...createCsvTable(kinds) }
  }
}

function fileName(name: string, extension: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${name}-${time}.${extension}`
}
