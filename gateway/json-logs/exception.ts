import { errorOf, exceptionOf, titledTrace, traceOf } from '../ingest/exception.ts'
import { isObject } from '../ingest/fields.ts'
import { lineOf } from '../ingest/foreign-fields.ts'
import type { FoundFields } from './found.ts'

/** The exception of an entry as one text, with its stack trace and its causes. */
export function takeException({ take, of }: FoundFields): string | undefined {
  const exception = exceptionOf({
    type: take('exceptionType', lineOf),
    message: take('exceptionMessage', lineOf),
    trace: take('exceptionTrace', (value, { name }) =>
      name === 'fullmessage' ? traceInMessage(value) : traceOf(value),
    ),
    cause: take('exceptionCause', (value, _found, leave) => {
      const cause = errorOf(value)
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

/** GELF's full message often just repeats the short one, so it counts only if it has a stack trace. */
const traceInMessage = (value: unknown): string | undefined =>
  typeof value === 'string' && /^(?:[ \t]{1,8}at |Traceback |Caused by: )/m.test(value) ? lineOf(value) : undefined
