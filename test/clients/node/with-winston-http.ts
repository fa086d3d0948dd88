import winston from 'winston'
import { write } from './entries.ts'

const { BASE_URL = '', KEY = '', PROJECT } = process.env
const { hostname, port } = new URL(BASE_URL)

const logger = winston.createLogger({
  level: 'silly',
  format: winston.format.combine(
    winston.format.timestamp(),
    winston.format.errors({ stack: true }),
    winston.format.json(),
  ),
  defaultMeta: { logger: 'shop.checkout' },
  transports: [
    new winston.transports.Http({
      host: hostname,
      port: Number(port),
      path: `/ingest/json?project=${PROJECT}`,
      auth: { bearer: KEY },
      batch: true,
    }),
  ],
})

await write(['silly', 'debug', 'info', 'warn', 'error'], 'error', (level, { message, attributes, error }) => {
  logger.log({ level, message, ...attributes, ...(error !== undefined && { stack: error.stack }) })
})
