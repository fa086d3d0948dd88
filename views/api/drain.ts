import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Waits until the response's write buffer has drained; false on timeout or when the signal aborts. */
export async function drained(response: ServerResponse, signal: AbortSignal, withinMs: number): Promise<boolean> {
  if (!response.writableNeedDrain) return !signal.aborted
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]) })
    return true
  } catch {
    return false
  }
}
