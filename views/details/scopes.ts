import { numberText } from '../../shared/contract/exact-json.ts'
import { renderTemplate } from '../../shared/message-template.ts'
import { type JsonField, type JsonFields, jsonFields } from './json-text.ts'

/** One logging scope, as .NET's loggers and those like it send them; `more` where not all of it was read. */
export interface Scope extends JsonFields {
  /** The scope's sentence; empty where it has none. */
  readonly text: string
  /** The beginning of its values' names in the scope data, such as `Scopes`; else empty. */
  readonly within: string
}

export interface ScopeStack {
  /** The outermost first. */
  readonly scopes: readonly Scope[]
  /** Whether there is more of them than was read. */
  readonly more: boolean
}

/** A value that holds for the entry: an inner scope's wins over those of the scopes around it. */
export interface MergedField extends JsonField {
  /** The values that the scopes around it gave for the same name, the nearest first. */
  readonly hidden: readonly string[]
  /** As in the scope that it comes from. */
  readonly within: string
}

/** The most scopes that are read: the innermost ones, whose values win. */
const SCOPES_MAX = 64
/** The most names, and the most values, of one scope that are read. */
const FIELDS_MAX = 200
/** The most characters of a scope's sentence. */
export const SENTENCE_MAX = 2_048
const TEMPLATE = '{OriginalFormat}'
const MESSAGE = 'Message'

type Members = Readonly<Record<string, unknown>>

/**
 * The scopes of an entry's scope data: the elements of `Scopes`, where there is such a list, or the members `0`, `1`, … of an object
 * that has no others; anything else is one scope.
 */
export function scopeStack(data: Members): ScopeStack {
  const all = scopesIn(data)
  const scopes = all.slice(-SCOPES_MAX).map(([within, value]) => scopeOf(value, within))
  return { scopes, more: all.length > SCOPES_MAX || scopes.some(({ more }) => more) }
}

function scopesIn(data: Members): readonly (readonly [within: string, value: unknown])[] {
  const names = Object.keys(data)
  const list = names.find((name) => /^scopes?$/i.test(name) && Array.isArray(data[name]))
  if (list !== undefined) {
    const others = names.filter((name) => name !== list)
    const elements = data[list] as readonly unknown[]
    return [
      ...(others.length === 0 ? [] : [['', beginningOf(data, others)] as const]),
      ...elements.map((element) => [list, element] as const),
    ]
  }
  const isList = names.length > 0 && names.every((name, index) => name === String(index))
  return isList ? names.map((name) => [name, data[name]]) : [['', data]]
}

function scopeOf(value: unknown, within: string): Scope {
  const number = numberText(value)
  if (typeof value !== 'object' || value === null || number !== undefined)
    return { text: number ?? String(value), within, fields: [], more: false }
  if (Array.isArray(value)) return { text: '', within, ...jsonFields(JSON.stringify(value), FIELDS_MAX) }
  const members = value as Members
  const { [TEMPLATE]: template, [MESSAGE]: message } = members
  const isFilled = typeof template === 'string' && typeof message === 'string'
  const names = Object.keys(members).filter((name) => name !== TEMPLATE && !(isFilled && name === MESSAGE))
  const { fields, more } = jsonFields(JSON.stringify(beginningOf(members, names)), FIELDS_MAX)
  const text = isFilled ? message : typeof template === 'string' ? filled(template, members) : ''
  return {
    text: text ?? String(template),
    within,
    fields,
    more: more || names.length > FIELDS_MAX || text === undefined,
  }
}

/** One name more than is read, so that it shows. */
const beginningOf = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.slice(0, FIELDS_MAX + 1).map((name) => [name, members[name]]))

/** Undefined where the sentence would be too long: a template can repeat a value at will. */
const filled = (template: string, members: Members): string | undefined =>
  renderTemplate(template, members, [], SENTENCE_MAX)

/** Every name once, in the order of the innermost scopes first. */
export function mergedScopes(scopes: readonly Scope[]): readonly MergedField[] {
  const merged = new Map<string, MergedField & { readonly hidden: string[] }>()
  for (const { fields, within } of scopes.toReversed()) {
    for (const [path, [first, ...more]] of Map.groupBy(fields, ({ path }) => path)) {
      if (first === undefined) continue
      const text = [first, ...more].map((one) => one.text).join(', ')
      const inner = merged.get(path)
      if (inner === undefined) merged.set(path, { ...first, text, within, hidden: [] })
      else inner.hidden.push(text)
    }
  }
  return [...merged.values()]
}
