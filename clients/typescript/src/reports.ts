import type { Problem } from './answer.ts'
import type { Retry } from './sender.ts'
import { later } from './times.ts'

/** An entry that the server refused, with the reason in its words. */
export interface Refused extends Problem {
  /** Its place in the batch, from 0. */
  readonly index: number
  /** The entry as it was sent. */
  readonly entry: unknown
}

/** Entries that the client has given up. */
export interface Dropped {
  readonly count: number
  /**
   * `refused`: by the server, for good. `full`: there was no room for more. `unserialisable`: no JSON could be made of it. `closed`: it
   * was not settled when the client or the process ended, or came later; of these some may be stored.
   */
  readonly reason: 'refused' | 'full' | 'unserialisable' | 'closed'
  /** A sentence that tells the change to make. */
  readonly message: string
  /** The server's code where it refused the whole request or its first entry, such as `invalid_api_key`; else null. */
  readonly code: string | null
  /** The refused entries; of one answer the first 100. */
  readonly refused: readonly Refused[]
}

export interface ReportOptions {
  /** Told of entries that were dropped; where it is left out, they are counted in a line on the console, at most one a minute. */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined
  /** Told of attempts that failed and are made again; where it is left out, a line on the console says so after the third in a row. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

export interface Reports {
  dropped(dropped: Dropped): void
  /** One entry was dropped here; those of a second with the same reason are reported together. */
  droppedOne(reason: Dropped['reason'], message: string): void
  /** Reports what waits to be reported. */
  flush(): void
  retried(retry: Retry): void
}

/** How long drops of single entries are gathered: there may be as many as there are logs. */
const GATHERED_MS = 1_000
const CONSOLE_PAUSE_MS = 60_000
const QUIET_FAILURES = 2

export function createReports(options: ReportOptions): Reports {
  const warn = createWarn()
  const onDropped = options.onDropped ?? ((dropped) => warn(dropped.count, textOf(dropped)))
  const onRetry =
    options.onRetry ?? ((retry) => retry.failures > QUIET_FAILURES && warn(0, `cannot send: ${retry.cause}`))
  const gathered = new Map<Dropped['reason'], { count: number; message: string }>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const reports = [...gathered]
    gathered.clear()
    for (const [reason, { count, message }] of reports) dropped({ count, reason, message, code: null, refused: [] })
  }

  const dropped = (report: Dropped): void => quietly(() => onDropped(report))

  return {
    dropped,
    droppedOne: (reason, message) => {
      gathered.set(reason, { count: (gathered.get(reason)?.count ?? 0) + 1, message })
      timer ??= later(flush, GATHERED_MS)
    },
    flush,
    retried: (retry) => quietly(() => onRetry(retry)),
  }
}

/** An error of a callback is not ours, and must not end what called it. */
function quietly(call: () => void): void {
  try {
    call()
  } catch {
    // There is nobody to tell.
  }
}

const textOf = ({ count, reason, message }: Dropped): string => `dropped ${count} (${reason}): ${message}`

/** Writes to the console, but not more often than once a minute; what was dropped in between is counted in the next line. */
function createWarn(): (dropped: number, text: string) => void {
  let quietUntil = 0
  let untold = 0
  return (dropped, text) => {
    if (performance.now() < quietUntil) {
      untold += dropped
      return
    }
    quietUntil = performance.now() + CONSOLE_PAUSE_MS
    // biome-ignore lint/suspicious/noConsole: the only place where an application without callbacks would see it.
    console.warn(`sluice-client: ${text}${untold === 0 ? '' : ` (and ${untold} before)`}`)
    untold = 0
  }
}
