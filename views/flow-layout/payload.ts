/** A value of a payload and the names that lead to it, joined by dots; an array adds none. */
export interface Pair {
  readonly path: string
  /** A text without its quotes; a number as it is written, whatever its size. */
  readonly text: string
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
/** Characters of a payload that are read for a line. */
const READ_MAX = 600

/** The values of a payload that is a JSON object, from its beginning; undefined for other texts. */
export function pairsOf(payload: string): readonly Pair[] | undefined {
  if (!payload.startsWith('{')) return undefined
  // What is cut ends after a whole value, in most cases; a part of a name is none that can be read.
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
  const containers: { readonly path: string; readonly isObject: boolean; member: string; named: boolean }[] = []
  for (const [token] of json.matchAll(TOKEN)) {
    const within = containers.at(-1)
    if (token === '{' || token === '[') {
      const path = within?.member ?? ''
      containers.push({ path, isObject: token === '{', member: path, named: false })
    } else if (token === '}' || token === ']') containers.pop()
    else if (token === ',') {
      if (within !== undefined) within.named = false
    } else if (within?.isObject && !within.named) {
      within.member = (within.path === '' ? '' : `${within.path}.`) + JSON.parse(token)
      within.named = true
    } else if (token !== ':')
      pairs.push({ path: within?.member ?? '', text: token.startsWith('"') ? JSON.parse(token) : token })
  }
  return pairs
}
