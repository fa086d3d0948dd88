import { cut } from '../flow-layout/format.ts'

/** Maximum characters of the details of one entry: however repetitive the entry is, its details stay in proportion. */
export const CHARACTERS_MAX = 256 * 1024
/** Maximum characters of one text, so that a long one leaves room for others. */
export const TEXT_MAX = 128 * 1024
/** The cost of a list item apart from its texts: its names and brackets in the answer. */
const ITEM_CHARACTERS = 64

/** The room left for the details of one entry; texts and items consume it in call order. */
export interface Allowance {
  /** The text, or as much of its beginning as fits, followed by an ellipsis. */
  text(whole: string, charactersMax?: number): string
  /** As many of the items as fit, converted by `show`. */
  list<Item, Shown>(items: readonly Item[], show: (item: Item) => Shown, itemsMax?: number): readonly Shown[]
  /** Returns a function that reports whether anything was cut or omitted since this call. */
  watch(): () => boolean
}

export function createAllowance(): Allowance {
  let left = CHARACTERS_MAX
  let cuts = 0
  return {
    text: (whole, textMax = TEXT_MAX) => {
      const { text, more } = cut(whole, Math.min(left, textMax))
      left -= text.length
      if (more === 0) return text
      cuts += 1
      return `${text}…`
    },
    list: (items, show, itemsMax = items.length) => {
      const shown = []
      for (const item of items) {
        if (shown.length === itemsMax || left < ITEM_CHARACTERS) {
          cuts += 1
          break
        }
        left -= ITEM_CHARACTERS
        shown.push(show(item))
      }
      return shown
    },
    watch: () => {
      const before = cuts
      return () => cuts > before
    },
  }
}
