/** Stands for a variable part, as in the templates of Drain and its kin. */
export const VARIABLE = '<*>'

/** The most characters of a text that are looked at. */
export const MASKED_TEXT_MAX = 4_096
/** The most characters of what is left of it. */
export const MASK_LENGTH_MAX = 256

/**
 * The parts that may vary: a quoted text (but for a name in JSON), the value after an equals sign, a date in words, addresses of IPv6 and
 * times, and a word with its joints. A dot joins digits only: `10.0.0.1` is one word, `orders.4711.json` are three. No two alternatives of a repetition begin alike, so that each
 * takes time in proportion to the text.
 */
const PART = new RegExp(
  [
    /((?<=[{,]\s{0,8})"[^"\n]{0,256}"(?=\s{0,8}:))/,
    /"[^"\n]{0,256}"|(?<![\p{L}\p{N}])(?:'[^'\n]{1,256}'(?![\p{L}\p{N}])|`[^`\n]{1,256}`)/u,
    /(?<==)[^\s=,;&|()[\]{}<>"'`]+/,
    /(?<!\w)(?:(?:mon|tue|wed|thu|fri|sat|sun),? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}\d{1,2}(?!\w)/,
    /(?<![\w:])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:[.,]\d{1,9})?(?![\w:])/,
    /[-+#$]?[a-z_\p{Nd}]+(?:(?:[-@+%#$\\]+|(?<=\p{Nd})\.(?=\p{Nd}))[a-z_\p{Nd}]+)*%?/u,
    /\s{2,}|[^\S ]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
)
const DIGIT = /\p{Nd}/u

/**
 * A message without its variable parts: words with a digit (numbers, GUIDs, hexadecimal ids, addresses, parts of a path), quoted
 * texts and values after an equals sign become `<*>`, and a list of them one, so that what one statement of a program writes is mostly one text. Blanks are
 * made one. At most `MASK_LENGTH_MAX` characters, whatever the length of the text.
 */
export function masked(text: string): string {
  const read = text.slice(0, MASKED_TEXT_MAX).trim()
  let mask = ''
  let end = 0
  for (const { 0: part, 1: name, index } of read.matchAll(PART)) {
    mask += read.slice(end, index)
    end = index + part.length
    mask = name === undefined ? withPart(mask, part) : mask + name
    if (mask.length >= MASK_LENGTH_MAX) break
  }
  return shortened(mask + read.slice(end))
}

/** At most `MASK_LENGTH_MAX` characters, and never half of a surrogate pair. */
export const shortened = (text: string): string => text.slice(0, MASK_LENGTH_MAX).toWellFormed()

/** The ends of a mask that the next variable part belongs to. */
const LISTS = [`${VARIABLE}, `, `${VARIABLE},`, `${VARIABLE}/`]
const QUOTES = /["'`]/
const BLANK = /\s/

function withPart(mask: string, part: string): string {
  const first = part[0] as string
  if (BLANK.test(first)) return `${mask} `
  if (QUOTES.test(first)) return mask + first + VARIABLE + first
  if (!mask.endsWith('=') && !DIGIT.test(part)) return mask + part
  const list = LISTS.find((end) => mask.endsWith(end)) ?? ''
  return mask.slice(0, mask.length - list.length) + VARIABLE
}
