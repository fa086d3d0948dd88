import { setOwn } from '../../shared/contract/exact-json.ts'
import { type Fields, isObject } from '../ingest/fields.ts'
import { ALIASES, type Alias, type AliasedField, nameOf } from './aliases.ts'

/** A value of an entry under one of the names of a field. */
export interface Found {
  /** The member names that lead to the value. */
  readonly path: readonly string[]
  /** The path as the table has it: dotted, in lower case, without `_` and `-`. */
  readonly name: string
  readonly value: unknown
}

/** Reads a value; undefined if it cannot. `leave` leaves a part of the value where it was. */
type Read<Value> = (value: unknown, found: Found, leave: (part: Fields) => void) => Value | undefined

/** The values of an entry for the fields, and the rest of the entry. */
export interface FoundFields {
  /** All values for a field, the preferred one first. */
  of(field: AliasedField): readonly Found[]
  /** Returns the first value that `read` accepts and removes it from the rest, except the part that `read` leaves there. */
  take<Value>(field: AliasedField, read: Read<Value>): Value | undefined
  /** A copy of the entry without the values that were taken. */
  rest(): Fields
}

const canonical = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

interface Place {
  readonly field: AliasedField
  readonly rank: number
  readonly beside: readonly string[]
}

const PLACES: ReadonlyMap<string, Place> = new Map(
  Object.entries<readonly Alias[]>(ALIASES).flatMap(([field, aliases]) =>
    aliases.map((alias, rank): [string, Place] => [
      canonical(nameOf(alias)),
      { field: field as AliasedField, rank, beside: typeof alias === 'string' ? [] : alias.beside.map(canonical) },
    ]),
  ),
)

/** Names of objects that the table leads into. */
const OUTER: ReadonlySet<string> = new Set(
  [...PLACES.keys()].flatMap((name) => {
    const names = name.split('.')
    return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'))
  }),
)

interface Ranked extends Found {
  readonly rank: number
}

/** A value that was taken. */
interface Taken {
  readonly path: readonly string[]
  /** The part of it that stays. */
  readonly left: Fields
}

export function findFields(entry: Fields): FoundFields {
  const found = new Map<AliasedField, Ranked[]>()
  const taken: Taken[] = []
  let names: ReadonlySet<string> | undefined

  const has = (name: string): boolean => {
    names ??= new Set(Object.keys(entry).map(canonical))
    return names.has(name)
  }

  function add({ field, rank, beside }: Place, one: Found): void {
    if (beside.length > 0 && !beside.some(has)) return
    const list = found.get(field)
    if (list === undefined) found.set(field, [{ ...one, rank }])
    else list.push({ ...one, rank })
  }

  function collect(object: Fields, prefix: string, outer: readonly string[]): void {
    for (const key of Object.keys(object)) {
      const value = object[key]
      if (value === null) continue
      const name = prefix + canonical(key)
      const place = PLACES.get(name)
      if (place === undefined && !OUTER.has(name)) continue
      const path = [...outer, key]
      if (place !== undefined) add(place, { path, name, value })
      if (OUTER.has(name) && isObject(value)) collect(value, `${name}.`, path)
    }
  }

  collect(entry, '', [])
  for (const list of found.values()) list.sort((one, other) => one.rank - other.rank)
  const of = (field: AliasedField): readonly Found[] => found.get(field) ?? []
  return {
    of,
    take: (field, read) => {
      for (const one of of(field)) {
        let left: Fields = {}
        const value = read(one.value, one, (part) => {
          left = part
        })
        if (value === undefined) continue
        taken.push({ path: one.path, left })
        return value
      }
      return undefined
    },
    rest: () => without(entry, taken),
  }
}

/** Copies an object without the values that were taken below it, and without objects that this leaves empty. */
function without(object: Fields, taken: readonly Taken[], depth = 0): Fields {
  const inner = Map.groupBy(taken, ({ path }) => path[depth] ?? '')
  const kept: Record<string, unknown> = {}
  for (const name in object) {
    const below = inner.get(name)
    if (below === undefined) {
      setOwn(kept, name, object[name])
      continue
    }
    const whole = below.find(({ path }) => path.length === depth + 1)
    const left = whole === undefined ? without(object[name] as Fields, below, depth + 1) : whole.left
    if (Object.keys(left).length > 0) setOwn(kept, name, left)
  }
  return kept
}
