import { type Fields, isObject } from '../ingest/fields.ts'
import { type ExceptionParts, tells, textOf, titledTrace } from '../ingest/foreign-fields.ts'
import { ERROR_PARTS } from './aliases.ts'
import type { FoundFields } from './found.ts'
import { lineOf } from './values.ts'

interface CausedException extends ExceptionParts {
  readonly cause: string | undefined
}

/** The exception of an entry as one text, with its stack trace and its causes. */
export function takeException({ take, of }: FoundFields): string | undefined {
  const exception = exceptionOf({
    type: take('exceptionType', lineOf),
    message: take('exceptionMessage', lineOf),
    trace: take('exceptionTrace', (value, { name }) =>
      name === 'fullmessage' ? traceInMessage(value) : traceOf(value),
    ),
    cause: take('exceptionCause', (value, _found, leave) => {
      const cause = causeOf(value)
      if (cause !== undefined) leave(cause.rest)
      return cause?.text
    }),
  })
  return (
    exception ??
    of('exceptionMessage')
      .map(({ value }) => tracebacksOf(value))
      .find(Boolean)
  )
}

/** The list that structlog's `dict_tracebacks` makes of an exception and its causes. It stays in the entry, as it has more than the text. */
function tracebacksOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined
  const texts = value
    .filter(isObject)
    .map(({ exc_type: type, exc_value: message, frames }) =>
      titledTrace({ type: lineOf(type), message: lineOf(message), trace: traceOf(frames) }),
    )
  return texts.filter((text) => text !== undefined).join('\nCaused by: ') || undefined
}

function exceptionOf({ cause, ...parts }: CausedException): string | undefined {
  const whole = titledTrace(parts)
  if (cause === undefined) return whole
  if (whole === undefined) return `Caused by: ${cause}`
  return tells(whole, cause) ? whole : `${whole}\nCaused by: ${cause}`
}

/** A cause as text, and its members that are not in the text. */
interface Cause {
  readonly text: string
  readonly rest: Fields
}

/** The recursion is safe, as the depth of the entry has been checked. */
function causeOf(value: unknown): Cause | undefined {
  if (!isObject(value)) {
    const text = lineOf(value)
    return text === undefined ? undefined : { text, rest: {} }
  }
  const rest: Record<string, unknown> = { ...value }
  const part = <Value>(names: readonly string[], read: (value: unknown) => Value | undefined): Value | undefined => {
    for (const name of names) {
      const found = read(value[name])
      if (found === undefined) continue
      delete rest[name]
      return found
    }
    return undefined
  }
  const { type, message, trace, cause } = ERROR_PARTS
  const inner = part(cause, causeOf)
  if (inner !== undefined && Object.keys(inner.rest).length > 0) rest['cause'] = inner.rest
  const text = exceptionOf({
    type: part(type, lineOf),
    message: part(message, lineOf),
    trace: part(trace, traceOf),
    cause: inner?.text,
  })
  return text === undefined ? undefined : { text, rest }
}

/** A stack trace as text, or as the list of its lines or frames. */
function traceOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return lineOf(value)
  return value.length === 0 ? undefined : value.map(frameOf).join('\n')
}

/** GELF's full message often just repeats the short one, so it counts only if it has a stack trace. */
const traceInMessage = (value: unknown): string | undefined =>
  typeof value === 'string' && /^(?:[ \t]{1,8}at |Traceback |Caused by: )/m.test(value) ? lineOf(value) : undefined

function frameOf(frame: unknown): string {
  if (!isObject(frame)) return textOf(frame) ?? JSON.stringify(frame)
  const text = (...names: readonly (keyof Fields)[]) => textOf(names.map((name) => frame[name]).find(Boolean))
  const method = [text('class', 'className'), text('method', 'methodName', 'func', 'function', 'name')]
  const place = [text('file', 'fileName', 'filename', 'source'), text('line', 'lineNumber', 'lineno')]
  const [name, where] = [method, place].map((parts) => parts.filter((part) => part !== undefined))
  if (name?.length === 0) return JSON.stringify(frame)
  return `    at ${name?.join('.')}(${where?.join(':')})`
}
