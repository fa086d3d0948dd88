import type { ServerResponse } from 'node:http'
import { unavailable } from './problems.ts'

/** Most tails and exports that one Team may have open in one process: each holds a connection and reads the store on. */
export const TAILS_PER_TEAM_MAX = 50
export const EXPORTS_PER_TEAM_MAX = 5

export interface Streams {
  readonly tails: StreamGroup
  readonly exports: StreamGroup
}

export interface StreamGroup {
  /**
   * Counts a stream from now until its response closes. The signal aborts when the client goes or the group is closed. Throws
   * `server_error` where the Team has its most open, or the group is closed.
   */
  open(team: string, response: ServerResponse): AbortSignal
  /** Ends every stream and takes no more. */
  close(): void
}

/** The open streams of a process; `onTails` is told how many tails there are whenever that changes. */
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
      const controller = new AbortController()
      // A response that closed before it was counted never says so again.
      if (response.closed) controller.abort()
      if (response.closed) return controller.signal
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
