import { cut } from '../flow-layout/format.ts'

/** Most characters of the details of one entry: however it repeats itself, its details stay in proportion to it. */
export const CHARACTERS_MAX = 256 * 1024
/** Most characters of one text, so that a long one leaves room for others. */
export const TEXT_MAX = 128 * 1024
/** The cost of an item of a list beside its texts: its names and brackets in the answer. */
const ITEM_CHARACTERS = 64

/** The room that is left for the details of one entry. Texts and items take their room in the order in which they are asked for. */
export interface Allowance {
  /** The text, or as much of its beginning as there is room for with an ellipsis. */
  text(whole: string, charactersMax?: number): string
  /** As many of the items as there is room for, as `show` shows them. */
  list<Item, Shown>(items: readonly Item[], show: (item: Item) => Shown, itemsMax?: number): readonly Shown[]
  /** Tells, from now on, whether anything was cut or left out. */
  watch(): () => boolean
}

export function createAllowance(charactersMax = CHARACTERS_MAX): Allowance {
  let left = charactersMax
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
