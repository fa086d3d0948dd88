/** The functions of `JSON` that keep numbers as written (ECMAScript, "JSON.parse source text access"); not yet in the types. */
interface SourceTextJson {
  parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}
const json: SourceTextJson = JSON as unknown as SourceTextJson

/**
 * Whether a parsed value holds a number that has certainly lost digits: an integer beyond 2^53, such as a 64-bit id, or one too large for a
 * double. The value must not be nested deeply.
 */
export function hasLostDigits(value: unknown): boolean {
  if (typeof value === 'number')
    return !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))
  if (typeof value !== 'object' || value === null) return false
  // Not in the loop below: V8 compiles a loop over names for objects only, and drops its code for each array.
  if (Array.isArray(value)) return value.some(hasLostDigits)
  const children = value as Readonly<Record<string, unknown>>
  // This runs for every entry, so it makes no array of the children. Parsed JSON has own properties only.
  for (const name in children) {
    const child = children[name]
    if (typeof child !== 'string' && hasLostDigits(child)) return true
  }
  return false
}

/**
 * Whether objects and arrays are nested at most `levelsMax` levels deep; the recursion goes at most one level deeper. Numbers may be those
 * of `parseExactly`.
 */
export function fitsDepth(value: unknown, levelsMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  // A number that is an object adds no level.
  if (levelsMax === 0) return isExactNumber(value)
  // Arrays apart, and no array of the children, as in `hasLostDigits`.
  if (Array.isArray(value)) return value.every((child) => fitsDepth(child, levelsMax - 1))
  const children = value as Readonly<Record<string, unknown>>
  for (const name in children) if (!fitsDepth(children[name], levelsMax - 1)) return false
  return true
}

/**
 * Parses JSON so that `JSON.stringify` writes every number of the value as it was in the text. Such numbers are opaque objects. Several
 * times slower than `JSON.parse`; throws a RangeError for text nested thousands of levels deep.
 */
export const parseExactly = (text: string): unknown =>
  json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  )

/**
 * Parses JSON as `JSON.parse` does, or as `parseExactly` does if that would certainly lose digits. A value that is nested too deeply to be
 * searched stays as it is.
 */
export function parseKeepingDigits(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return unlessTooDeep(() => (hasLostDigits(value) ? parseExactly(text) : value), value)
}

/** The result of the work, or `otherwise` if it meets a value that is nested too deeply for it. */
export function unlessTooDeep<Value>(work: () => Value, otherwise: Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) return otherwise
    throw error
  }
}

/** An integer from its digits in JSON's notation: a number if that keeps all digits, else an opaque object that is written with them. */
export function exactInteger(digits: string): unknown {
  const value = Number(digits)
  return Number.isSafeInteger(value) ? value : json.rawJSON(digits)
}

/** Whether the value is a number that `parseExactly` keeps as an opaque object. Most values are texts, for which V8's own check takes longer. */
export const isExactNumber = (value: unknown): boolean => typeof value === 'object' && json.isRawJSON(value)

/** The text of a number from `JSON.parse` or `parseExactly`; undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return json.isRawJSON(value) ? value.rawJSON : undefined
}

/** Sets a property whatever its name is, as `JSON.parse` does: `__proto__` is the one that cannot simply be assigned. */
export function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { ...OWN, value })
  else object[name] = value
}

const OWN = { enumerable: true, configurable: true, writable: true }
