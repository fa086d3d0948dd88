import { visitLeaves } from './json-leaves.ts'

/** A value of a payload and the names that lead to it, joined by dots; an array adds none. */
export interface Pair {
  readonly path: string
  /** A text without its quotes; a number as it is written, whatever its size. */
  readonly text: string
}

/** Characters of a payload that are read for a line. */
const READ_MAX = 600

/** The values of a payload that is a JSON object, from its beginning; undefined for other texts. */
export function pairsOf(payload: string): readonly Pair[] | undefined {
  if (!payload.startsWith('{')) return undefined
  // A cut text mostly ends after a whole value; a part of a name cannot be read.
  const isCut = payload.length > READ_MAX
  const text = isCut ? payload.slice(0, payload.lastIndexOf(',', READ_MAX)) : payload
  try {
    if (!isCut) JSON.parse(text)
    const pairs = read(text)
    return pairs.length === 0 ? undefined : pairs
  } catch {
    return undefined
  }
}

/** A value as it stands after its name: in quotes where it would else look like more than one. */
export const valueText = (text: string): string => (/^$|[\s"=]/.test(text) ? JSON.stringify(text) : text)

/** Throws where a name is none. */
function read(json: string): readonly Pair[] {
  const pairs: Pair[] = []
  visitLeaves(json, {
    join: (path, name) => (path === '' ? name : `${path}.${name}`),
    visit: (path, token) => pairs.push({ path, text: token.startsWith('"') ? JSON.parse(token) : token }) > 0,
  })
  return pairs
}
