import { exactInteger } from '../../shared/contract/exact-json.ts'
import { isObject } from '../fields.ts'

/** Whole numbers as JSON writes them, of at most 64 bits. */
const INTEGER = /^(?:0|-?[1-9]\d{0,19})$/

/**
 * An AnyValue of OTLP as the plain JSON value that it stands for. Whole numbers of 64 bits, which are sent as text, keep their
 * digits; bytes stay the text that they are sent as. What is no AnyValue, or none that is known, is null.
 */
export function plainValue(value: unknown): unknown {
  if (!isObject(value)) return null
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value
  if (intValue !== undefined && intValue !== null) return integerOf(intValue)
  if (isObject(arrayValue)) return listOf(arrayValue['values']).map(plainValue)
  if (isObject(kvlistValue)) return plainAttributes(listOf(kvlistValue['values']))
  return stringValue ?? boolValue ?? doubleValue ?? bytesValue ?? null
}

/** Attributes as an object: of those that share a name the last one counts, and what has no name is left out. */
export const plainAttributes = (list: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(list.filter(isKeyValue).map(({ key, value }) => [key, plainValue(value)]))

/** An attribute. */
interface KeyValue {
  readonly key: string
  readonly value?: unknown
}

export const isKeyValue = (item: unknown): item is KeyValue => isObject(item) && typeof item['key'] === 'string'

/** A repeated field; null stands for an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const integerOf = (value: unknown): unknown =>
  typeof value === 'string' && INTEGER.test(value) ? exactInteger(value) : value
