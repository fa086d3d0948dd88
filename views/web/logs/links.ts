import type { Entry } from '../../schemas/answers.ts'
import { formatAddress } from '../lib/address.ts'
import { iso } from '../lib/times.ts'
import { BASE } from '../ui/base.ts'
import { currentAddress, hrefTo } from '../ui/use-address.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, frozenParams } from './filters.ts'

/** Around an entry, on a page that is opened with nothing but it. */
const AROUND_MS = 1_800_000

const onItsPage = (entry: Entry): boolean => currentAddress().path[0] === folderOf(entry.kind)

/** The whole URL of the list as it is, which shows the same tomorrow; `now` is when it was read. */
export const listLink = (now: number): string =>
  urlWith(currentAddress().path, frozenParams(currentAddress().params, now))

/** The whole URL that shows the entry: in the list that is open, or else among the logs around it. */
export function entryLink(entry: Entry, now: number): string {
  if (onItsPage(entry))
    return urlWith(currentAddress().path, { ...frozenParams(currentAddress().params, now), id: entry.id })
  const at = Date.parse(entry.timestamp)
  return urlWith([folderOf(entry.kind)], { id: entry.id, from: iso(at - AROUND_MS), to: iso(at + AROUND_MS) })
}

/** The paths of an entry and of its details in the API. */
export const entryPath = ({ kind, id }: Entry): string => `/api/${folderOf(kind)}/${id}`
export const detailsPath = (entry: Entry): string => `${entryPath(entry)}/details`

/** The link to another entry with its context. */
export const contextHref = (entry: Entry): string =>
  onItsPage(entry)
    ? hrefTo({ params: { id: entry.id } })
    : hrefTo({ path: [folderOf(entry.kind)], params: { id: entry.id, tab: 'context' } })

export const flowHref = (correlationKey: string): string => hrefTo({ path: ['flows', correlationKey] })

function urlWith(path: readonly string[], params: AddressParams): string {
  const given = Object.fromEntries(
    Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  return location.origin + formatAddress({ path, params: given }, BASE)
}
