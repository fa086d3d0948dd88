import { beginningOf } from '../../shared/contract/rows.ts'

/** A count with thousands separators: `12,345`. */
export const countText = (count: number): string => count.toLocaleString('en')

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** A compact count: `950`, `12.3k`, `4.1M`. */
export const shortCount = (count: number): string => COMPACT.format(count).replace('K', 'k')

/** `1 log`, `2 logs`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`

/**
 * Makes a log's text safe to show: control characters and bidirectional overrides become symbols. Tabs, line ends and the joiners that
 * scripts and emoji need are kept.
 */
export const visible = (text: string): string => text.replaceAll(UNSEEN, symbolOf)

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\r(?!\n)/g

function symbolOf(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `\u27e8${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`
}

/** The beginning of a text, and the number of characters cut off; never splits a surrogate pair. */
export function cut(whole: string, length: number): { readonly text: string; readonly more: number } {
  const text = beginningOf(whole, length)
  return { text, more: whole.length - text.length }
}

/** The last two parts of a category: the class and a qualifier that distinguishes it from others of that name, as `Payments.Client`. */
export const shortCategory = (category: string): string =>
  category.slice(category.lastIndexOf('.', category.lastIndexOf('.') - 1) + 1) || category
