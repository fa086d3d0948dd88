import { ROW_TEXT_CHARACTERS_MAX } from '../../../shared/contract/rows.ts'
import { pairsOf, payloadLine, valueText } from '../../flow-layout/payload.ts'
import type { Entry } from '../../schemas/answers.ts'
import type { Sought } from '../lib/found.ts'
import { eventTag, projectOf, thrownText } from './facts.ts'

/** Maximum characters of a message in a row. */
export const PREVIEW = 400

/** A place in an entry that a search found, with what is around it. */
export interface Excerpt {
  /** The name of the text: `exception `, or `order.id=` for a leaf; empty for the text that the row begins with. */
  readonly name: string
  readonly text: string
}

/**
 * The first place that a search found in an entry, if none of the texts that its row shows has it. `room` is the number of characters that
 * a row has room for. A list has only the beginning of a long text; if nothing is found in it, the excerpt says so.
 */
export function excerptOf(
  entry: Entry,
  sought: readonly Sought[],
  room: number,
  shown: readonly string[],
): Excerpt | undefined {
  const texts = textsOf(entry)
  const places = sought.map((one) => placeOf(one, texts, shown, room))
  const hidden = places.find((place) => place !== undefined && place !== SHOWN)
  if (hidden !== undefined || entry.truncated === undefined || sought.length === 0 || places.includes(SHOWN))
    return hidden
  return { name: `found further down in ${entry.truncated.join(' or ')}`, text: '' }
}

/** The text of a row in the list of logs. */
export function lineOf(entry: Entry): string {
  if (entry.kind === 'application')
    return `[${eventTag(entry)}] ${entry.message.slice(0, PREVIEW)} ${thrownText(entry.exception)}`
  return payloadLine(entry.payload)
}

/** A text of an entry, with the name of its field in searches: `exception`, `scope.order.id`. */
interface Named extends Excerpt {
  readonly field: string
}

/** The texts of an entry in which words are found, the telling ones first. */
function textsOf(entry: Entry): readonly Named[] {
  const { correlationKey, environment } = entry
  if (entry.kind === 'event') {
    const { payload, step, event } = entry
    const names = [event, step].flatMap((one) => (one === null ? [] : [one.name ?? '', one.identifier]))
    return [
      ...(leavesOf('payload', payload) ?? [{ field: 'payload', name: '', text: payload }]),
      ...[
        named('identifier', names.join('\n')),
        named('correlationKey', correlationKey),
        named('environment', environment),
      ],
    ]
  }
  const { message, exception, scopeData, categoryName, project } = entry
  return [
    ...[{ field: 'message', name: '', text: message }, named('exception', exception)],
    ...(leavesOf('scope', JSON.stringify(scopeData)) ?? []),
    ...[named('category', categoryName), named('project', `${projectOf(entry)}\n${project.id}`)],
    ...[named('correlationKey', correlationKey), named('environment', environment)],
  ]
}

const named = (field: string, text: string | null): Named => ({ field, name: `${field} `, text: text ?? '' })

function leavesOf(family: string, json: string): readonly Named[] | undefined {
  // A text of the greatest length may be cut.
  const leaves = pairsOf(json, ROW_TEXT_CHARACTERS_MAX - 1)?.map(({ path, text }) => ({
    field: `${family}.${path}`,
    name: `${path}=`,
    text,
  }))
  // Longer JSON is whole. Beyond what was read here it is searched as text, as the names of all its leaves may be far longer.
  return leaves && json.length > ROW_TEXT_CHARACTERS_MAX ? [...leaves, named(family, json)] : leaves
}

/** Says that a row already shows the match of one part of a search. */
const SHOWN = Symbol('shown')

function placeOf(
  sought: Sought,
  texts: readonly Named[],
  shown: readonly string[],
  room: number,
): Excerpt | typeof SHOWN | undefined {
  if ('leaf' in sought) {
    const own = texts.filter(({ field }) => field === sought.leaf)
    const leaf = own.find(({ text }) => text.startsWith(sought.value)) ?? own[0]
    if (leaf === undefined) return undefined
    const { name, text } = leaf
    return shown.some((line) => line === text || line.includes(name + valueText(text))) ? SHOWN : around(leaf, 0, room)
  }
  const { pattern, field: only } = sought
  if (shown.some((line) => pattern.test(line))) return SHOWN
  for (const one of texts) {
    if (only !== undefined && only !== one.field.split('.', 1)[0]) continue
    // A word is also found in the name of a leaf.
    const name = one.name.endsWith('=') ? one.name : ''
    const at = (name + one.text).search(pattern)
    if (at >= 0) return around(one, at - name.length, room)
  }
  return undefined
}

/** The part of a row's room that is before what was found; most of the rest is for what was found and follows it. */
const BEFORE = 1 / 6

function around({ name, text }: Named, at: number, room: number): Excerpt {
  const from = Math.max(0, at - Math.floor(BEFORE * room))
  const shown = text.slice(from, from + room)
  // Not from the middle of a word, nor of a character.
  const before = shown.slice(0, at - from).replace(/^\S*\s+|^[\p{L}\p{N}]+[^\p{L}\p{N}]+|^[\udc00-\udfff]/u, '')
  return { name, text: from > 0 ? `…${before}${shown.slice(at - from)}` : shown }
}
