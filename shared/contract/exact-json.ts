/** The parts of `JSON` that keep a number as it is written (ECMAScript, "JSON.parse source text access"); not yet in the types. */
interface SourceTextJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
const json: SourceTextJson = JSON as unknown as SourceTextJson

/**
 * Whether a parsed value holds a number that has certainly lost digits: a whole number beyond 2^53, such as a 64-bit id, or one
 * too large for a double. The value must not be nested very deep.
 */
export function hasLostDigits(value: unknown): boolean {
  if (typeof value === 'number')
    return !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))
  if (typeof value !== 'object' || value === null) return false
  const children = value as Readonly<Record<string, unknown>>
  // As it runs for every entry, it makes no array of the children. What JSON gives has no keys but its own.
  for (const name in children) if (hasLostDigits(children[name])) return true
  return false
}

/**
 * Parses JSON so that writing the value with `JSON.stringify` gives every number as it stood in the text. Such numbers are
 * opaque objects. Several times slower than `JSON.parse`; throws a RangeError for text nested thousands of levels deep.
 */
export const parseExactly = (text: string): unknown =>
  json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  )

/**
 * Parses JSON as `JSON.parse` does, but for a value in which that would certainly lose digits, as `parseExactly` does. One that is
 * nested too deep to be looked through stays as it is.
 */
export function parseKeepingDigits(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return unlessTooDeep(() => (hasLostDigits(value) ? parseExactly(text) : value), value)
}

/** The result of the work, or `otherwise` where it meets a value that is nested too deep for it. */
export function unlessTooDeep<Value>(work: () => Value, otherwise: Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) return otherwise
    throw error
  }
}

/** A whole number by its digits, as JSON has them: a number where that keeps them all, else an opaque object that is written so. */
export function exactInteger(digits: string): unknown {
  const value = Number(digits)
  return Number.isSafeInteger(value) ? value : json.rawJSON(digits)
}

/** The text of a number as `JSON.parse` or `parseExactly` gives it; undefined for all else. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return json.isRawJSON(value) ? value.rawJSON : undefined
}
