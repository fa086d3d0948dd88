import TransportStream from 'winston-transport'
import { type Client, type ClientOptions, createClient, type LogInput } from './client.ts'
import { toJson } from './json.ts'
import { levelOf } from './levels.ts'

export interface WinstonOptions extends ClientOptions, TransportStream.TransportStreamOptions {
  /** The category of logs without a `label` or `service`. `winston`. */
  readonly category?: string | undefined
}

/** A transport of winston: `new SluiceTransport(options)`. Its `finish` comes when what was logged is settled, or `closeTimeoutMs` is over. */
export class SluiceTransport extends TransportStream {
  readonly client: Client
  readonly #category: string | undefined

  constructor({ log: _log, logv: _logv, close: _close, ...options }: WinstonOptions) {
    super(options)
    this.client = createClient(options)
    this.#category = options.category
  }

  override log(info: Info, next: () => void): void {
    this.client.log(entryOf(info, this.#category))
    next()
  }

  /** Called when a logger lets go of it. */
  override close(): void {
    void this.client.close()
  }

  override _final(done: () => void): void {
    void this.client.close().then(done)
  }
}

type Info = Readonly<Record<string | symbol, unknown>>

/** Where winston keeps the level as it was logged: `info.level` may have colours. */
const LEVEL = Symbol.for('level')

/** Makes an entry of what winston logs. Its time is now: a `timestamp` of winston's formats may be of any zone. */
export function entryOf(info: Info, category = 'winston'): LogInput {
  const { level, message, timestamp: _time, stack, label, correlationKey, ...scope } = info
  const errors = [message, scope['error'], scope['err']].filter((value) => value instanceof Error)
  return {
    categoryName: textOf(label) ?? textOf(scope['service']) ?? category,
    message: textOf(message) ?? errors[0]?.message ?? toJson(message ?? scope),
    level: levelOf(info[LEVEL] ?? level),
    exception: textOf(stack) ?? errors[0],
    correlationKey: textOf(correlationKey),
    scopeData: Object.keys(scope).length > 0 ? { ...scope } : undefined,
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
