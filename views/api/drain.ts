import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Waits until the reader has taken what was written; false where it has not within the time, or the signal aborted. */
export async function drained(response: ServerResponse, signal: AbortSignal, withinMs: number): Promise<boolean> {
  if (!response.writableNeedDrain) return !signal.aborted
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]) })
    return true
  } catch {
    return false
  }
}
