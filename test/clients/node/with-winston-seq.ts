import { SeqTransport } from '@datalust/winston-seq'
import winston from 'winston'
import { write } from './entries.ts'

const { BASE_URL, KEY = '', PROJECT } = process.env

const transport = new SeqTransport({
  serverUrl: `${BASE_URL}/projects/${PROJECT}`,
  apiKey: KEY,
  onError: (error) => process.emitWarning(error),
})
const logger = winston.createLogger({
  level: 'silly',
  format: winston.format.combine(winston.format.errors({ stack: true }), winston.format.json()),
  defaultMeta: { SourceContext: 'shop.checkout' },
  transports: [transport],
})

await write(['silly', 'debug', 'info', 'warn', 'error'], 'error', (level, { message, attributes, error }) => {
  logger.log({ level, message, ...attributes, ...(error !== undefined && { stack: error.stack }) })
})
await transport.flush()
