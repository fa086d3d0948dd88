import type { OutgoingHttpHeaders } from 'node:http'
import type { EntryFilter, LogStoreReader, TailCursor, TailPage } from '../../shared/log-store/log-store.ts'
import { pause } from '../../shared/runtime/waiting.ts'
import type { Call, EntryStream, Stream, TailSettings, Tools } from './call.ts'
import { decodeTailCursor, encodeTailCursor } from './cursor.ts'
import { filterOf } from './filter.ts'
import { flowEntries } from './flows.ts'
import { itemOf } from './items.ts'
import { type Held, readForStream } from './read-gate.ts'
import { withValues } from './row-values.ts'
import { drained } from './streams.ts'

export const TAIL_DEFAULTS: TailSettings = {
  pollMs: 500,
  retryMs: 5_000,
  heartbeatMs: 15_000,
  bufferedBytesMax: 256 * 1024,
  patienceMs: 5_000,
}

/** The reconnection time sent to clients. */
const RECONNECT_MS = 1_000

/** Maximum number of entries per poll of the store. */
const PAGE_ENTRIES = 100

export const tailHeaders = (): OutgoingHttpHeaders => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-content-type-options': 'nosniff',
  // Asks nginx and similar proxies not to buffer the stream.
  'x-accel-buffering': 'no',
})

/** Entries of one kind as they become visible, as server-sent events. */
export const tailEntries: EntryStream = (call, tools) => tail(call, tools, filterOf(call))

/** One flow's entries of both kinds as they become visible; the flow need not exist yet. */
export const tailFlow: Stream = (call, tools) => tail(call, tools, flowEntries(call))

async function tail(call: Call, tools: Tools, filter: EntryFilter): Promise<void> {
  const { request, response, values } = call
  // EventSource reconnects with its original URL, so the header is newer than the parameter.
  const lastEventId = request.headers['last-event-id']
  const after = decodeTailCursor(
    typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : values.lastEventId,
  )
  const signal = tools.streams.tails.open(call.team, response)
  await follow(call, tools, filter, after, signal)
  response.end()
}

/** The page with the requested values; it may end early because of them. */
async function withTailValues(
  page: TailPage,
  { team, values, signal }: Call,
  store: LogStoreReader,
): Promise<TailPage> {
  const rows = page.entries.map(({ entry }) => entry)
  const valued = await withValues(rows, values.fields, { store, team, signal })
  const entries = page.entries
    .slice(0, valued.length)
    .map((one, index) => ({ ...one, entry: valued[index] ?? one.entry }))
  const isWhole = entries.length === rows.length
  return isWhole ? { ...page, entries } : { entries, cursor: entries.at(-1)?.cursor ?? page.cursor, more: true }
}

/** Sends page after page until the client disconnects, the service stops or the key is revoked. */
async function follow(
  call: Call,
  tools: Tools,
  filter: EntryFilter,
  after: TailCursor | null,
  signal: AbortSignal,
): Promise<void> {
  const { tail: settings, logger, store } = tools
  const { response, team } = call
  const sink = createTailSink(call, settings, signal)
  let failing = false
  const isOver = (): boolean => signal.aborted || !call.stillAuthorised()
  const mayRead = (from: TailCursor | null): Promise<Held<TailPage> | undefined> =>
    readForStream(call, tools, async (one) =>
      withTailValues(await store.tail(filter, from, PAGE_ENTRIES, one), { ...call, signal: one }, store),
    ).catch((err: unknown) => {
      // Closing the stream would be final: EventSource does not reconnect after a response other than 200.
      if (!response.headersSent) throw err
      if (!failing && !isOver()) logger.warn({ err, team }, 'a tail cannot read the log store and will try again')
      failing = true
      return undefined
    })
  /** Reads and sends what comes after a place; returns where to go on. A function of its own, as a loop would keep the page while it waits. */
  const sendNext = async (from: TailCursor | null): Promise<{ readonly cursor: TailCursor; readonly wait: Wait }> => {
    const held = await mayRead(from)
    if (held === undefined) return { cursor: from ?? '', wait: 'retry' }
    failing = false
    const { result: page, release } = held
    if (!response.headersSent) {
      response.writeHead(200, tailHeaders())
      sink.begin(from ?? page.cursor)
    }
    const cursor = sink.send(page)
    release()
    return { cursor, wait: cursor !== page.cursor ? 'room' : page.more ? 'none' : 'poll' }
  }
  for (let sent = await sendNext(after); ; sent = await sendNext(sent.cursor)) {
    sink.keepAlive(sent.cursor)
    if (sent.wait === 'room') await sink.room()
    else if (sent.wait !== 'none' && !isOver())
      await pause(sent.wait === 'retry' ? settings.retryMs : settings.pollMs, signal)
    if (isOver()) return
  }
}

/** The next step of a tail after a page: to wait for another attempt, for its reader or for more arrivals, or to go on at once. */
type Wait = 'retry' | 'room' | 'poll' | 'none'

/** Writes a tail to its client as server-sent events, and buffers no more for a slow client than the settings allow. */
export function createTailSink(
  { response, names }: Pick<Call, 'response' | 'names'>,
  { heartbeatMs, bufferedBytesMax, patienceMs }: TailSettings,
  signal: AbortSignal,
) {
  let isSkipping = false
  let skipped = 0
  let wroteAtMs = performance.now()
  const write = (text: string): void => {
    response.write(text)
    wroteAtMs = performance.now()
  }
  const event = (name: string, cursor: TailCursor, data: unknown): void =>
    write(`id: ${encodeTailCursor(cursor)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

  return {
    /** Sends the position to resume from, so that a stream that breaks before its first entry misses none. */
    begin: (cursor: TailCursor): void => write(`retry: ${RECONNECT_MS}\nid: ${encodeTailCursor(cursor)}\n\n`),
    /**
     * Sends a page, or its beginning if the client has to catch up; returns where to go on. While the client is too slow, entries are counted;
     * once it has caught up, it is told how many were skipped.
     */
    send: (page: TailPage): TailCursor => {
      if (isSkipping) skipped += page.entries.length
      else
        for (const { entry, cursor } of page.entries) {
          event('entry', cursor, itemOf(entry, names))
          if (response.writableLength > bufferedBytesMax) return cursor
        }
      if (!isSkipping || response.writableNeedDrain) return page.cursor
      if (skipped > 0) event('skipped', page.cursor, { count: skipped })
      isSkipping = false
      skipped = 0
      return page.cursor
    },
    /** Waits until the client has caught up; if that takes too long, its next entries are skipped. */
    room: async (): Promise<void> => {
      isSkipping = !(await drained(response, signal, patienceMs))
    },
    /** Breaks a long silence and advances the resume position past entries that did not match. */
    keepAlive: (cursor: TailCursor): void => {
      const silent = performance.now() - wroteAtMs >= heartbeatMs
      if (silent && !isSkipping && !response.writableNeedDrain)
        write(`: still here\nid: ${encodeTailCursor(cursor)}\n\n`)
    },
  }
}
