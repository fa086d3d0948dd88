import { searchText } from '../../shared/contract/keyword.ts'
import { LEAF_DEPTH_MAX, LEAF_PATH_LENGTH_MAX, LEAF_VALUE_LENGTH_MAX, numberLeaf } from '../../shared/query/leaves.ts'
import { cut } from '../flow-layout/format.ts'
import { JSON_TOKEN, visitLeaves } from '../flow-layout/json-leaves.ts'

/** A value somewhere inside a JSON text. */
export interface JsonField {
  /** Names on the way, joined by dots as the grammar writes them; arrays add nothing. */
  readonly path: string
  /** A text without its quotes; a number as it is written, whatever its size. */
  readonly text: string
  /** The value that a search finds it by; null where no field does. */
  readonly value: string | null
}

export interface JsonFields {
  readonly fields: readonly JsonField[]
  /** Whether there are values beyond these. */
  readonly more: boolean
}

/** Deeper levels are not indented further: a thousand brackets would else make half a million blanks. */
const INDENTED_MAX = 24
/** Texts with more brackets, commas and colons than this are not read: reading costs by these, not by the length. */
const MARKS_MAX = 100_000
/** Most tokens that are looked through for values, of which brackets may be all. */
const TOKENS_MAX = 20_000

/** Whether a text is a JSON object or array, and one that can be read at once. */
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

/** A JSON text with a line for every value, indented by two blanks; no longer than `charactersMax`, but for its last token. */
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
 * The values of a JSON text in their order, at most `max` of them. Paths are those that the log stores search by; of one that is too
 * long for that, there is the beginning.
 */
export function jsonFields(text: string, max: number): JsonFields {
  const fields: JsonField[] = []
  const visit = (path: string, token: string, depth: number): boolean =>
    fields.length < max && fields.push(fieldOf(path, token, depth)) > 0
  const more = !visitLeaves(text, { join: joined, visit }, TOKENS_MAX)
  return { fields, more }
}

/**
 * The values at paths as they are searched by: texts without their quotes, those of one path joined by commas, and an ellipsis after
 * `charactersMax` of them. A path without a value is left out.
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

/** Each value repeats its path: of one that is too long, no more is carried along than tells that it is. */
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
