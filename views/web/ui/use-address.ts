import { type Address, type AddressPatch, formatAddress, parseAddress, patchAddress, showSame } from '../lib/address.ts'
import { BASE } from './base.ts'
import { createStore, useStore } from './store.ts'

/** How a change enters the browser's history: `push` for changes that "back" should undo, `replace` for others. */
export type How = 'push' | 'replace'

const read = (): Address => parseAddress(location.pathname, location.search, BASE)

const store = createStore(read())

window.addEventListener('popstate', () => store.set(read()))

/** The current address, for use outside components. */
export const currentAddress = (): Address => store.get()

/** Goes to another address. A different page starts at the top, and so does a list with other filters. */
export const go = (patch: AddressPatch, how: How = 'push'): void => visit(patchAddress(store.get(), patch), how)

function visit(to: Address, how: How): void {
  const url = formatAddress(to, BASE)
  if (url === location.pathname + location.search) return
  history[`${how}State`](null, '', url)
  if (how === 'push' && !showSame(to, store.get())) scrollTo(0, 0)
  store.set(to)
}

/** The URL that `go` would go to, for a link; plain clicks do not reload the page (see followLinks). */
export const hrefTo = (patch: AddressPatch): string => formatAddress(patchAddress(store.get(), patch), BASE)

/** The address and its setter; rerenders the component whenever the address changes. */
export const useAddress = (): readonly [Address, typeof go] => [useStore(store), go]

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
