/** A string of a JSON text. */
export const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g

/** The tokens of a JSON text: strings, punctuation, and everything else. */
export const JSON_TOKEN = new RegExp(`${JSON_TEXT.source}|[{}[\\],:]|[^\\s{}[\\],:"]+`, 'g')

interface Container {
  readonly path: string
  readonly isObject: boolean
  /** The path of the current member; in an array, the array's own path. */
  member: string
  named: boolean
}

interface LeafVisitor {
  /** Builds a member's path from its object's path (empty at the top) and its name. */
  readonly join: (path: string, name: string) => string
  /** Receives a scalar value as written; returning false ends the walk. */
  readonly visit: (path: string, token: string, depth: number) => boolean
}

/**
 * Visits the values of a JSON text in order; arrays add nothing to a path. Returns false if the visitor or `tokensMax` ended the walk
 * early. A truncated text is read up to its cut; throws on an invalid member name.
 */
export function visitLeaves(json: string, { join, visit }: LeafVisitor, tokensMax = Number.POSITIVE_INFINITY): boolean {
  const containers: Container[] = []
  let tokens = 0
  for (const [token] of json.matchAll(JSON_TOKEN)) {
    tokens += 1
    if (tokens > tokensMax) return false
    const within = containers.at(-1)
    if (token === '{' || token === '[') {
      const path = within?.member ?? ''
      containers.push({ path, isObject: token === '{', member: path, named: false })
    } else if (token === '}' || token === ']') containers.pop()
    else if (token === ',') {
      if (within !== undefined) within.named = false
    } else if (within?.isObject && !within.named) {
      within.member = join(within.path, JSON.parse(token) as string)
      within.named = true
    } else if (token !== ':' && !visit(within?.member ?? '', token, containers.length)) return false
  }
  return true
}
