/** Strings, marks, and everything else of a JSON text. */
export const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

interface Container {
  readonly path: string
  readonly isObject: boolean
  /** The path of the member that comes next. */
  member: string
  named: boolean
}

export interface LeafVisitor {
  /** The path of a member from the path of its object, which is empty at the top, and its name. */
  readonly join: (path: string, name: string) => string
  /** Takes a value that is no object and no array, as it is written; false ends the walk. */
  readonly visit: (path: string, token: string, depth: number) => boolean
}

/**
 * Visits the values of a JSON text in their order; arrays add nothing to a path. False where it ended before the text: by the visitor, or
 * after `tokensMax` tokens. A text that is cut can be read up to there; throws where a name is none.
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
