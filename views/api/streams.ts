import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { unavailable } from './problems.ts'

/** Maximum number of open tails and exports per Team and process: each holds a connection and keeps reading the store. */
export const TAILS_PER_TEAM_MAX = 50
export const EXPORTS_PER_TEAM_MAX = 5

export interface Streams {
  readonly tails: StreamGroup
  readonly exports: StreamGroup
}

interface StreamGroup {
  /**
   * Counts a stream until its response closes. The signal aborts when the client disconnects or the group is closed. Throws `server_error`
   * when the Team has reached its limit, or the group is closed.
   */
  open(team: string, response: ServerResponse): AbortSignal
  /** Ends every stream and accepts no more. */
  close(): void
}

/** The open streams of a process; `onTails` receives the number of open tails whenever it changes. */
export const createStreams = (onTails: (open: number) => void): Streams => ({
  tails: createStreamGroup('tails', TAILS_PER_TEAM_MAX, onTails),
  exports: createStreamGroup('exports', EXPORTS_PER_TEAM_MAX, () => {}),
})

function createStreamGroup(what: string, perTeamMax: number, onChange: (open: number) => void): StreamGroup {
  const open = new Map<AbortController, string>()
  let closed = false

  return {
    open: (team, response) => {
      if (closed) throw unavailable('The service is shutting down.')
      const own = [...open.values()].filter((one) => one === team).length
      if (own >= perTeamMax) throw unavailable(`The Team has ${perTeamMax} ${what} open, the most there may be.`)
      // A response that is already closed emits no further `close` event.
      if (response.closed) return AbortSignal.abort()
      const controller = new AbortController()
      open.set(controller, team)
      onChange(open.size)
      response.once('close', () => {
        controller.abort()
        open.delete(controller)
        onChange(open.size)
      })
      return controller.signal
    },
    close: () => {
      closed = true
      for (const controller of open.keys()) controller.abort()
    },
  }
}

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
