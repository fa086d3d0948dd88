/**
 * JSON as a tree that can also hold what no value of JavaScript can: keys that occur twice, numbers of any length, half characters and
 * text that is no JSON at all.
 */
export type JsonNode =
  | { readonly type: 'object'; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly type: 'array'; readonly items: readonly JsonNode[] }
  /** The text as it stands in the document. */
  | { readonly type: 'raw'; readonly text: string }

export const raw = (text: string): JsonNode => ({ type: 'raw', text })

/** The tree of a value of JavaScript; what JSON leaves out is left out. */
export function treeOf(value: unknown): JsonNode {
  if (Array.isArray(value)) return { type: 'array', items: value.map(treeOf) }
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value) ?? 'null')
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return { type: 'object', members: members.map(([key, one]) => [key, treeOf(one)] as const) }
}

/** The document. */
export function documentOf(node: JsonNode): string {
  switch (node.type) {
    case 'raw':
      return node.text
    case 'array':
      return `[${node.items.map(documentOf).join(',')}]`
    case 'object':
      return `{${node.members.map(([key, value]) => `${JSON.stringify(key)}:${documentOf(value)}`).join(',')}}`
  }
}

/** How many nodes the tree has. */
export function sizeOf(node: JsonNode): number {
  switch (node.type) {
    case 'raw':
      return 1
    case 'array':
      return node.items.reduce((sum, item) => sum + sizeOf(item), 1)
    case 'object':
      return node.members.reduce((sum, [, value]) => sum + sizeOf(value), 1)
  }
}

/** The tree with another node in the place of the one that stands at `place`, counted from 0 in the order of the document. */
export function replaced(tree: JsonNode, place: number, change: (node: JsonNode) => JsonNode): JsonNode {
  let left = place
  const visit = (node: JsonNode): JsonNode => {
    if (left < 0) return node
    if (left === 0) {
      left -= 1
      return change(node)
    }
    left -= 1
    switch (node.type) {
      case 'raw':
        return node
      case 'array':
        return { type: 'array', items: node.items.map(visit) }
      case 'object':
        return { type: 'object', members: node.members.map(([key, value]) => [key, visit(value)] as const) }
    }
  }
  return visit(tree)
}
