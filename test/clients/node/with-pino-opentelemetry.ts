import pino from 'pino'
import { write } from './entries.ts'

const transport = pino.transport({
  target: 'pino-opentelemetry-transport',
  options: { loggerName: 'shop.checkout', serviceVersion: '1.0.0' },
})
const logger = pino({ level: 'trace' }, transport)

await write(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'error', (level, { message, attributes, error }) => {
  logger[level as pino.Level]({ ...attributes, ...(error !== undefined && { err: error }) }, message)
})
