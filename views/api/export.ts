import type { OutgoingHttpHeaders } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ProblemError } from '../../shared/contract/errors.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import { type EntryFilter, type Flow, type Page, ReadNotBegunError } from '../../shared/log-store/log-store.ts'
import { awaitedSteps, createTextRemoval } from '../flow-layout/flow-log.ts'
import type { Entry } from '../schemas/answers.ts'
import type { Call, EntryCall, EntryStream, Stream, Tools } from './call.ts'
import { type CsvColumns, createCsvTable, csvColumnsOf } from './csv.ts'
import { filterOf } from './filter.ts'
import { stepsOf, summaryOf } from './flow-summary.ts'
import { flowSvg } from './flow-svg.ts'
import { flowEntries, flowOf } from './flows.ts'
import { itemOf } from './items.ts'
import { FORMATS, type Values } from './parameters.ts'
import { invalidParameters } from './problems.ts'
import { type Held, readForStream } from './read-gate.ts'
import { type RowField, withValues } from './row-values.ts'
import { drained } from './streams.ts'

/** Maximum number of entries per read of the store. */
const PAGE_ENTRIES = 500
/** Maximum number of entries in a drawing; the page draws as many. */
export const DRAWN_MAX = 5_000
const FLOW_KINDS: readonly EntryKind[] = ['event', 'application']
/** Characters gathered before a write. */
const CHUNK_CHARACTERS = 64 * 1024
/** Maximum length of a value inside a payload or scope data: Excel's limit for one cell. */
const VALUE_CHARACTERS_MAX = 32_767
/** How long a client may stall before the export is aborted. */
const STALL_MS = 60_000
/** How long a page is kept for a client that stalls; then it is read again once the client goes on. */
export const PAGE_KEPT_MS = 1_000

const CONTENT_TYPES: Readonly<Record<Values['format'], string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  svg: 'image/svg+xml; charset=utf-8',
}

/** The text of a file, item by item. */
interface Format {
  readonly head: string
  /** Values inside payloads or scope data that each item needs. */
  readonly fields: readonly RowField[]
  line(item: Entry): string
}

/** The entries of a file, its text, and the headers of the response. */
interface File extends Format {
  readonly filter: EntryFilter
  readonly order: 'asc' | 'desc'
  readonly headers: OutgoingHttpHeaders
}

/** The response headers of an export of entries. */
export const entriesHeaders = (call: EntryCall, tools: Tools): OutgoingHttpHeaders =>
  headersOf(`${call.kind}-logs`, call, tools)

/** The response headers of an export of a flow. */
export const flowHeaders = (call: Call, tools: Tools): OutgoingHttpHeaders =>
  headersOf(`flow-${(call.values.key ?? call.subject).replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 64)}`, call, tools)

function headersOf(name: string, { values: { format } }: Call, { clock }: Tools): OutgoingHttpHeaders {
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return {
    'content-type': CONTENT_TYPES[format],
    'content-disposition': `attachment; filename="${name}-${time}.${format}"`,
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
  }
}

const CSV_ALONE = 'belongs to format=csv; leave it out, or ask for that format'

/** All entries of one kind that the parameters select, newest first by default. */
export const exportEntries: EntryStream = (call, tools) => {
  const { kind } = call
  const filter = filterOf(call)
  const { format, order, columns } = call.values
  if (format === 'svg') throw invalidParameters([{ path: 'format', message: FORMATS }])
  if (columns !== null && format !== 'csv') throw invalidParameters([{ path: 'columns', message: CSV_ALONE }])
  const chosen = columns === null ? undefined : csvColumnsOf(kind, columns)
  const headers = entriesHeaders(call, tools)
  return send(call, tools, { ...formatOf(format, [kind], chosen), filter, order: order ?? 'desc', headers })
}

/** A flow's entries of both kinds that the parameters select, oldest first by default; or a drawing of them. */
export const exportFlow: Stream = async (call, tools) => {
  const { format, order } = call.values
  const { result: flow, release } = await readForStream(call, tools, (signal) => flowOf({ ...call, signal }, tools))
  release()
  if (format === 'svg') return sendDrawing(call, tools, flow)
  const file = { ...formatOf(format, FLOW_KINDS), filter: flowEntries(call), order: order ?? 'asc' }
  return send(call, tools, { ...file, headers: flowHeaders(call, tools) })
}

