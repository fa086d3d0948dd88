import { searchText } from '../../shared/contract/keyword.ts'
import { LEAF_DEPTH_MAX, LEAF_PATH_LENGTH_MAX, LEAF_VALUE_LENGTH_MAX, numberLeaf } from '../../shared/query/leaves.ts'
import { cut } from '../flow-layout/format.ts'
import { JSON_TOKEN, visitLeaves } from '../flow-layout/json-leaves.ts'

/** A value somewhere inside a JSON text. */
export interface JsonField {
  /** The names on the path, joined by dots as in the search grammar; arrays add nothing. */
  readonly path: string
  /** A string without its quotes; a number exactly as written. */
  readonly text: string
  /** The value that a search finds it by; null if it is not searchable. */
  readonly value: string | null
}

export interface JsonFields {
  readonly fields: readonly JsonField[]
  /** Whether there are values beyond these. */
  readonly more: boolean
}

/** Deeper levels are not indented further: a thousand nested brackets would otherwise produce half a million blanks. */
const INDENTED_MAX = 24
/** Texts with more brackets, commas and colons are not parsed: parsing cost depends on these, not on the length. */
const MARKS_MAX = 100_000
/** Maximum number of tokens scanned for values; all of them may be brackets. */
const TOKENS_MAX = 20_000

/** Whether a text is a JSON object or array that is cheap enough to parse at once. */
export function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  let marks = 0
  for (const _ of text.matchAll(/[{}[\],:]/g)) {
    marks += 1
    if (marks > MARKS_MAX) return false
  }
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Pretty-prints a JSON text, one value per line, indented by two blanks; exceeds `charactersMax` by at most one token. */
export function prettyJson(text: string, charactersMax: number): string {
  let out = ''
  let depth = 0
  let before = ''
  const line = (): string => `\n${'  '.repeat(Math.min(depth, INDENTED_MAX))}`
  for (const [token] of text.matchAll(JSON_TOKEN)) {
    if (out.length > charactersMax) break
    const opened = before === '{' || before === '['
    if (token === '}' || token === ']') {
      depth -= 1
      out += opened ? token : line() + token
    } else if (token === ',' || token === ':') out += token === ',' ? ',' : ': '
    else {
      out += opened || before === ',' ? line() + token : token
      if (token === '{' || token === '[') depth += 1
    }
    before = token
  }
  return out
}

/**
 * The values of a JSON text in order, at most `max`. Paths are those that the log stores search by; a path that is too long for that is
 * cut.
 */
export function jsonFields(text: string, max: number): JsonFields {
  const fields: JsonField[] = []
  const visit = (path: string, token: string, depth: number): boolean =>
    fields.length < max && fields.push(fieldOf(path, token, depth)) > 0
  const more = !visitLeaves(text, { join: joined, visit }, TOKENS_MAX)
  return { fields, more }
}

/**
 * The values at these paths in searchable form: strings without quotes, several values of one path joined by commas, an ellipsis after
 * `charactersMax` characters. Paths without a value are omitted.
 */
export function valuesAt(text: string, paths: ReadonlySet<string>, charactersMax: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (path: string, token: string): boolean => {
    const before = found.get(path)
    if (token === 'null' || !paths.has(path) || (before?.length ?? 0) > charactersMax) return true
    const value = token.startsWith('"') ? stringOf(token) : token
    const { text: beginning, more } = cut(before === undefined ? value : `${before}, ${value}`, charactersMax)
    found.set(path, more === 0 ? beginning : `${beginning}…`)
    return true
  }
  visitLeaves(text, { join: joined, visit }, TOKENS_MAX)
  return found
}

/** Each value repeats its path, so an overlong path is cut at a length that still shows it is too long. */
function joined(path: string, name: string): string {
  const step = name === '' ? '_' : searchText(name)
  return cut(path === '' ? step : `${path}.${step}`, LEAF_PATH_LENGTH_MAX + 2).text
}

function fieldOf(path: string, token: string, depth: number): JsonField {
  const isText = token.startsWith('"')
  const text = isText ? stringOf(token) : token
  const isNumber = /^[-\d]/.test(token)
  const value = isText ? searchText(text) : isNumber ? numberLeaf(token) : token
  const found =
    token !== 'null' &&
    path !== '' &&
    depth <= LEAF_DEPTH_MAX &&
    path.length <= LEAF_PATH_LENGTH_MAX &&
    value !== '' &&
    value.length <= LEAF_VALUE_LENGTH_MAX
  return { path, text, value: found ? value : null }
}

const stringOf = (token: string): string => JSON.parse(token) as string
