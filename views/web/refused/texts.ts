import type { Refusal } from '../../schemas/answers.ts'

export const REFUSED = {
  title: 'Refused logs',
  about: 'Logs and requests of this Team that the gateway refused within a day, by reason and client.',
  reason: 'Reason',
  everyReason: 'Every reason',
  showEveryReason: 'Show every reason',
  none: 'Nothing was refused',
  noneForReason: 'Nothing was refused for this reason',
  noneAbout: 'What cannot be accepted appears here within seconds, with what to change.',
  client: (userAgent: string | null): string => userAgent ?? 'client not named',
  last: 'last',
  more: (count: string): string => `Show ${count} more like this`,
  unnoted: (count: string): string => `+${count} alike`,
  unnotedAbout: 'They followed and were not kept.',
  nearest: 'Did you mean',
  all: 'See all of the Team',
  cut: '… cut here',
  noCommand: 'What was sent is not kept in full, or fits no command, so it cannot be tried again from here.',
  command: 'Copy as cURL',
  mendedCommand: 'Copy as cURL, with the identifier mended',
} as const

/** A line in the description of a refusal. */
interface Fact {
  readonly name: string
  readonly text: string
}

/** The parts of a refusal that its facts are made from. */
type FactParts = Pick<Refusal, 'details' | 'endpoint' | 'index' | 'identifier' | 'keyPrefix' | 'userAgent'>

/** Refusals of one client for one reason, newest first. */
export interface RefusedGroup {
  readonly key: string
  /** The total number, including those that were not kept. */
  readonly count: number
  readonly items: readonly [Refusal, ...Refusal[]]
}

/** Groups the refusals (newest first) by reason and client; the group with the newest comes first. */
export function groupsOf(items: readonly Refusal[]): readonly RefusedGroup[] {
  const groups = new Map<string, RefusedGroup>()
  for (const item of items) {
    const key = JSON.stringify([item.code, item.userAgent, item.keyPrefix])
    const before = groups.get(key)
    const count = (before?.count ?? 0) + 1 + item.unnoted
    groups.set(key, { key, count, items: before === undefined ? [item] : [...before.items, item] })
  }
  return [...groups.values()]
}

/** The errors in the refused data, place by place, then what was sent and by whom. */
export const factsOf = ({ details, endpoint, index, identifier, keyPrefix, userAgent }: FactParts): readonly Fact[] => [
  ...placesOf(details),
  { name: 'Sent to', text: index === null ? endpoint : `${endpoint}, entry ${index}` },
  ...(identifier === null ? [] : [{ name: 'Identifier', text: identifier }]),
  { name: 'Key', text: keyPrefix === null ? 'none' : `${keyPrefix}…` },
  { name: 'Client', text: userAgent ?? 'not named' },
]

/** The places named in the details; else the details as text. */
function placesOf(details: unknown): readonly Fact[] {
  if (details === null) return []
  const places = Array.isArray(details) ? details.map(placeOf) : [undefined]
  return places.every((place) => place !== undefined) ? places : [{ name: 'Details', text: JSON.stringify(details) }]
}

function placeOf(detail: unknown): Fact | undefined {
  const { path, message } = (detail ?? {}) as Readonly<Record<string, unknown>>
  if (typeof path !== 'string' || typeof message !== 'string') return undefined
  return { name: path || 'Details', text: message }
}
