import type { Json } from '../support/contract-docs.ts'

/**
 * The reasons why a schema may not follow another one under the same `$id`. Readers hold on to what was published, and records of both sides are
 * on a topic at once (retention, rolling upgrades), so whatever one of the two accepts and the other does not is a break.
 */
export type Break =
  | { readonly kind: 'property_removed'; readonly path: string }
  | { readonly kind: 'no_longer_required'; readonly path: string }
  /** The records that are on the topic already lack it, so it cannot be relied on. */
  | { readonly kind: 'newly_required'; readonly path: string }
  | { readonly kind: 'keyword_changed'; readonly path: string; readonly keyword: string }

/** They tell people something and validate nothing. */
const ANNOTATIONS = new Set(['title', 'description', '$comment', 'examples'])
/** Maps from names to schemas. */
const MAPS = new Set(['properties', 'definitions'])

/**
 * The breaks between a published schema and its successor. Open records may get new optional properties, and texts for people may
 * change; everything else is a break. Paths are JSON pointers into the schema.
 */
export function breaksBetween(published: Json, current: Json, path = ''): readonly Break[] {
  const breaks: Break[] = []
  for (const keyword of new Set([...Object.keys(published), ...Object.keys(current)])) {
    if (ANNOTATIONS.has(keyword)) continue
    const [before, after] = [published[keyword], current[keyword]]
    if (MAPS.has(keyword)) {
      breaks.push(...breaksOfMaps(objectOf(before), objectOf(after), `${path}/${keyword}`))
    } else if (keyword === 'required') {
      breaks.push(...breaksOfRequired(namesOf(before), namesOf(after), path))
    } else if (keyword === 'items' && isObject(before) && isObject(after)) {
      breaks.push(...breaksBetween(before, after, `${path}/items`))
    } else if (textOf(keyword, before) !== textOf(keyword, after)) {
      breaks.push({ kind: 'keyword_changed', path, keyword })
    }
  }
  return breaks
}

function breaksOfMaps(before: Json, after: Json, path: string): readonly Break[] {
  return Object.entries(before).flatMap(([name, schema]): readonly Break[] => {
    const at = `${path}/${name}`
    const successor = after[name]
    return successor === undefined
      ? [{ kind: 'property_removed', path: at }]
      : breaksBetween(objectOf(schema), objectOf(successor), at)
  })
}

function breaksOfRequired(before: readonly unknown[], after: readonly unknown[], path: string): readonly Break[] {
  const at = (name: unknown): string => `${path}/properties/${name}`
  return [
    ...before
      .filter((name) => !after.includes(name))
      .map((name) => ({ kind: 'no_longer_required', path: at(name) }) as const),
    ...after
      .filter((name) => !before.includes(name))
      .map((name) => ({ kind: 'newly_required', path: at(name) }) as const),
  ]
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})

const namesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The order of types and of allowed values means nothing. */
const textOf = (keyword: string, value: unknown): string | undefined =>
  JSON.stringify((keyword === 'type' || keyword === 'enum') && Array.isArray(value) ? value.toSorted() : value)
