import type { EntryKind } from '../../contract/records.ts'

/** The position of a reader of arrivals: the last number that it has seen in each shard. */
export interface TailPosition {
  /** The kinds that the reader follows. Of the other kind it has seen nothing, and missed nothing. */
  readonly kinds: readonly EntryKind[]
  readonly seen: ReadonlyMap<string, number>
}

const KIND_LETTERS = { event: 'e', application: 'a' } as const satisfies Record<EntryKind, string>
const SHAPE = /^([ea]{1,2})~((?:[\w-]{7,12}\.[0-9a-z]{1,11}(?:,|$))*)$/

/** A cursor's text, such as `ea~Xy12_-0.2s,…`: short enough for a header. */
export function encodePosition({ kinds, seen }: TailPosition): string {
  const letters = kinds.map((kind) => KIND_LETTERS[kind]).join('')
  return `${letters}~${[...seen].map(([key, number]) => `${key}.${number.toString(36)}`).join(',')}`
}

/** The position in a cursor's text; undefined if it is not a cursor of this store. */
export function decodePosition(text: string): TailPosition | undefined {
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, letters = '', parts = ''] = match
  const kinds = (['event', 'application'] as const).filter((kind) => letters.includes(KIND_LETTERS[kind]))
  const seen = parts
    .split(',')
    .filter((part) => part !== '')
    .map((part): [string, number] => {
      const dot = part.indexOf('.')
      return [part.slice(0, dot), Number.parseInt(part.slice(dot + 1), 36)]
    })
  return { kinds, seen: new Map(seen) }
}
