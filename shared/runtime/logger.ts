import { destination, type Logger, pino } from 'pino'

export type { Logger }

/** Maximum bytes of lines that wait to be written; further lines are dropped. */
const WAITING_BYTES_MAX = 1024 * 1024

/** Tries to write, 100 ms apart, to a reader that takes nothing; after these, the next line tries again. */
const TRIES_MAX = 10

/**
 * Standard output. If it is a file on a disk that is full, a server that refuses entries for that reason has to go on, and so it has if the
 * reader stands still: lines wait, and the next line tries again. The process ends without those that still cannot be written.
 */
function openOutput(): ReturnType<typeof destination> {
  let tries = 0
  const retryEAGAIN = (): boolean => {
    tries += 1
    return tries < TRIES_MAX
  }
  const opened = destination({ dest: 1, maxLength: WAITING_BYTES_MAX, retryEAGAIN })
  opened.on('error', () => undefined)
  opened.on('write', () => {
    tries = 0
  })
  // Pino's own listener, which would try for ever, leaves a destination alone that was let go.
  process.prependListener('exit', () => opened.destroy())
  return opened
}

let output: ReturnType<typeof destination> | undefined

/** JSON lines on standard output: `logger.info({ facts }, 'lower-case message')`. Nothing logs a line per entry. */
export function createLogger(level: string, role: string): Logger {
  output ??= openOutput()
  const options = {
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: ['apiKey', '*.apiKey', 'password', '*.password', 'headers["x-api-key"]', 'headers.authorization'],
      censor: '[redacted]',
    },
  }
  return pino(options, output)
}
