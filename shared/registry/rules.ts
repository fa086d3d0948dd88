/** The rules for names and identifiers, both in an operator's file and in a Team's own settings. */

/** Design: lengths are in UTF-8 bytes. */
const TEXT_BYTES_MAX = 1_024

/** The greatest position of a Step among those of its Event; the first is 1. */
export const ORDER_MAX = 1_000_000

/** The problem with a text, to complete "name …"; undefined if there is none. */
export function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  const bytes = Buffer.byteLength(text)
  if (bytes > TEXT_BYTES_MAX) return `has ${bytes} bytes; the most is ${TEXT_BYTES_MAX}`
  if (!text.isWellFormed() || /\p{Cc}/u.test(text)) return 'holds control characters or halves of characters'
  return undefined
}
