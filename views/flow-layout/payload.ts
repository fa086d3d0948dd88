import { beginningOf } from '../../shared/contract/rows.ts'
import { JSON_TEXT, visitLeaves } from './json-leaves.ts'

/** A value of a payload and the names that lead to it, joined by dots; arrays add nothing. */
interface Pair {
  readonly path: string
  /** A string without its quotes; a number exactly as written. */
  readonly text: string
}

/** Characters of a payload that are read for its one-line form. */
const READ_MAX = 600

/** The values in the first characters, at most `length`, of a payload that is a JSON object; undefined for other texts. */
export function pairsOf(payload: string, length = READ_MAX): readonly Pair[] | undefined {
  if (!payload.startsWith('{')) return undefined
  const isCut = payload.length > length
  const text = isCut ? headOf(payload, length) : payload
  try {
    if (!isCut) JSON.parse(text)
    const pairs = read(text)
    return pairs.length === 0 ? undefined : pairs
  } catch {
    return undefined
  }
}

/** The beginning of a payload: a text that goes on is cut there, before an escape; any other value that may go on is left out. */
function headOf(payload: string, length: number): string {
  const head = beginningOf(payload, length)
  const isInText = head.replaceAll(JSON_TEXT, '').includes('"')
  return isInText ? `${head.replace(/\\+(?:u[\da-f]{0,3})?$/i, '')}"` : head.replace(/[^\s{}[\],:"]+$/, '')
}

/** A value as shown after its name: quoted if it would otherwise look like more than one. */
export const valueText = (text: string): string => (/^$|[\s"=]/.test(text) ? JSON.stringify(text) : text)

/** A payload on one line: a JSON object as `order=4711 outcome=declined`, and any other text as it is. */
export const payloadLine = (payload: string): string =>
  pairsOf(payload)
    ?.map(({ path, text }) => `${path}=${valueText(text)}`)
    .join(' ') ?? payload

/** Throws on an invalid member name. */
function read(json: string): readonly Pair[] {
  const pairs: Pair[] = []
  visitLeaves(json, {
    join: (path, name) => (path === '' ? name : `${path}.${name}`),
    visit: (path, token) => pairs.push({ path, text: token.startsWith('"') ? JSON.parse(token) : token }) > 0,
  })
  return pairs
}
