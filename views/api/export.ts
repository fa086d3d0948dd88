import type { EntryKind, EntryRecord } from '../../shared/contract/records.ts'
import type { EntryFilter, Flow, Page } from '../../shared/log-store/log-store.ts'
import type { Entry } from '../flow-layout/types.ts'
import type { Call, Stream, Tools } from './call.ts'
import { createCsvTable } from './csv.ts'
import { drained } from './drain.ts'
import { entryFilter } from './filter.ts'
import { stepsOf, summaryOf } from './flow-summary.ts'
import { flowSvg } from './flow-svg.ts'
import { flowEntries, flowOf } from './flows.ts'
import { itemOf } from './items.ts'
import { FORMATS } from './parameters.ts'
import { invalidParameters } from './problems.ts'

/** Most entries read from the store at a time. */
const PAGE_ENTRIES = 500
/** Most entries of a drawing, as many as the page draws. */
const DRAWN_MAX = 5_000
/** No more is read for a drawing once its entries have so many characters: they are all in memory until it is drawn. */
const DRAWN_CHARACTERS_MAX = 64 * 1024 * 1024
/** Characters gathered before a write. */
const CHUNK_CHARACTERS = 64 * 1024
/** Longest time that a reader may take nothing before the export is cut. */
const STALL_MS = 60_000

interface Format {
  readonly contentType: string
  readonly head: string
  line(item: Entry): string
}

interface Selection {
  /** First part of the file's name. */
  readonly name: string
  readonly filter: EntryFilter
  readonly order: 'asc' | 'desc'
}

/** All entries of one kind that the parameters select, newest first unless told otherwise. */
export const exportEntries =
  (kind: EntryKind): Stream =>
  (call, tools) => {
    const { filter } = entryFilter(call.team, [kind], call.values)
    const { format, order } = call.values
    if (format === 'svg') throw invalidParameters([{ path: 'format', message: FORMATS }])
    return send(call, tools, formatOf(format, [kind]), { name: `${kind}-logs`, filter, order: order ?? 'desc' })
  }

/** A flow's entries of both kinds that the parameters select, oldest first unless told otherwise; or a drawing of them. */
export const exportFlow: Stream = async (call, tools) => {
  const flow = await flowOf(call, tools)
  const { format, order } = call.values
  const name = `flow-${flow.correlationKey.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 64)}`
  if (format === 'svg') return sendDrawing(call, tools, flow, name)
  const selection = { name, filter: flowEntries(call), order: order ?? 'asc' } as const
  return send(call, tools, formatOf(format, ['event', 'application']), selection)
}

async function sendDrawing(call: Call, tools: Tools, flow: Flow, name: string): Promise<void> {
  const { team, names, request, response } = call
  const signal = tools.streams.exports.open(team, response)
  const entries: Entry[] = []
  let characters = 0
  let next: Page['next'] = null
  do {
    const limit = Math.min(PAGE_ENTRIES, DRAWN_MAX - entries.length)
    const page = await tools.store.search(flowEntries(call), { limit, order: 'asc', after: next })
    if (signal.aborted) return void response.destroy()
    entries.push(...page.entries.map((entry) => itemOf(entry, names)))
    characters += page.entries.reduce((sum, entry) => sum + charactersOf(entry), 0)
    next = page.next
  } while (next !== null && entries.length < DRAWN_MAX && characters < DRAWN_CHARACTERS_MAX)
  const now = tools.clock.now()
  const { correlationKey, nextSteps } = summaryOf(flow, names, now)
  const steps = stepsOf(flow, names)
  const text = flowSvg({ correlationKey, entries, more: next !== null, steps, nextSteps, now })
  answerHead(call, tools, 'image/svg+xml; charset=utf-8', name)
  response.end(request.method === 'HEAD' ? undefined : text)
}

/** Of what can be long in an entry; the rest is bounded. */
const charactersOf = (entry: EntryRecord): number =>
  entry.kind === 'event'
    ? entry.payload.length
    : entry.message.length + (entry.exception?.length ?? 0) + JSON.stringify(entry.scopeData).length

async function send(call: Call, tools: Tools, format: Format, selection: Selection): Promise<void> {
  const { request, response } = call
  const signal = tools.streams.exports.open(call.team, response)
  const { filter, order } = selection
  const read = (after: Page['next']): Promise<Page> => tools.store.search(filter, { limit: PAGE_ENTRIES, order, after })
  const first = request.method === 'HEAD' ? undefined : await read(null)
  answerHead(call, tools, format.contentType, selection.name)
  if (first !== undefined) await sendPages(call, first, read, format, signal)
  // What was cut short is destroyed, not ended, so that its reader cannot take it for the whole.
  if (signal.aborted) response.destroy()
  else response.end()
}

function answerHead({ response, values }: Call, { clock }: Tools, contentType: string, name: string): void {
  response.writeHead(200, {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${fileName(name, values.format, clock.now())}"`,
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
  })
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
