import TransportStream from 'winston-transport'
import { type Client, type ClientOptions, createClient, type LogInput, logMade } from './client.ts'
import { exceptionText, isError, keyOf, textOf, toJson, unread } from './json.ts'
import { levelOf } from './levels.ts'

export interface WinstonOptions extends ClientOptions, TransportStream.TransportStreamOptions {
  /** The category of logs without a `label` or `service`. Default `winston`. */
  readonly category?: string | undefined
}

/** A winston transport: `new SluiceTransport(options)`. It emits `finish` once all logs are settled, or after `closeTimeoutMs`. */
export class SluiceTransport extends TransportStream {
  readonly client: Client
  readonly #category: string | undefined

  constructor({ log: _log, logv: _logv, close: _close, ...options }: WinstonOptions) {
    super(options)
    this.client = createClient(options)
    this.#category = options.category
  }

  override log(info: Info, next: () => void): void {
    logMade(this.client, () => entryOf(info, this.#category))
    next()
  }

  /** Called when a logger removes the transport. */
  override close(): void {
    void this.client.close()
  }

  override _final(done: () => void): void {
    void this.client.close().then(done)
  }
}

type Info = Readonly<Record<string | symbol, unknown>>

/** winston's original level; `info.level` may contain colour codes. */
const LEVEL = Symbol.for('level')

/** Converts winston's info to an entry. Uses the current time, as a `timestamp` from winston's formats may be in any zone. */
export function entryOf(info: Info, category = 'winston'): LogInput {
  const { level, message, stack, cause, label, correlationKey } = info
  const read = {
    level: levelOf(info[LEVEL] ?? level),
    stack: textOf(stack),
    label: textOf(label),
    correlationKey: keyOf(correlationKey),
  }
  const errors = [message, info['error'], info['err']].filter(isError)
  const isTold = errors.length === 0 || message === errors[0]
  const exception = isError(info)
    ? info
    : isError(cause) && read.stack
      ? `${read.stack}\nCaused by: ${exceptionText(cause)}`
      : (read.stack ?? errors[0])
  const scope = unread(info, { ...read, message: isTold || textOf(message), timestamp: true })
  // The exception has the stack of its error; the members that a stack does not tell, such as `code`, stay.
  for (const name of ['error', 'err'])
    if (isError(scope[name]) && scope[name] === exception) {
      const members = { ...scope[name] }
      if (Object.keys(members).length > 0) scope[name] = members
      else delete scope[name]
    }
  return {
    categoryName: read.label ?? textOf(scope['service']) ?? category,
    message: textOf(message) ?? errors[0]?.message ?? toJson(message ?? scope),
    level: read.level ?? 'Information',
    exception,
    correlationKey: read.correlationKey,
    scopeData: Object.keys(scope).length > 0 ? scope : undefined,
  }
}
