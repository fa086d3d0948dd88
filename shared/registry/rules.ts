/** The rules for names and identifiers, both in an operator's file and in a Team's own settings. */

/** Design: lengths are in UTF-8 bytes. */
const TEXT_BYTES_MAX = 1_024

const ORDER_MAX = 1_000_000

/** The problem with a text, to complete "name …"; undefined if there is none. */
export function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  const bytes = Buffer.byteLength(text)
  if (bytes > TEXT_BYTES_MAX) return `has ${bytes} bytes; the most is ${TEXT_BYTES_MAX}`
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) return 'holds control characters or halves of characters'
  return undefined
}

/** Whether it can be a Step's position among the Steps of its Event. */
export const isOrder = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= ORDER_MAX

export const ORDER_EXPECTED = `must be a whole number from 1 to ${ORDER_MAX}`
