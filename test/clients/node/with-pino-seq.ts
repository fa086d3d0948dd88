import pino from 'pino'
import { createStream } from 'pino-seq'
import { write } from './entries.ts'

const { BASE_URL, KEY = '', PROJECT } = process.env

const stream = createStream({ serverUrl: `${BASE_URL}/projects/${PROJECT}`, apiKey: KEY })
const logger = pino({ name: 'shop.checkout', level: 'trace' }, stream)

await write(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'error', (level, { message, attributes, error }) => {
  logger[level as pino.Level]({ ...attributes, ...(error !== undefined && { err: error }) }, message)
})
await stream.flush()
