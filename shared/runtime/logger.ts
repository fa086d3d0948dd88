import { type Logger, pino } from 'pino'

export type { Logger }

/** JSON lines on standard output: `logger.info({ facts }, 'lower-case message')`. Nothing logs a line per entry. */
export function createLogger(level: string, role: string): Logger {
  return pino({
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['apiKey', '*.apiKey', 'password', '*.password', 'headers["x-api-key"]', 'headers.authorization'],
      censor: '[redacted]',
    },
  })
}