async function sendDrawing(call: Call, tools: Tools, flow: Flow): Promise<void> {
  const { names, response } = call
  const signal = tools.streams.exports.open(call.team, response)
  const filter = flowEntries(call)
  const entries: Entry[] = []
  const withoutTexts = createTextRemoval()
  let next: Page['next'] = null
  do {
    const held: Held<Page> = await readForStream(call, tools, (one) => {
      const limit = Math.min(PAGE_ENTRIES, DRAWN_MAX - entries.length)
      return tools.store.search(filter, { limit, order: 'asc', after: next, form: 'row' }, one)
    })
    // The gate accounts for one page, so what is kept of the earlier ones has to be small.
    entries.push(...held.result.entries.map((entry) => withoutTexts(itemOf(entry, names))))
    next = held.result.next
    held.release()
    if (signal.aborted) return void response.destroy()
  } while (next !== null && entries.length < DRAWN_MAX)
  const now = tools.clock.now()
  const steps = stepsOf(flow, names)
  // Whether it failed does not depend on how long flows wait.
  const nextSteps = awaitedSteps(summaryOf(flow, names, now, new Map()))
  const text = flowSvg({ correlationKey: flow.correlationKey, entries, more: next !== null, steps, nextSteps, now })
  response.writeHead(200, flowHeaders(call, tools))
  response.end(text)
}

/** Each page is read once the previous one has been sent, and its memory is held while it is sent itself. */
async function send(call: Call, tools: Tools, file: File): Promise<void> {
  const { filter, order, headers } = file
  const { team, response, names } = call
  const { store } = tools
  const signal = tools.streams.exports.open(team, response)
  const read = (after: Page['next']): Promise<Held<Page>> =>
    readForStream(call, tools, (one) => store.search(filter, { limit: PAGE_ENTRIES, order, after }, one))
  let chunk = file.head
  /**
   * Reads a page and sends it, or its beginning to a client that stalls: together these would hold the memory of all streams. Returns where
   * to go on. A function of its own, as a loop would keep the page while it waits.
   */
  const sendPage = async (readPage: () => Promise<Held<Page>>): Promise<Page['next']> => {
    const { result: page, release } = await readPage()
    try {
      if (!response.headersSent) response.writeHead(200, headers)
      for (const entry of page.entries) {
        // One entry at a time: the values of a whole page would be memory that the gate does not account for.
        const [row = entry] = await withValues([entry], file.fields, { store, team, signal }, VALUE_CHARACTERS_MAX)
        chunk += file.line(itemOf(row, names))
        if (chunk.length < CHUNK_CHARACTERS) continue
        response.write(chunk)
        chunk = ''
        // Yields: otherwise a fast client would keep the thread busy for a whole page.
        await nextTurn()
        if (!(await drained(response, signal, PAGE_KEPT_MS))) return { timestamp: entry.timestamp, id: entry.id }
      }
      return page.next
    } finally {
      release()
    }
  }
  let next = await sendPage(() => read(null))
  for (;;) {
    if (!(await drained(response, signal, STALL_MS))) throw new Error('the reader of an export takes nothing')
    if (next === null) break
    const after = next
    next = await sendPage(() => readPatiently(() => read(after), signal))
  }
  response.write(chunk)
  // A truncated export is destroyed, not ended, so that the client cannot mistake it for the whole.
  if (signal.aborted) response.destroy()
  else response.end()
}

/** How long one page may wait behind other reads. */
const PATIENCE_MS = 60_000

/** Reads a page of a running export. It retries while other reads are ahead, because the client cannot repeat the request for one page. */
async function readPatiently<Result>(read: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!hasWaited(error) || patience.aborted || signal.aborted) throw error
    }
  }
}

/** Whether a read timed out before its turn came. */
const hasWaited = (error: unknown): boolean =>
  error instanceof ReadNotBegunError || (error instanceof ProblemError && error.problem.code === 'rate_limited')

const NDJSON: Format = { head: '', fields: [], line: (item) => `${JSON.stringify(item)}\n` }

const formatOf = (format: 'ndjson' | 'csv', kinds: readonly EntryKind[], chosen?: CsvColumns): Format =>
  format === 'csv' ? { fields: chosen?.fields ?? [], ...createCsvTable(kinds, chosen) } : NDJSON
