import { useLayoutEffect } from 'preact/hooks'
import { type Address, type AddressPatch, formatAddress, parseAddress, patchAddress, showSame } from '../lib/address.ts'
import { BASE } from './base.ts'
import { createStore, useStore } from './store.ts'

/** How a change enters the browser's history: `push` for changes that "back" should undo, `replace` for others. */
type How = 'push' | 'replace'

const read = (): Address => parseAddress(location.pathname, location.search, BASE)

const store = createStore(read())

window.addEventListener('popstate', () => {
  const to = read()
  // The list that is shown is not read again if only what is beside it changes.
  if (returning !== undefined || !showSame(to, store.get())) returning = history.state ?? undefined
  store.set(to)
})

/** Where the reader is in a page; kept in the browser's history, so that going back or reloading leads there again. */
interface Place {
  /** The `data-id` of the row with the focus, or else of the first in sight, and how far below the top of the window it is, in pixels. */
  readonly id: string | undefined
  readonly top: number
  readonly isFocused: boolean
  /** How far the page is scrolled, in pixels, in case the row is gone. */
  readonly scroll: number
  /** The number of rows from the first to the last drawn one. */
  readonly rows: number
}

/** The place to go to once its rows are there. */
let returning: Place | undefined = history.state ?? undefined

function keepPlace(): void {
  // Until the reader is back at a place, it stays the one that is kept.
  if (returning !== undefined) return
  const rows = [...document.querySelectorAll<HTMLElement>('[data-id]')]
  const focused = rows.find((row) => row.contains(document.activeElement))
  const row = focused ?? rows.find((one) => one.getBoundingClientRect().top > 0)
  const place: Place = {
    id: row?.dataset['id'],
    top: row?.getBoundingClientRect().top ?? 0,
    isFocused: focused !== undefined,
    scroll: scrollY,
    rows: Number(rows.at(-1)?.ariaRowIndex ?? rows.length),
  }
  history.replaceState(place, '')
}

/** How long scrolling has to rest before the place is kept, in milliseconds: browsers refuse frequent changes of their history. */
const REST_MS = 300

let timer = 0
addEventListener(
  'scroll',
  () => {
    clearTimeout(timer)
    timer = window.setTimeout(keepPlace, REST_MS)
  },
  { passive: true },
)

/** How many rows a list has to read for the place that the reader returns to; 0 if to none. */
export const rowsToReturn = (): number => returning?.rows ?? 0

/** Returns to the kept place when the answer that its rows come from is drawn; `onRow` has to draw its row even if that is out of sight. */
export function useReturn(answer: unknown, onRow?: (id: string) => void): void {
  useLayoutEffect(() => {
    const place = returning
    if (answer === undefined || place === undefined) return
    const { id = '', top, isFocused, scroll } = place
    onRow?.(id)
    // In the next frame, the rows have their heights.
    requestAnimationFrame(() => {
      if (returning !== place) return
      returning = undefined
      const row = document.querySelector(`[data-id="${CSS.escape(id)}"]`)
      // Rows that came meanwhile move a list that was scrolled, but are seen in one that was not.
      if (row === null || scroll === 0) scrollTo(0, scroll)
      else scrollBy(0, row.getBoundingClientRect().top - top)
      if (isFocused) row?.querySelector<HTMLElement>('a,button')?.focus({ preventScroll: true })
    })
  }, [answer])
}

/** The current address, for use outside components. */
export const currentAddress = (): Address => store.get()

/** Goes to another address. A different page starts at the top, and so does a list with other filters. */
export const go = (patch: AddressPatch, how: How = 'push'): void => visit(patchAddress(store.get(), patch), how)

function visit(to: Address, how: How): void {
  const url = formatAddress(to, BASE)
  if (url === location.pathname + location.search) return
  const isSame = showSame(to, store.get())
  if (how === 'push') keepPlace()
  if (!isSame) returning = undefined
  history[`${how}State`](isSame ? history.state : null, '', url)
  if (how === 'push' && !isSame) scrollTo(0, 0)
  // Chosen values, groups and ways out of an empty list go with what they lead to, and would take the focus with them.
  if (document.activeElement?.closest('.chips,.groups,.empty'))
    document.getElementById('main')?.focus({ preventScroll: true })
  store.set(to)
}

/** The URL that `go` would go to, for a link; plain clicks do not reload the page (see followLinks). */
export const hrefTo = (patch: AddressPatch): string => formatAddress(patchAddress(store.get(), patch), BASE)

/** The address; rerenders the component whenever it changes. */
export const useAddress = (): Address => useStore(store)

/** Makes plain clicks on links within the page change the address without a reload. */
export function followLinks(pages: readonly string[]): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    // Links to an anchor on the page are left to the browser.
    if (link.target !== '' || link.hash !== '' || link.hasAttribute('download')) return
    const to = parseAddress(link.pathname, link.search, BASE)
    if (link.origin !== location.origin || !link.pathname.startsWith(BASE) || !pages.includes(to.path[0] ?? '')) return
    event.preventDefault()
    visit(to, 'push')
  })
}
