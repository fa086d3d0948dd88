import type { Problem } from './answer.ts'
import type { Retry } from './sender.ts'
import { later } from './times.ts'

/** An entry that the server refused, with the server's reason. */
export interface Refused extends Problem {
  /** Its index in the batch, from 0. */
  readonly index: number
  /** The entry as sent. */
  readonly entry: unknown
}

/** Entries that the client has given up on. */
export interface Dropped {
  readonly count: number
  /**
   * `refused`: refused by the server for good. `full`: no room in the buffer. `unserialisable`: not convertible to JSON. `closed`: not
   * settled when the client or the process ended, or logged later; some of these may be stored.
   */
  readonly reason: 'refused' | 'full' | 'unserialisable' | 'closed'
  /** A sentence that says what to change. */
  readonly message: string
  /** The server's code if it refused the whole request or its first entry, such as `invalid_api_key`; else null. */
  readonly code: string | null
  /** The refused entries; up to 100 per response. */
  readonly refused: readonly Refused[]
}

export interface ReportOptions {
  /** Called for dropped entries; by default they are counted in a console warning, at most once a minute and at the end. */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined
  /** Called for failed attempts that will be repeated; by default a console warning after the third in a row. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

export interface Reports {
  dropped(dropped: Dropped): void
  /** Records one entry dropped by the client; those within a second and with the same reason are reported together. */
  droppedOne(reason: Dropped['reason'], message: string): void
  /** Sends pending reports. */
  flush(): void
  /** Sends pending reports, also those that the console has not been told of: the process may end. */
  end(): void
  retried(retry: Retry): void
}

/** How long dropped single entries are collected into one report: there may be as many as there are logs. */
const GATHERED_MS = 1_000
const CONSOLE_PAUSE_MS = 60_000
const QUIET_FAILURES = 2

/** `write` shows a line to a user of an application without callbacks. */
export function createReports(options: ReportOptions, write: (line: string) => void): Reports {
  const { process } = globalThis as { process?: NodeJS.Process }
  const shown = createConsole(write)
  const onDropped =
    options.onDropped ?? (({ count, reason, message }) => shown.warn(count, `dropped ${count} (${reason}): ${message}`))
  const onRetry =
    options.onRetry ?? ((retry) => retry.failures > QUIET_FAILURES && shown.warn(0, `cannot send: ${retry.cause}`))
  const gathered = new Map<Dropped['reason'], { count: number; message: string }>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    process?.off?.('exit', end)
    const reports = [...gathered]
    gathered.clear()
    for (const [reason, { count, message }] of reports) dropped({ count, reason, message, code: null, refused: [] })
  }

  function end(): void {
    flush()
    shown.end()
  }

  const dropped = (report: Dropped): void => quietly(() => onDropped(report))

  return {
    dropped,
    droppedOne: (reason, message) => {
      gathered.set(reason, { count: (gathered.get(reason)?.count ?? 0) + 1, message })
      if (timer !== undefined) return
      timer = later(flush, GATHERED_MS)
      // A client that is closed watches for the end no more, but may be logged to.
      process?.once?.('exit', end)
    },
    flush,
    end,
    retried: (retry) => quietly(() => onRetry(retry)),
  }
}

/** Errors of a callback belong to the application, and must not break the client; there is nobody to report them to. */
const quietly = (call: () => unknown): void => void (async () => call())().catch(() => undefined)

interface Console {
  /** Warns at most once a minute; entries dropped in between are counted in the next warning. */
  warn(dropped: number, text: string): void
  /** Warns of the entries dropped since the last warning, if any. */
  end(): void
}

function createConsole(write: (line: string) => void): Console {
  let quietUntil = 0
  let newest: { readonly dropped: number; readonly text: string } | undefined
  let before = 0

  function end(): void {
    if (newest === undefined) return
    write(`sluice-client: ${newest.text}${before === 0 ? '' : ` (and ${before} before)`}`)
    newest = undefined
    before = 0
  }

  return {
    warn: (dropped, text) => {
      const isQuiet = performance.now() < quietUntil
      if (isQuiet && dropped === 0) return
      before += newest?.dropped ?? 0
      newest = { dropped, text }
      if (isQuiet) return
      quietUntil = performance.now() + CONSOLE_PAUSE_MS
      end()
    },
    end,
  }
}
