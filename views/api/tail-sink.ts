import type { TailCursor, TailPage } from '../../shared/log-store/log-store.ts'
import type { Call, TailSettings } from './call.ts'
import { encodeTailCursor } from './cursor.ts'
import { drained } from './drain.ts'
import { itemOf } from './items.ts'

/** The reconnection time sent to clients. */
const RECONNECT_MS = 1_000

/** Writes a tail to its client as server-sent events, and buffers no more for a slow client than the settings allow. */
export interface TailSink {
  /** Sends the position to resume from, so that a stream that breaks before its first entry misses none. */
  begin(cursor: TailCursor): void
  /** Sends entries, or counts them while the client is too slow; once it has caught up, it is told how many were skipped. */
  send(page: TailPage): Promise<void>
  /** Breaks a long silence and advances the resume position past entries that did not match. */
  keepAlive(cursor: TailCursor): void
}

export function createTailSink(
  { response, names }: Pick<Call, 'response' | 'names'>,
  { heartbeatMs, bufferedBytesMax, patienceMs }: TailSettings,
  signal: AbortSignal,
): TailSink {
  let skipped = 0
  let wroteAtMs = performance.now()
  const write = (text: string): void => {
    response.write(text)
    wroteAtMs = performance.now()
  }
  const event = (name: string, cursor: TailCursor, data: unknown): void =>
    write(`id: ${encodeTailCursor(cursor)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  const hasRoom = async (): Promise<boolean> =>
    response.writableLength <= bufferedBytesMax || drained(response, signal, patienceMs)

  return {
    begin: (cursor) => write(`retry: ${RECONNECT_MS}\nid: ${encodeTailCursor(cursor)}\n\n`),
    send: async (page) => {
      for (const { entry, cursor } of page.entries) {
        if (skipped === 0 && (await hasRoom())) event('entry', cursor, itemOf(entry, names))
        else skipped += 1
        if (signal.aborted) return
      }
      if (skipped === 0 || response.writableNeedDrain) return
      event('skipped', page.cursor, { count: skipped })
      skipped = 0
    },
    keepAlive: (cursor) => {
      const silent = performance.now() - wroteAtMs >= heartbeatMs
      if (silent && skipped === 0 && !response.writableNeedDrain)
        write(`: still here\nid: ${encodeTailCursor(cursor)}\n\n`)
    },
  }
}
