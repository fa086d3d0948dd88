/** The rules for names and identifiers, in a file of the operator and in the Team's own settings alike. */

/** Design: lengths are in UTF-8 bytes. */
const TEXT_BYTES_MAX = 1_024

export const ORDER_MAX = 1_000_000

/** The fault of a text, to complete "name …"; undefined where it has none. */
export function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  const bytes = Buffer.byteLength(text)
  if (bytes > TEXT_BYTES_MAX) return `has ${bytes} bytes; the most is ${TEXT_BYTES_MAX}`
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) return 'holds control characters or halves of characters'
  return undefined
}

/** Whether it can be a Step's place among the Steps of its Event. */
export const isOrder = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= ORDER_MAX

export const ORDER_EXPECTED = `must be a whole number from 1 to ${ORDER_MAX}`
