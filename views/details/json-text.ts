import { searchText } from '../../shared/contract/keyword.ts'
import { LEAF_DEPTH_MAX, LEAF_PATH_LENGTH_MAX, LEAF_VALUE_LENGTH_MAX, numberLeaf } from '../../shared/query/leaves.ts'

/** A value somewhere inside a JSON text. */
export interface JsonField {
  /** Names on the way, joined by dots as the grammar writes them; arrays add nothing. */
  readonly path: string
  /** A text without its quotes; a number as it is written, whatever its size. */
  readonly text: string
  /** What a search finds it by; null where it finds it by no field. */
  readonly value: string | null
}

export interface Pretty {
  readonly text: string
  /** Whether the end was left out. */
  readonly cut: boolean
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g
/** Deeper levels are not indented further: a thousand brackets would else make half a million blanks. */
const INDENTED_MAX = 24

/** Whether a text is a JSON object or array. */
export function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A JSON text with a line for every value, indented by two blanks; its first `charactersMax` characters, more or less. */
export function prettyJson(text: string, charactersMax: number): Pretty {
  let out = ''
  let depth = 0
  let before = ''
  const line = (): string => `\n${'  '.repeat(Math.min(depth, INDENTED_MAX))}`
  for (const [token] of text.matchAll(TOKEN)) {
    if (out.length > charactersMax) return { text: out.slice(0, charactersMax), cut: true }
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
  return out.length > charactersMax ? { text: out.slice(0, charactersMax), cut: true } : { text: out, cut: false }
}

interface Container {
  readonly path: string
  readonly isObject: boolean
  /** The path of the member that comes next. */
  member: string
  named: boolean
}

/** The values of a JSON text in their order, at most `max` of them. Paths are those that the log stores search by. */
export function jsonFields(text: string, max: number): readonly JsonField[] {
  const fields: JsonField[] = []
  const containers: Container[] = []
  for (const [token] of text.matchAll(TOKEN)) {
    if (fields.length === max) break
    const within = containers.at(-1)
    if (token === '{' || token === '[') {
      const path = within?.member ?? ''
      containers.push({ path, isObject: token === '{', member: path, named: false })
    } else if (token === '}' || token === ']') containers.pop()
    else if (token === ',') {
      if (within !== undefined) within.named = false
    } else if (within?.isObject && !within.named) {
      within.member = joined(within.path, stringOf(token))
      within.named = true
    } else if (token !== ':') fields.push(fieldOf(within?.member ?? '', token, containers.length))
  }
  return fields
}

const joined = (path: string, name: string): string => {
  const step = name === '' ? '_' : searchText(name)
  return path === '' ? step : `${path}.${step}`
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
