/** The parts of JSON that TypeScript's library does not know yet, and Node 20 neither. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }

/**
 * The JSON text of a value, with what `JSON.stringify` would lose or refuse: errors with their stack, every digit of a `bigint`, and
 * `"[Circular]"` for an object inside of itself. Throws where a `toJSON` or a getter does, and for what is nested without end.
 */
export function toJson(value: unknown): string {
  const path: { readonly shown: unknown; readonly value: unknown }[] = []
  return JSON.stringify(value, function (this: unknown, _name: string, child: unknown): unknown {
    if (typeof child === 'bigint') return rawJSON?.(String(child)) ?? String(child)
    if (typeof child !== 'object' || child === null) return child
    while (path.length > 0 && path.at(-1)?.shown !== this) path.pop()
    if (path.some(({ value }) => value === child)) return '[Circular]'
    const shown = child instanceof Error ? errorFields(child) : child
    path.push({ shown, value: child })
    return shown
  })
}

const errorFields = (error: Error): object => {
  const { name: type, message } = error
  return { ...error, type, message, stack: exceptionText(error) }
}

/** Most causes of an error that are written out. */
const CAUSES_MAX = 10

/** An error as text: its stack, then those of its causes, in the form that Sluice tells apart. */
export function exceptionText(error: unknown): string {
  const parts: string[] = []
  for (let one = error; one !== undefined && one !== null && parts.length <= CAUSES_MAX; ) {
    parts.push(one instanceof Error ? (one.stack ?? String(one)) : String(one))
    one = one instanceof Error ? one.cause : undefined
  }
  return parts.join('\nCaused by: ')
}

/** The value of a JSON text; large integers keep their digits where the engine can write them out again. */
export function fromJson(text: string): unknown {
  if (rawJSON === undefined || !/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_name: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
      ? rawJSON(String(source))
      : value) as (name: string, value: unknown) => unknown)
}
