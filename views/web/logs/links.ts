import type { Entry } from '../../schemas/answers.ts'
import { formatAddress, patchAddress } from '../lib/address.ts'
import { iso } from '../lib/times.ts'
import { BASE } from '../ui/base.ts'
import { currentAddress, hrefTo } from '../ui/use-address.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, frozenParams } from './filters.ts'

/** Half the range shown around an entry that is linked without a list, in milliseconds. */
const AROUND_MS = 1_800_000

const onItsPage = (entry: Entry): boolean => currentAddress().path[0] === folderOf(entry.kind)

/** The full, permanent URL of the current list; `now` is when it was read. */
export const listLink = (now: number): string =>
  urlWith(currentAddress().path, frozenParams(currentAddress().params, now))

/** The full URL that shows the entry: in the current list if possible, or else among the logs around it. */
export function entryLink(entry: Entry, now: number): string {
  if (onItsPage(entry))
    return urlWith(currentAddress().path, { ...frozenParams(currentAddress().params, now), id: entry.id })
  return urlWith([folderOf(entry.kind)], { id: entry.id, ...around(entry) })
}

function around({ timestamp }: Entry): { readonly from: string; readonly to: string } {
  const at = Date.parse(timestamp)
  return { from: iso(at - AROUND_MS), to: iso(at + AROUND_MS) }
}

export const entryPath = ({ kind, id }: Entry): string => `/api/${folderOf(kind)}/${id}`
export const detailsPath = (entry: Entry): string => `${entryPath(entry)}/details`

/** The link to another entry with its context: in the current list, or else among the logs around it. */
export const contextHref = (entry: Entry): string =>
  onItsPage(entry)
    ? hrefTo({ params: { id: entry.id } })
    : hrefTo({ path: [folderOf(entry.kind)], params: { id: entry.id, tab: 'context', ...around(entry) } })

export const flowHref = (correlationKey: string): string => hrefTo({ path: ['flows', correlationKey] })

const urlWith = (path: readonly string[], params: AddressParams): string =>
  location.origin + formatAddress(patchAddress({ path, params: {} }, { params }), BASE)
