import type { Page } from '../../shared/log-store/log-store.ts'
import { encodeCursor } from './cursor.ts'
import { itemOf } from './items.ts'
import type { Names } from './names.ts'
import type { ValuedRow } from './row-values.ts'

/** Maximum characters of one page's items: the registry's names for a row's Event and Step can be as long as the row. */
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024

/**
 * The answer of a list: `items`, `nextCursor` and the further fields of `data` in `extra`. A page whose items would exceed `charactersMax`
 * ends early, after at least one item, and its cursor continues from there.
 */
export function pageBody(
  page: { readonly entries: readonly ValuedRow[]; readonly next: Page['next'] },
  order: 'asc' | 'desc',
  names: Names,
  extra: Readonly<Record<string, unknown>>,
  charactersMax = PAGE_CHARACTERS_MAX,
): string {
  const texts: string[] = []
  let last: ValuedRow | undefined
  let characters = 0
  for (const entry of page.entries) {
    const text = JSON.stringify(itemOf(entry, names))
    characters += text.length
    if (last !== undefined && characters > charactersMax) break
    texts.push(text)
    last = entry
  }
  const cutAt = texts.length < page.entries.length ? last : undefined
  const next = cutAt ?? page.next
  const rest = { ...extra, nextCursor: next === null ? null : encodeCursor(order, next) }
  return `{"success":true,"data":{"items":[${texts.join(',')}],${JSON.stringify(rest).slice(1)}}`
}
