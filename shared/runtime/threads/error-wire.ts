/** An error in transit between threads, with the class and fields that structured cloning would lose. */
export interface WireError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** Own fields with plain values, such as an error code. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>
  readonly cause: WireError | undefined
}

/** A class whose instances keep their class between threads; found by its instances' name. */
export type ErrorClass = { readonly prototype: Error; readonly name: string }

const CAUSES_MAX = 5
const STANDARD_FIELDS: readonly string[] = ['name', 'message', 'stack', 'cause']

export function encodeError(thrown: unknown, causesLeft = CAUSES_MAX): WireError {
  if (!(thrown instanceof Error)) {
    return { name: 'Error', message: String(thrown), stack: undefined, fields: {}, cause: undefined }
  }
  return {
    name: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    fields: Object.fromEntries(Object.entries(thrown).filter(([name, value]) => isPlain(name, value))),
    cause: thrown.cause === undefined || causesLeft === 0 ? undefined : encodeError(thrown.cause, causesLeft - 1),
  }
}

const isPlain = (name: string, value: unknown): boolean =>
  !STANDARD_FIELDS.includes(name) && (value === null || ['string', 'number', 'boolean'].includes(typeof value))

/** Restores the error, as an instance of the class with its name if that is among `classes`, else as an `Error`. */
export function decodeError(wire: WireError, classes: readonly ErrorClass[]): Error {
  const cause = wire.cause && { cause: decodeError(wire.cause, classes) }
  const error = new Error(wire.message, cause)
  const known = classes.find(({ name }) => name === wire.name)
  // The constructors have different parameters, so the class is set from outside.
  if (known !== undefined) Object.setPrototypeOf(error, known.prototype)
  const fields = { ...wire.fields, name: wire.name }
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value, enumerable: true })
  if (wire.stack !== undefined) error.stack = wire.stack
  return error
}
