/** One condition that a reader adds to a search from a value on the page: `field:value`, or with `prefix` `field:value*`. */
export interface Term {
  /** A name of the grammar; the path of a leaf is not escaped yet: `payload.order id`. */
  readonly field: string
  readonly value: string
  readonly prefix?: boolean
  /** Whether entries that match are kept out. */
  readonly negated?: boolean
}

/** Values that the grammar reads as they are after a colon. */
const BARE = /^[^\s()"\\*[<>][^\s()"\\*]*$/
const SPECIAL_IN_NAME = /[\s()":\\]/g

/** A value as it stands after a colon, in quotes where the grammar would read it differently without. */
export const quoteValue = (value: string): string =>
  BARE.test(value) && !value.includes('..') ? value : `"${value.replace(/["\\]/g, '\\$&')}"`

/** A name as it stands before a colon. */
export const escapeName = (name: string): string => name.replace(SPECIAL_IN_NAME, '\\$&')

/** The text of a term, which the grammar reads as that term. */
export const printTerm = ({ field, value, prefix = false, negated = false }: Term): string =>
  `${negated ? '-' : ''}${escapeName(field)}:${quoteValue(value)}${prefix ? '*' : ''}`
