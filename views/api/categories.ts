import type { Choice } from '../schemas/answers.ts'

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

/**
 * The tree of dotted categories, most entries first. A category such as `Acme.Billing` counts the entries of all below it; its label is the
 * part below its parent: `Billing`, or `Billing.Jobs` when nothing else starts with `Billing`.
 */
export function categoryTree(values: readonly { readonly value: string; readonly count: number }[]): readonly Choice[] {
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

const nodesOf = ({ category, children }: Draft): readonly Choice[] =>
  [...children.values()]
    .map((one) => nodeOf(one, category))
    .sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))

function nodeOf(node: Draft, above: string | null): Choice {
  const [only, ...others] = node.children.values()
  if (only !== undefined && others.length === 0 && node.own === 0) return nodeOf(only, above)
  const value = node.category ?? ''
  const label = above === null ? value : value.slice(above.length + 1)
  return { name: 'category', value, label, count: node.count, children: nodesOf(node) }
}
