import { Logger } from 'seq-logging'
import { write } from './entries.ts'

const { BASE_URL, KEY = '', PROJECT } = process.env

const logger = new Logger({
  serverUrl: `${BASE_URL}/projects/${PROJECT}`,
  apiKey: KEY,
  onError: (error) => process.emitWarning(error),
})

await write(
  ['Verbose', 'Debug', 'Information', 'Warning', 'Error', 'Fatal'],
  'Error',
  (level, { message, attributes, error }) => {
    logger.emit({
      timestamp: new Date(),
      level,
      messageTemplate: message,
      properties: { SourceContext: 'shop.checkout', ...attributes },
      ...(error?.stack !== undefined && { exception: error.stack }),
    })
  },
)
await logger.close()
