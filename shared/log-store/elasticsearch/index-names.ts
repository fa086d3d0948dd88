import type { EntryKind } from '../../contract/records.ts'

/** The version of the mappings. A change that existing documents cannot serve is a new version, and so new indices. */
const VERSION = 'v1'
const KINDS: readonly EntryKind[] = ['event', 'application']
const VIEW = { event: 'event-logs', application: 'application-logs' } as const satisfies Record<EntryKind, string>

/** As INDEX_PREFIX allows: Elasticsearch accepts no capitals and few special characters, none of these at the beginning. */
const PREFIX = /^[a-z0-9][a-z0-9._-]{0,99}$/

export interface IndexNames {
  readonly prefix: string
  /** The index of a day (yyyy-mm-dd, UTC, of `receivedAt`). */
  day(kind: EntryKind, day: string): string
  /** The indices of every day, of both kinds if none is given. */
  all(kinds?: readonly EntryKind[]): string
  /** The day of an index; undefined if it is not one of ours. */
  dayOf(index: string): string | undefined
  kindOf(index: string): EntryKind | undefined
  readonly flows: string
}

/** The names of the indices; throws if the prefix is not allowed. */
export function indexNames(prefix: string): IndexNames {
  if (!PREFIX.test(prefix)) {
    throw new Error(`an index prefix is 1 to 100 of a-z 0-9 . _ - and begins with a letter or digit, got ${prefix}`)
  }
  const base = (kind: EntryKind): string => `${prefix}-${VIEW[kind]}-${VERSION}-`
  const bases = KINDS.map(base)
  return {
    prefix,
    day: (kind, day) => base(kind) + day.replaceAll('-', '.'),
    all: (kinds = KINDS) => (kinds.length === 0 ? KINDS : kinds).map((kind) => `${base(kind)}*`).join(','),
    dayOf: (index) => {
      const first = bases.find((candidate) => index.startsWith(candidate))
      const day = first === undefined ? '' : index.slice(first.length)
      return /^\d{4}\.\d\d\.\d\d$/.test(day) ? day.replaceAll('.', '-') : undefined
    },
    kindOf: (index) => KINDS.find((kind) => index.startsWith(base(kind))),
    flows: `${prefix}-flows-${VERSION}`,
  }
}
