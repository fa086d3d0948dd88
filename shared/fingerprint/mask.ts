/** Stands for a variable part, as in the templates of Drain and similar log parsers. */
const VARIABLE = '<*>'

/** Maximum characters of a text that are read. */
const MASKED_TEXT_MAX = 4_096
/** Maximum characters of a masked text. */
export const MASK_LENGTH_MAX = 256

/**
 * A host: a name ending in a generic or private domain, one of three or more parts ending in a country's domain, or one before a port. The
 * domains are in lower case, without those that mostly end other names: `Acme.Billing.Org`, `user.signed.in` and `main.go:12` are no hosts.
 */
const HOST = [
  /(?:[\w-]{1,63}\.){1,16}(?-i:com|net|org|edu|gov|info|cloud|local|localdomain|internal|lan|arpa)/,
  /(?:[\w-]{1,63}\.){2,16}(?-i:ar|at|au|be|br|ca|ch|cl|cn|co|cz|de|dk|ee|es|eu|fi|fr|gr|hk|hu|ie|il|io|it|jp|kr|lt|lu|lv|mx|nl|no|nz|pt|ro|ru|se|sg|si|sk|th|tr|tw|ua|uk|us|vn|za)/,
  /(?-i:(?:[a-z\d_-]{1,63}\.){1,16}(?!(?:c|cc|cpp|cs|go|h|java|js|kt|php|py|rb|rs|scala|ts|tsx|vb):)[a-z\d-]{1,63}(?=:\d))/,
]
const MAIL = /[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,16}[a-z]{2,63}/
const oneOf = (parts: readonly RegExp[]): string => parts.map(({ source }) => source).join('|')
/** Tried only when a dot follows a word: as one of the alternatives below, it would be tried at every word. */
const NAME = new RegExp(`(?<![\\w.@-])(?:${oneOf([...HOST, MAIL])})(?![\\w-]|[.@]\\w)`, 'iy')
/** A unit after a number is variable too, as programs choose it by the size of the number. */
const UNIT = /(?<=\p{Nd}) (?:(?:[kmgtp]i?)?b|[mnuµ]?s|sec|min|h)(?!\w)/u
const WORD = new RegExp(
  `[-+#$]?[a-z_\\p{Nd}]+(?:(?:[-@+%#$~\\\\]+|(?<=\\p{Nd})\\.(?=\\p{Nd}))[a-z_\\p{Nd}]+)*(?:[%#]|${UNIT.source})?`,
  'u',
)

/**
 * The parts that may vary: a quoted text (except a name in JSON), the value after an equals sign, empty brackets, a date in words, IPv6 and
 * hardware addresses, times, and a word with its joints. Otherwise a dot joins only digits: `10.0.0.1` is one word, `orders.4711.json` is
 * three. No two alternatives of a repetition begin alike, so that each takes time proportional to the text.
 */
const PART = new RegExp(
  oneOf([
    /((?<=[{,]\s{0,8})"[^"\n]{0,256}"(?=\s{0,8}:))/,
    /"[^"\n]{0,256}"|(?<![\p{L}\p{N}])(?:'[^'\n]{1,256}'(?![\p{L}\p{N}])|`[^`\n]{1,256}`)/u,
    /(?<==)[^\s=,;&|()[\]{}<>"'`]+/,
    /(?<=\s)(?:\(\)|\[\])/,
    /(?<!\w)(?:(?:mon|tue|wed|thu|fri|sat|sun),? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) {1,2}\d{1,2}(?!\w)/,
    /(?<![\w:])(?:[\da-f]{0,4}:){2,31}[\da-f]{0,4}(?:[.,]\d{1,9})?(?![\w:])/,
    WORD,
    /\s{2,}|[^\S ]/,
  ]),
  'giu',
)
const DIGIT = /\p{Nd}/u

/**
 * A message without its variable parts: words with a digit (numbers, GUIDs, hexadecimal ids, addresses, parts of a path), host names,
 * quoted texts and values after an equals sign become `<*>`, and a list of these becomes one `<*>`, so that the messages of one statement
 * in a program are mostly one text. Whitespace is collapsed. Returns at most `MASK_LENGTH_MAX` characters, however long the text is.
 */
export function masked(text: string): string {
  const read = text.slice(0, MASKED_TEXT_MAX).trim()
  let mask = ''
  let end = 0
  PART.lastIndex = 0
  for (let found = PART.exec(read); found !== null && mask.length < MASK_LENGTH_MAX; found = PART.exec(read)) {
    const { 0: part, 1: name, index } = found
    mask += read.slice(end, index)
    end = PART.lastIndex
    if (name !== undefined) mask += name
    else if (read[end] === '.' && isNameAt(read, index)) {
      end = NAME.lastIndex
      PART.lastIndex = end
      mask = withVariable(mask)
    } else mask = withPart(mask, part)
  }
  return shortened(mask + read.slice(end))
}

function isNameAt(text: string, index: number): boolean {
  NAME.lastIndex = index
  return NAME.test(text)
}

/** The beginning of a text, at most `MASK_LENGTH_MAX` characters; U+FFFD replaces half a surrogate pair at its end. */
export const shortened = (text: string): string => text.slice(0, MASK_LENGTH_MAX).toWellFormed()

/** The ends of a mask that the next variable part is merged with. */
const LISTS = [`${VARIABLE}, `, `${VARIABLE},`, `${VARIABLE}/`]
const QUOTES = /["'`]/
const BLANK = /\s/
/** Requests with different methods are different messages. */
const METHOD = /^"(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH) /

function withPart(mask: string, part: string): string {
  const first = part[0] as string
  if (BLANK.test(first)) return `${mask} `
  if (QUOTES.test(first)) return mask + (METHOD.exec(part)?.[0] ?? first) + VARIABLE + first
  if (part === '()' || part === '[]') return mask + first + VARIABLE + part[1]
  return mask.endsWith('=') || DIGIT.test(part) ? withVariable(mask) : mask + part
}

function withVariable(mask: string): string {
  const list = LISTS.find((end) => mask.endsWith(end)) ?? ''
  return mask.slice(0, mask.length - list.length) + VARIABLE
}
