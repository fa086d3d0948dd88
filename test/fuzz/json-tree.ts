/**
 * JSON as a tree that can also represent what no JavaScript value can: duplicate keys, numbers of any length, lone surrogates and text that
 * is not JSON.
 */
export type JsonNode =
  | { readonly type: 'object'; readonly members: readonly (readonly [key: string, value: JsonNode])[] }
  | { readonly type: 'array'; readonly items: readonly JsonNode[] }
  /** The text as it appears in the document. */
  | { readonly type: 'raw'; readonly text: string }

export const raw = (text: string): JsonNode => ({ type: 'raw', text })

/** The tree of a JavaScript value; members that JSON omits are omitted. */
export function treeOf(value: unknown): JsonNode {
  if (Array.isArray(value)) return { type: 'array', items: value.map(treeOf) }
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value) ?? 'null')
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return { type: 'object', members: members.map(([key, one]) => [key, treeOf(one)] as const) }
}

/** Serialises the tree. */
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

/** The number of nodes in the tree. */
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

/** Replaces the node at index `place`, counted from 0 in document order. */
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
