import { type JsonField, jsonFields } from './json-text.ts'

/** One logging scope, as .NET's loggers and those like it send them. */
export interface Scope {
  /** The scope's sentence; empty where it has none. */
  readonly text: string
  /** What the names of its values begin with in the scope data, such as `Scopes`; else empty. */
  readonly within: string
  readonly fields: readonly JsonField[]
}

/** A value that holds for the entry: an inner scope's wins over those of the scopes around it. */
export interface MergedField extends JsonField {
  /** What the scopes around it gave for the same name, the nearest first. */
  readonly hidden: readonly string[]
  /** As in the scope that it comes from. */
  readonly within: string
}

/** The most values of one scope that are listed. */
const FIELDS_MAX = 200
const TEMPLATE = '{OriginalFormat}'
/** A placeholder of a message template, with its alignment and format: `{Total,10:N2}`. */
const PLACEHOLDER = /\{[@$]?(\w{1,100})[^{}]{0,100}\}/g

/**
 * The scopes of an entry's scope data, the outermost first: the elements of `Scopes`, where there is such a list, or the
 * members `0`, `1`, … of an object that has no others; anything else is one scope.
 */
export function scopeStack(data: Readonly<Record<string, unknown>>): readonly Scope[] {
  const list = Object.entries(data).find(([name, value]) => /^scopes?$/i.test(name) && Array.isArray(value))
  if (list !== undefined) {
    const [name, elements] = list as [string, readonly unknown[]]
    const { [name]: _, ...rest } = data
    const around = Object.keys(rest).length === 0 ? [] : [scopeOf(rest, '')]
    return [...around, ...elements.map((element) => scopeOf(element, name))]
  }
  const entries = Object.entries(data)
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index))
  return isList ? entries.map(([name, value]) => scopeOf(value, name)) : [scopeOf(data, '')]
}

function scopeOf(value: unknown, within: string): Scope {
  if (typeof value === 'string') return { text: value, within, fields: [] }
  if (typeof value !== 'object' || value === null) return { text: String(value), within, fields: [] }
  const { [TEMPLATE]: template, ...others } = value as Record<string, unknown>
  const { Message: message, ...values } = others
  const isMessage = typeof template === 'string' && typeof message === 'string'
  const shown = template === undefined ? value : isMessage ? values : others
  const text = isMessage ? message : typeof template === 'string' ? filled(template, others) : ''
  return { text, within, fields: jsonFields(JSON.stringify(shown), FIELDS_MAX) }
}

const filled = (template: string, values: Readonly<Record<string, unknown>>): string =>
  template.replace(PLACEHOLDER, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? whole : typeof value === 'string' ? value : JSON.stringify(value)
  })

/** Every name once, in the order of the innermost scopes first. */
export function mergedScopes(stack: readonly Scope[]): readonly MergedField[] {
  const merged = new Map<string, MergedField>()
  for (const { fields, within } of stack.toReversed()) {
    const own = Map.groupBy(fields, ({ path }) => path)
    for (const [path, [first, ...more]] of own) {
      if (first === undefined) continue
      const inner = merged.get(path)
      const text = [first, ...more].map((one) => one.text).join(', ')
      merged.set(
        path,
        inner === undefined ? { ...first, text, within, hidden: [] } : { ...inner, hidden: [...inner.hidden, text] },
      )
    }
  }
  return [...merged.values()]
}
