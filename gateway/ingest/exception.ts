import { setOwn } from '../../shared/contract/exact-json.ts'
import { type Fields, isObject } from './fields.ts'
import { type FieldExtractor, lineOf, stringOf, textOf } from './foreign-fields.ts'

/** The members of an error object. */
export const ERROR_PARTS = {
  type: ['type', 'name', 'class', 'className', 'exception_class', 'kind'],
  message: ['message', 'msg', 'exception_message', 'value'],
  trace: ['stack_trace', 'stack', 'trace', 'traceback', 'extendedStackTrace', 'stepArray'],
  cause: ['cause'],
} as const

/** Characters at each end of a text that are searched for a part, and the longest part searched for there. */
const EDGE_CHARACTERS = 8_192
const PART_CHARACTERS_MAX = 512

/**
 * Whether a text contains a part near its beginning or its end. Searching all of it could take time proportional to the product of both
 * lengths, which the sender chooses.
 */
export function tells(text: string, part: string): boolean {
  if (part.length > PART_CHARACTERS_MAX) return text.startsWith(part) || text.trimEnd().endsWith(part)
  const edges =
    text.length > 2 * EDGE_CHARACTERS ? `${text.slice(0, EDGE_CHARACTERS)}\0${text.slice(-EDGE_CHARACTERS)}` : text
  return edges.includes(part)
}

/** An exception as many loggers send it. */
interface ExceptionParts {
  readonly type: string | undefined
  readonly message: string | undefined
  readonly trace: string | undefined
}

/** The parts of an exception as one text; type and message are prepended unless the stack trace begins or ends with them, as most do. */
export function titledTrace({ type, message, trace }: ExceptionParts): string | undefined {
  const title = [type, message].filter((part) => part !== undefined).join(': ')
  if (trace === undefined) return title || undefined
  return tells(trace, title) || tellsCauses(trace, title) ? trace : `${title}\n${trace}`
}

/** Whether a trace with its causes begins with the title but for their messages, which pino appends to an error's own. */
function tellsCauses(trace: string, title: string): boolean {
  if (title.length > PART_CHARACTERS_MAX) return false
  const [head = ''] = trace.split('\n', 1)
  const appended = title.slice(head.length + 2).split(': ')
  return title.startsWith(`${head}: `) && appended.every((part) => tells(trace, part))
}

/** The same with its cause as text. */
interface CausedException extends ExceptionParts {
  readonly cause: string | undefined
}

/** An exception and its cause as one text. */
export function exceptionOf({ cause, ...parts }: CausedException): string | undefined {
  const whole = titledTrace(parts)
  if (cause === undefined) return whole
  if (whole === undefined) return `Caused by: ${cause}`
  return tells(whole, cause) ? whole : `${whole}\nCaused by: ${cause}`
}

/** An error as text, and its members that are not in the text. */
interface ErrorText {
  readonly text: string
  readonly rest: Fields
}

/** Reads an error object or its text, with its causes. The recursion is safe, as the depth of the entry has been checked. */
export function errorOf(value: unknown): ErrorText | undefined {
  if (!isObject(value)) {
    const text = lineOf(value)
    return text === undefined ? undefined : { text, rest: {} }
  }
  const taken: string[] = []
  const part = <Value>(names: readonly string[], read: (value: unknown) => Value | undefined): Value | undefined => {
    for (const name of names) {
      const found = read(value[name])
      if (found === undefined) continue
      taken.push(name)
      return found
    }
    return undefined
  }
  const { type, message, trace, cause } = ERROR_PARTS
  const inner = part(cause, errorOf)
  const text = exceptionOf({
    type: part(type, lineOf),
    message: part(message, lineOf),
    trace: part(trace, traceOf),
    cause: inner?.text,
  })
  if (text === undefined) return undefined
  const rest: Record<string, unknown> = {}
  for (const name of Object.keys(value)) if (!taken.includes(name)) setOwn(rest, name, value[name])
  if (inner !== undefined && Object.keys(inner.rest).length > 0) rest['cause'] = inner.rest
  return { text, rest }
}

/** A stack trace as text, or as the list of its lines or frames. */
export function traceOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return lineOf(value)
  return value.length === 0 ? undefined : value.map(frameOf).join('\n')
}

function frameOf(frame: unknown): string {
  if (!isObject(frame)) return textOf(frame) ?? JSON.stringify(frame)
  const text = (...names: readonly (keyof Fields)[]) => textOf(names.map((name) => frame[name]).find(Boolean))
  const method = [text('class', 'className'), text('method', 'methodName', 'func', 'function', 'name')]
  const place = [text('file', 'fileName', 'filename', 'source'), text('line', 'lineNumber', 'lineno')]
  const [name, where] = [method, place].map((parts) => parts.filter((part) => part !== undefined))
  if (name?.length === 0) return JSON.stringify(frame)
  return `    at ${name?.join('.')}(${where?.join(':')})`
}

/** Properties in which JavaScript loggers send an error. */
export const ERROR_NAMES = ['err', 'error']

/** Takes the exception out of an error object such as pino sends; members that are not in its text stay where they were. */
export function takeError(extractor: FieldExtractor): string | undefined {
  for (const name of ERROR_NAMES) {
    const error = extractor.take(name, (value) => (isError(value) ? errorOf(value) : undefined))
    if (error === undefined) continue
    if (Object.keys(error.rest).length > 0) extractor.put(name, error.rest)
    return error.text
  }
  return undefined
}

/** Whether a property with such a name is an error: it has a stack, or a type and a message. */
const isError = (value: unknown): boolean =>
  isObject(value) &&
  (stringOf(value['stack']) !== undefined ||
    (stringOf(value['type']) !== undefined && stringOf(value['message']) !== undefined))
