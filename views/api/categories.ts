/** A node of the category tree: one dotted prefix, such as `Acme.Billing`, with everything below it. */
export interface CategoryNode {
  /** The full prefix, as the `category` filter takes it. */
  readonly category: string
  /** The part shown below the parent: `Billing`, or `Billing.Jobs` when nothing else starts with `Billing`. */
  readonly label: string
  /** Entries of this category and of all categories below it. */
  readonly count: number
  readonly children: readonly CategoryNode[]
}

interface Draft {
  /** Null at the root, which is no category. */
  readonly category: string | null
  readonly children: Map<string, Draft>
  /** Entries of exactly this category. */
  own: number
  count: number
}

/** Deeper levels are not split further. */
const DEPTH_MAX = 12

/** The tree of dotted categories with their counts; chains with a single child are joined. Most entries first. */
export function categoryTree(
  values: readonly { readonly value: string; readonly count: number }[],
): readonly CategoryNode[] {
  const root = draft(null)
  for (const { value, count } of values) {
    let node = root
    for (const part of partsOf(value)) {
      node = child(node, part)
      node.count += count
    }
    node.own += count
  }
  return nodesOf(root)
}

function partsOf(category: string): readonly string[] {
  const parts = category.split('.')
  return parts.length <= DEPTH_MAX ? parts : [...parts.slice(0, DEPTH_MAX - 1), parts.slice(DEPTH_MAX - 1).join('.')]
}

const draft = (category: string | null): Draft => ({ category, children: new Map(), own: 0, count: 0 })

function child(node: Draft, part: string): Draft {
  const found = node.children.get(part)
  if (found !== undefined) return found
  const made = draft(node.category === null ? part : `${node.category}.${part}`)
  node.children.set(part, made)
  return made
}

const nodesOf = ({ category, children }: Draft): readonly CategoryNode[] =>
  [...children.values()]
    .map((one) => nodeOf(one, category))
    .sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))

function nodeOf(node: Draft, above: string | null): CategoryNode {
  const [only, ...others] = node.children.values()
  if (only !== undefined && others.length === 0 && node.own === 0) return nodeOf(only, above)
  const category = node.category ?? ''
  const label = above === null ? category : category.slice(above.length + 1)
  return { category, label, count: node.count, children: nodesOf(node) }
}
