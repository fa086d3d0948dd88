import type { Page } from '../../shared/log-store/log-store.ts'
import { encodeCursor } from './cursor.ts'
import { itemOf } from './items.ts'
import type { Names } from './names.ts'
import type { ValuedRow } from './row-values.ts'

/** Maximum characters of one page's items: the registry's names for a row's Event and Step can be as long as the row. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024
/** The same for each of two lists of one answer. */
export const HALF_PAGE_CHARACTERS_MAX = PAGE_CHARACTERS_MAX / 2

/** The JSON texts of the first items, at least one, that have at most `charactersMax` characters together. */
export function textsWithin<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  charactersMax = PAGE_CHARACTERS_MAX,
): readonly string[] {
  const texts: string[] = []
  let characters = 0
  for (const item of items) {
    const text = textOf(item)
    characters += text.length
    if (texts.length > 0 && characters > charactersMax) break
    texts.push(text)
  }
  return texts
}

/** The first items, at least one, whose JSON has at most `charactersMax` characters. */
export const within = <Item>(items: readonly Item[], charactersMax: number): readonly Item[] =>
  items.slice(0, textsWithin(items, (item) => JSON.stringify(item), charactersMax).length)

/** The data of a list, as JSON text, of items that are JSON texts already; `rest` has the further fields. */
export const listText = (
  texts: readonly string[],
  rest: Readonly<Record<string, unknown>> & { readonly nextCursor: string | null },
): string => `{"items":[${texts.join(',')}],${JSON.stringify(rest).slice(1)}`

/**
 * The data of a list, as JSON text: `items`, `nextCursor` and the further fields in `extra`. A page whose items would exceed `charactersMax`
 * ends early, after at least one item, and its cursor continues from there.
 */
export function pageText(
  page: { readonly entries: readonly ValuedRow[]; readonly next: Page['next'] },
  order: 'asc' | 'desc',
  names: Names,
  extra: Readonly<Record<string, unknown>>,
  charactersMax = PAGE_CHARACTERS_MAX,
): string {
  const texts = textsWithin(page.entries, (entry) => JSON.stringify(itemOf(entry, names)), charactersMax)
  const cutAt = texts.length < page.entries.length ? page.entries[texts.length - 1] : undefined
  const next = cutAt ?? page.next
  return listText(texts, { ...extra, nextCursor: next === null ? null : encodeCursor(order, next) })
}
