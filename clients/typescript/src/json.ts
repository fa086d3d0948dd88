/** Parts of JSON that TypeScript's library types and Node 20 lack. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }

/**
 * Like `JSON.stringify`, but keeps what that would lose or refuse: errors with their stack, maps, sets, every digit of a `bigint`, and
 * `"[Circular]"` for circular references. Throws if a `toJSON` or a getter does, and for infinite nesting.
 */
export function toJson(value: unknown): string {
  const path: { readonly shown: unknown; readonly value: unknown }[] = []
  return JSON.stringify(value, function (this: unknown, _name: string, child: unknown): unknown {
    if (typeof child === 'bigint') return rawJSON?.(String(child)) ?? String(child)
    if (typeof child !== 'object' || child === null) return child
    while (path.length > 0 && path.at(-1)?.shown !== this) path.pop()
    if (path.some(({ value }) => value === child)) return '[Circular]'
    const shown = shownAs(child)
    path.push({ shown, value: child })
    return shown
  })
}

/** An object as JSON can show it. */
function shownAs(value: object): object {
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  return isError(value) ? errorFields(value) : value
}

/** Whether a value is an error, also one of another realm, such as a page's frame or the modules that a test runner loads. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'

function errorFields(error: Error): object {
  const { name: type, message } = error
  const errors = errorsOf(error)
  return { ...error, ...(errors.length > 0 && { errors }), type, message, stack: exceptionText(error) }
}

/** The errors that one stands for, such as that of `Promise.any`. */
function errorsOf(error: Error): readonly unknown[] {
  const { errors } = error as { errors?: unknown }
  const isAggregate = error instanceof AggregateError || error.name === 'AggregateError'
  return isAggregate && Array.isArray(errors) ? errors : []
}

/** Maximum number of causes and errors within an error that are written out. */
export const INNER_MAX = 10

/** An error as text: its stack, then those of its causes and of the errors it stands for, in a format that Sluice can parse. */
export function exceptionText(error: unknown): string {
  const parts: string[] = []
  const add = (label: string, one: unknown): void => {
    if (one === undefined || one === null || parts.length > INNER_MAX) return
    const text = isError(one) ? (one.stack ?? String(one)) : typeof one === 'object' ? toJson(one) : String(one)
    parts.push(`${label}${text}`)
    if (!isError(one)) return
    add('Caused by: ', one.cause)
    for (const inner of errorsOf(one)) add('Suppressed: ', inner)
  }
  add('', error)
  return parts.join('\n')
}

/** Parses JSON; large integers keep their digits where the engine can write them again. */
export function fromJson(text: string): unknown {
  if (rawJSON === undefined || !/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_name: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
      ? rawJSON(String(source))
      : value) as (name: string, value: unknown) => unknown)
}

/** A text that is not empty; otherwise undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A correlation key: a text, or a number as text; otherwise undefined. */
export const keyOf = (value: unknown): string | undefined => (typeof value === 'number' ? String(value) : textOf(value))

/** The members of a log that no field of its entry holds; `read` has what the fields made of the others, undefined for nothing. */
export const unread = (log: object, read: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(log).filter(
      ([name, value]) => !Object.hasOwn(read, name) || (read[name] === undefined && (value ?? '') !== ''),
    ),
  )
