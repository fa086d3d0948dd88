import type { EntryDocument, Leaf } from '../contract/documents.ts'
import { ROW_TEXT_CHARACTERS_MAX } from '../contract/rows.ts'
import { mayBeInWord } from './words.ts'

/**
 * The text of everything that a row or a panel shows of an entry besides its message, exception and payload: the names and values of the
 * scope data in order, the values of the payload that do not occur in it literally (escaped ones, for example), and the fields. All stores
 * search it as one text. Empty if there is nothing. The Project's id is left out: it would add five words to every application log, and the
 * views know which Project they show (names-in-query.ts).
 */
export function detailsText(document: EntryDocument): string {
  const { payload, payloadLeaves, scopeLeaves, category, eventId, eventName } = document
  let text = scopeText(scopeLeaves)
  const room = { steps: SEEK_MAX }
  for (const [, value] of payloadLeaves) if (!standsIn(payload ?? '', value, room)) text += `${value}\n`
  // An eventId of 0 means "none" in .NET, and is shown nowhere.
  const number = eventId === null || eventId === 0 ? null : String(eventId)
  const { environment, correlationKey, event, step } = document
  for (const field of [category, number, eventName, environment, correlationKey, event, step])
    if (field !== null && field !== '') text += `${field}\n`
  return text
}

/** About the most characters of leaves that are repeated with their whole path: a row shows as many of the scope data. */
const REPEATED_MAX = ROW_TEXT_CHARACTERS_MAX

/**
 * Each name once for all that it contains, as in JSON, so the text is never much longer than the scope data itself. Leaves without their
 * whole path there follow with it, as a panel shows it, and as it stands in the JSON if the name itself has dots (`http.route`).
 */
function scopeText(leaves: readonly Leaf[]): string {
  let text = ''
  let repeated = ''
  let before = ''
  for (const [path, value] of leaves) {
    const shared = sharedLength(path, before)
    text += path === before ? `${value}\n` : `${path.slice(shared)} ${value}\n`
    if (path !== before && shared > 0 && repeated.length < REPEATED_MAX) repeated += `${path} ${value}\n`
    before = path
  }
  return text + repeated
}

/** The length of the names that both paths share at their beginning. */
function sharedLength(path: string, before: string): number {
  let shared = 0
  for (let at = 0; at < path.length && path[at] === before[at]; at += 1) if (path[at] === '.') shared = at + 1
  return shared
}

/** The most comparisons of characters by which values are sought in a payload, half a second at worst: further values are repeated. */
const SEEK_MAX = 2 ** 30

/** Whether the words of the value are whole words at its first occurrence in the text; only a positive answer is certain. */
function standsIn(text: string, value: string, room: { steps: number }): boolean {
  if (room.steps < 0) return false
  const at = text.indexOf(value)
  room.steps -= (at === -1 ? text.length : at) * value.length
  if (at === -1) return false
  const end = at + value.length
  return !(at > 0 && mayBeInWord(text.charCodeAt(at - 1))) && !(end < text.length && mayBeInWord(text.charCodeAt(end)))
}
