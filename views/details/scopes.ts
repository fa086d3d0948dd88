import { numberText } from '../../shared/contract/exact-json.ts'
import { renderTemplate } from '../../shared/message-template.ts'
import { type JsonField, type JsonFields, jsonFields } from './json-text.ts'

/** One logging scope, as sent by .NET's loggers and similar ones; `more` if it was not read completely. */
export interface Scope extends JsonFields {
  /** The scope's sentence; empty where it has none. */
  readonly text: string
  /** The prefix of its values' names in the scope data, such as `Scopes`; else empty. */
  readonly within: string
}

interface ScopeStack {
  /** Outermost first. */
  readonly scopes: readonly Scope[]
  /** Whether there is more than was read. */
  readonly more: boolean
}

/** An effective value of the entry: inner scopes override outer ones. */
interface MergedField extends JsonField {
  /** The overridden values of outer scopes for the same name, nearest first. */
  readonly hidden: readonly string[]
  /** As in the scope it comes from. */
  readonly within: string
}

/** Maximum number of scopes read: the innermost ones, whose values win. */
const SCOPES_MAX = 64
/** Maximum number of names, and of values, read per scope. */
const FIELDS_MAX = 200
/** Maximum characters of a scope's sentence. */
export const SENTENCE_MAX = 2_048
const TEMPLATE = '{OriginalFormat}'
const MESSAGE = 'Message'

type Members = Readonly<Record<string, unknown>>

/**
 * The scopes of an entry's scope data: the elements of a `Scopes` list, with any other members as an outer scope; or the members `0`, `1`,
 * … of an object that has no others; anything else is one scope.
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
      ...(others.length === 0 ? [] : [['', firstMembers(data, others)] as const]),
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
  const { fields, more } = jsonFields(JSON.stringify(firstMembers(members, names)), FIELDS_MAX)
  const text = isFilled ? message : typeof template === 'string' ? filled(template, members) : ''
  return {
    text: text ?? String(template),
    within,
    fields,
    more: more || names.length > FIELDS_MAX || text === undefined,
  }
}

/** Keeps one name more than is read, so that the excess is noticed. */
const firstMembers = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.slice(0, FIELDS_MAX + 1).map((name) => [name, members[name]]))

/** Undefined if the sentence would be too long: a template can repeat a value arbitrarily often. */
const filled = (template: string, members: Members): string | undefined =>
  renderTemplate(template, members, [], SENTENCE_MAX)

/** Every name once, innermost scopes first. */
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
