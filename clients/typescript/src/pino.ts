import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { isMainThread } from 'node:worker_threads'
import { type Client, type ClientOptions, createClient, createClientOf, type LogInput, logMade } from './client.ts'
import { fromJson, INNER_MAX, keyOf, textOf, toJson, unread } from './json.ts'
import { levelOf } from './levels.ts'
import { createTimestamps } from './times.ts'

export interface PinoOptions extends ClientOptions {
  /** The category of lines from a logger without a `name`. Default `pino`. */
  readonly category?: string | undefined
  /** The keys that pino uses instead of `msg` and `err`, if configured. */
  readonly messageKey?: string | undefined
  readonly errorKey?: string | undefined
}

/** A stream that receives pino's lines. */
export interface PinoStream extends Writable {
  readonly client: Client
  /** Called by pino's `logger.flush(callback)`; calls back when all lines so far are settled. */
  flush(callback: (error?: Error) => void): void
}

/**
 * The transport for `pino.transport({ target: 'sluice-client/pino', options })`, and for `pino(stream)` in the same thread. Ending it waits
 * up to `closeTimeoutMs` for unsettled entries.
 */
export default function createPinoStream(options: PinoOptions): PinoStream {
  // The console of a thread needs the main one, which at the end of the process only waits for the thread.
  const client = isMainThread ? createClient(options) : createClientOf(options, (line) => writeSync(2, `${line}\n`))
  const entryOf = createPinoMapping(options)
  const decoder = new StringDecoder('utf8')
  let rest = ''

  function takeLines(text: string): void {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') logMade(client, () => entryOf(line))
  }

  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      takeLines(typeof chunk === 'string' ? chunk : decoder.write(chunk))
      done()
    },
    final: (done) => {
      takeLines(`${decoder.end()}\n`)
      void client.close().then(() => done())
    },
  })
  const write = stream.write.bind(stream)
  return Object.assign(stream, {
    client,
    write: ((chunk: string | Buffer, ...more: []) => {
      if (!stream.writableEnded) return write(chunk, ...more)
      // The client counts it; the error of a stream would end an application that logs once more.
      takeLines(String(chunk))
      return true
    }) as Writable['write'],
    flush: (callback: (error?: Error) => void) => void client.flush().then(() => callback()),
  })
}

type Line = Readonly<Record<string, unknown>>

/** Converts pino's lines to entries; a line that is not a JSON object becomes a message. */
export function createPinoMapping(options: Pick<PinoOptions, 'category' | 'messageKey' | 'errorKey'>) {
  const { category = 'pino', messageKey = 'msg', errorKey = 'err' } = options
  const timestampOf = createTimestamps()
  return (text: string): LogInput => {
    const line = objectOf(text)
    if (line === undefined) return { categoryName: category, message: text, level: 'Information' }
    const { level, time, name, correlationKey, [messageKey]: message, [errorKey]: error } = line
    const read = {
      level: levelOf(level),
      time: timeOf(time, timestampOf),
      name: textOf(name),
      correlationKey: keyOf(correlationKey),
    }
    const exception = exceptionOf(error)
    const scope = unread(line, { ...read, [messageKey]: textOf(message), [errorKey]: exception })
    const untold = untoldOf(error)
    if (Object.keys(untold).length > 0) scope[errorKey] = untold
    return {
      categoryName: read.name ?? category,
      message: textOf(message) ?? textOf((error as Line | undefined)?.['message']) ?? toJson(scope),
      level: read.level ?? 'Information',
      exception,
      correlationKey: read.correlationKey,
      timestamp: read.time,
      scopeData: Object.keys(scope).length > 0 ? scope : undefined,
    }
  }
}

function objectOf(text: string): Line | undefined {
  try {
    const value = fromJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined
  } catch {
    return undefined
  }
}

/** The exception as pino's error serialiser writes it: the stack includes the causes, joined in pino's own format. */
function exceptionOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  const { stack, aggregateErrors } = error as { stack?: unknown; aggregateErrors?: unknown }
  const text = textOf(stack)?.replaceAll('\ncaused by: ', '\nCaused by: ')
  if (text === undefined) return textOf(error) ?? toJson(error)
  const inner = Array.isArray(aggregateErrors) ? aggregateErrors.slice(0, INNER_MAX).map(exceptionOf) : []
  return [text, ...inner.filter((one) => one !== undefined)].join('\nSuppressed: ')
}

/** The members of an error that its stack does not tell, such as its `code`, or the name of a class that set none. */
function untoldOf(error: unknown): Line {
  const { stack, ...members } = (error ?? {}) as Line
  if (typeof stack !== 'string' || stack === '') return {}
  const isTold = ([name, value]: [string, unknown]): boolean =>
    (name === 'type' || name === 'message') && typeof value === 'string' && tellsInOrder(stack, value.split(': '))
  return Object.fromEntries(Object.entries(members).filter((member) => !isTold(member)))
}

/** Whether a stack has all parts of a message, one after the other: pino joins the messages of the causes. */
function tellsInOrder(stack: string, parts: readonly string[]): boolean {
  let end = 0
  return parts.every((part) => {
    const at = stack.indexOf(part, end)
    end = at + part.length
    return at !== -1
  })
}

/** Smaller times (before 1973 in milliseconds) are seconds: `pino.stdTimeFunctions.unixTime`. */
const MILLISECONDS_MIN = 1e11

/** ISO 8601 as Sluice takes it is passed on unchanged, as it may have nanoseconds. */
const ISO =
  /^(?:19[7-9]|2[01]\d)\d-\d\d-\d\d[T ](?:[01]\d|2[0-3]):\d\d(?::[0-5]\d(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)?$/i

/** Undefined for an invalid time; the entry then gets the current time. */
function timeOf(time: unknown, timestampOf: (epochMs: number) => string | undefined): string | undefined {
  if (typeof time === 'string' && ISO.test(time)) return time
  const number = typeof time === 'string' ? Date.parse(time) : typeof time === 'number' ? time : Number.NaN
  return timestampOf(number < MILLISECONDS_MIN ? number * 1_000 : number)
}
