import type { Leaf } from '../contract/documents.ts'
import { hasLostDigits, numberText } from '../contract/exact-json.ts'
import { searchText } from '../contract/keyword.ts'

/** Deeper containers are not searched; arrays count as levels too. */
export const LEAF_DEPTH_MAX = 20
/** Leaves with a longer path or value, in UTF-16 units, are left out. */
export const LEAF_PATH_LENGTH_MAX = 1_024
export const LEAF_VALUE_LENGTH_MAX = 1_024
/** Further leaves are left out. */
export const LEAVES_MAX = 1_000

/** Stands for an empty name, which some stores refuse. */
const NAMELESS = '_'

/** The members of objects and arrays that may still be read; reading subtracts them. */
interface LeafRoom {
  members: number
}

/**
 * The leaves of a JSON object or array, in order: the names on the way joined by dots (arrays add none, so each element is a leaf of its
 * own), and the text of a string, number or boolean. A null is not a leaf, nor is a value without a name on its way. Paths and values are
 * made safe by `searchText`. Numbers may be those of `parseExactly`. If there is no room for all members of an object or array, none of
 * them is read.
 */
export function leaves(value: unknown, room: LeafRoom = { members: Infinity }): readonly Leaf[] {
  const found: Leaf[] = []
  gather(value, '', 0, found, room)
  return found
}

/** The recursion is bounded by the depth limit. */
function gather(value: unknown, path: string, depth: number, found: Leaf[], room: LeafRoom): void {
  if (found.length >= LEAVES_MAX || value === null) return
  const number = typeof value === 'object' ? numberText(value) : undefined
  if (typeof value !== 'object') {
    addLeaf(path, String(value), found)
  } else if (number !== undefined) {
    addLeaf(path, numberLeaf(number), found)
  } else if (depth < LEAF_DEPTH_MAX && Array.isArray(value)) {
    if (take(room, value.length)) for (const element of value) gather(element, path, depth + 1, found, room)
  } else if (depth < LEAF_DEPTH_MAX && room.members > 0) {
    const members = value as Readonly<Record<string, unknown>>
    const names = Object.keys(members)
    if (take(room, names.length)) for (const name of names) gatherMember(name, members[name], path, depth, found, room)
  }
}

function take(room: LeafRoom, members: number): boolean {
  room.members -= members
  return room.members >= 0
}

/** A JSON number in searchable form: as JavaScript prints it, or as it was written if that would lose digits. */
export function numberLeaf(written: string): string {
  const value = Number(written)
  return hasLostDigits(value) ? written : String(value)
}

function gatherMember(name: string, member: unknown, path: string, depth: number, found: Leaf[], room: LeafRoom): void {
  const step = name === '' ? NAMELESS : searchText(name)
  const below = path === '' ? step : `${path}.${step}`
  if (below.length <= LEAF_PATH_LENGTH_MAX) gather(member, below, depth + 1, found, room)
}

function addLeaf(path: string, value: string, found: Leaf[]): void {
  if (path === '' || value.length > LEAF_VALUE_LENGTH_MAX) return
  found.push([path, searchText(value)])
}
