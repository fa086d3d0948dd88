/** One condition that a reader adds to a search from a value on the page: `field:value`, or with `prefix` `field:value*`. */
export interface Term {
  /** A name of the grammar; the path of a leaf is not escaped: `payload.order id`. */
  readonly field: string
  readonly value: string
  readonly prefix?: boolean
  /** Whether matching entries are excluded. */
  readonly negated?: boolean
}

/** Values that the grammar reads literally after a colon. */
const BARE = /^[^\s()"\\*[<>][^\s()"\\*]*$/
const SPECIAL_IN_NAME = /[\s()":\\]/g

/** A value as written after a colon, quoted if the grammar would otherwise read it differently. */
export const quoteValue = (value: string): string =>
  BARE.test(value) && !value.includes('..') ? value : `"${value.replace(/["\\]/g, '\\$&')}"`

/** A name as written before a colon. */
export const escapeName = (name: string): string => name.replace(SPECIAL_IN_NAME, '\\$&')

/** The text that the grammar reads as this term. */
export const printTerm = ({ field, value, prefix = false, negated = false }: Term): string =>
  `${negated ? '-' : ''}${escapeName(field)}:${quoteValue(value)}${prefix ? '*' : ''}`
