import type { EntryKind } from '../../contract/records.ts'

/** The version of the mappings. A change that existing documents cannot serve is a new version, and so new indices. */
const VERSION = 'v1'
export const KINDS: readonly EntryKind[] = ['event', 'application']
const VIEW = { event: 'event-logs', application: 'application-logs' } as const satisfies Record<EntryKind, string>

/** As INDEX_PREFIX allows: Elasticsearch accepts no capitals and few special characters, none of these at the beginning. */
const PREFIX = /^[a-z0-9][a-z0-9._-]{0,99}$/

export interface IndexNames {
  readonly prefix: string
  /** The index of a day (yyyy-mm-dd, UTC, of `receivedAt`). */
  day(kind: EntryKind, day: string): string
  /** The indices of every day, of both kinds if none is given. */
  all(kinds?: readonly EntryKind[]): string
  /** The day of an index of any generation; undefined if it is not one of ours. */
  dayOf(index: string): string | undefined
  kindOf(index: string): EntryKind | undefined
  /** The name by which an index of any generation is written and searched; undefined if it is not one of ours. */
  nameOf(index: string): string | undefined
  /** Whether the index is a generation that a rebuild made. */
  isRebuilt(index: string): boolean
  readonly flows: string
  /** The generations that rebuilds made of any index. */
  readonly generations: string
  /**
   * The index that replaces `index`, which has `name` or stands behind it as an alias (rebuild.ts), such as
   * `sluice-flows-v1.3` after `sluice-flows-v1.2`. No search finds it before it has the alias.
   */
  nextGeneration(name: string, index: string): string
}

/** The names of the indices; throws if the prefix is not allowed. */
export function indexNames(prefix: string): IndexNames {
  if (!PREFIX.test(prefix)) {
    throw new Error(`an index prefix is 1 to 100 of a-z 0-9 . _ - and begins with a letter or digit, got ${prefix}`)
  }
  const base = (view: string): string => `${prefix}-${view}-${VERSION}`
  const bases = [...KINDS.map((kind) => base(VIEW[kind])), base('flows')]
  /** The part of a name after its base: the generation from the second one on, and the day. */
  const restOf = (index: string): RegExpExecArray | null => {
    const found = bases.find((candidate) => index.startsWith(candidate))
    return found === undefined ? null : REST.exec(index.slice(found.length))
  }
  return {
    prefix,
    day: (kind, day) => `${base(VIEW[kind])}-${day.replaceAll('-', '.')}`,
    all: (kinds = KINDS) => (kinds.length === 0 ? KINDS : kinds).map((kind) => `${base(VIEW[kind])}-*`).join(','),
    dayOf: (index) => restOf(index)?.[2]?.replaceAll('.', '-'),
    kindOf: (index) => KINDS.find((kind) => ['.', '-'].some((next) => index.startsWith(base(VIEW[kind]) + next))),
    isRebuilt: (index) => restOf(index)?.[1] !== undefined,
    nameOf: (index) => {
      const [rest, , day] = restOf(index) ?? []
      return rest === undefined
        ? undefined
        : `${index.slice(0, index.length - rest.length)}${day === undefined ? '' : `-${day}`}`
    },
    flows: base('flows'),
    generations: bases.map((name) => `${name}.*`).join(','),
    nextGeneration: (name, index) => {
      const end = bases.find((candidate) => name.startsWith(candidate))?.length ?? name.length
      return `${name.slice(0, end)}.${Number(restOf(index)?.[1] ?? 1) + 1}${name.slice(end)}`
    },
  }
}

const REST = /^(?:\.(\d{1,6}))?(?:-(\d{4}\.\d\d\.\d\d))?$/
