import { StringDecoder } from 'node:string_decoder'
import { numberText } from '../../shared/contract/exact-json.ts'
import { REFUSED_BODY_BYTES_MAX } from '../../shared/contract/refusals.ts'

/** The beginning of a refused body or entry. */
export interface Excerpt {
  readonly body: string | null
  readonly bodyCut: boolean
}

export const NO_EXCERPT: Excerpt = { body: null, bodyCut: false }

/** The beginning of a body as it was sent, without cutting a character in half. */
export function excerptOfText(text: string): Excerpt {
  // Copied, as a slice would keep the whole body in memory.
  const bytes = Buffer.from(text.slice(0, REFUSED_BODY_BYTES_MAX + 1))
  const body = new StringDecoder('utf8').write(bytes.subarray(0, REFUSED_BODY_BYTES_MAX))
  return { body, bodyCut: bytes.length > REFUSED_BODY_BYTES_MAX }
}

/**
 * The beginning of a parsed entry as JSON. Numbers may be those of `parseExactly`; what has a `toJSON` is written as that returns it, which
 * alone may cost more the longer the entry is.
 */
export function excerptOfJson(value: unknown): Excerpt {
  const paper: Paper = { text: '', room: REFUSED_BODY_BYTES_MAX }
  writeJson(value, paper, 0)
  const { body, bodyCut } = excerptOfText(paper.text)
  return { body, bodyCut: bodyCut || paper.room < 0 }
}

/** The text so far, and how many characters may follow; negative if the text was cut. */
interface Paper {
  text: string
  room: number
}

/** Deeper values are cut off: each level takes a stack frame, and a body may be nested very deeply. */
const LEVELS_MAX = 100

function put(paper: Paper, text: string): void {
  if (paper.room < 0) return
  paper.text += text.slice(0, paper.room)
  paper.room -= text.length
}

function writeJson(written: unknown, paper: Paper, level: number): void {
  const value = hasJson(written) ? written.toJSON() : written
  if (typeof value !== 'object' || value === null) {
    put(paper, scalarText(value, paper.room))
    return
  }
  const number = numberText(value)
  if (number !== undefined) {
    put(paper, number)
    return
  }
  if (level === LEVELS_MAX) {
    paper.room = -1
    return
  }
  const isList = Array.isArray(value)
  put(paper, isList ? '[' : '{')
  let separator = ''
  const children = value as Readonly<Record<string | number, unknown>>
  for (const name of isList ? value.keys() : Object.keys(value)) {
    if (paper.room < 0) return
    const child = children[name]
    if (child === undefined) continue
    put(paper, separator)
    separator = ','
    if (!isList) put(paper, `${scalarText(name, paper.room)}:`)
    writeJson(child, paper, level + 1)
  }
  put(paper, isList ? ']' : '}')
}

const hasJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'

/** Cuts a long text before escaping it; the rest of it still fills the room. */
const scalarText = (value: unknown, room: number): string =>
  JSON.stringify(typeof value === 'string' ? value.slice(0, Math.max(0, room) + 1) : value) ?? 'null'
