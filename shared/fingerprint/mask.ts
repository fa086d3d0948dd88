/** Stands for a variable part, as in the templates of Drain and its kin. */
export const VARIABLE = '<*>'

/** The most characters of a text that are looked at. */
export const MASKED_TEXT_MAX = 4_096
/** The most characters of what is left of it. */
export const MASK_LENGTH_MAX = 256

/**
 * The parts that may vary: a quoted text (but for a name in JSON), addresses of IPv6 and times, and a word with its joints. A dot joins
 * digits only: `10.0.0.1` is one word, `orders.4711.json` are three. No two alternatives of a repetition begin alike, so that each
 * takes time in proportion to the text.
 */
const PART = new RegExp(
  [
    /(?<=[{,]\s{0,8})"[^"\n]{0,256}"(?=\s{0,8}:)/,
    /(?<quoted>"[^"\n]{0,256}"|(?<![\p{L}\p{N}])(?:'[^'\n]{1,256}'(?![\p{L}\p{N}])|`[^`\n]{1,256}`))/u,
    /(?<colons>(?<![\w:])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:[.,]\d{1,9})?(?![\w:]))/,
    /(?<word>[-+#$]?[a-z_\p{Nd}]+(?:(?:[-@+%#$\\]+|(?<=\p{Nd})\.(?=\p{Nd}))[a-z_\p{Nd}]+)*%?)/u,
    /(?<blanks>\s+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
)
const DIGIT = /\p{Nd}/u

/**
 * A message without its variable parts: words with a digit (numbers, GUIDs, hexadecimal ids, addresses, parts of a path) and quoted
 * texts become `<*>`, and a list of them one, so that what one statement of a program writes is mostly one text. Blanks are
 * made one. At most `MASK_LENGTH_MAX` characters, whatever the length of the text.
 */
export function masked(text: string): string {
  const read = text.slice(0, MASKED_TEXT_MAX).trim()
  let mask = ''
  let end = 0
  for (const match of read.matchAll(PART)) {
    const [part] = match
    mask += read.slice(end, match.index)
    end = match.index + part.length
    mask = withPart(mask, part, match.groups ?? {})
    if (mask.length >= MASK_LENGTH_MAX) break
  }
  return shortened(mask + read.slice(end))
}

/** At most `MASK_LENGTH_MAX` characters, and never half of a surrogate pair. */
export const shortened = (text: string): string => text.slice(0, MASK_LENGTH_MAX).toWellFormed()

type Groups = Readonly<Record<string, string | undefined>>

function withPart(mask: string, part: string, { quoted, colons, word, blanks }: Groups): string {
  if (blanks !== undefined) return `${mask} `
  if (quoted !== undefined) return mask + part[0] + VARIABLE + part[0]
  const varies = (colons ?? word) !== undefined && DIGIT.test(part)
  if (!varies) return mask + part
  const list = /<\*>, ?$/.exec(mask.slice(-VARIABLE.length - 2))
  return list === null ? mask + VARIABLE : mask.slice(0, -list[0].length) + VARIABLE
}
