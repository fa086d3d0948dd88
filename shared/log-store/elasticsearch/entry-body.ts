import type { EntryDocument, Leaf } from '../../contract/documents.ts'
import { levelRank } from '../../contract/levels.ts'
import { mayBeLong, parseRecord, rowOf } from '../../contract/rows.ts'
import { detailsText } from '../../query/details-text.ts'
import { sortKey } from '../../query/sort-key.ts'
import { splitWords, WORD_LENGTH_MAX } from '../../query/words.ts'
import { UNIT_BYTES_MAX } from '../../runtime/utf8.ts'
import { roundedNumber } from '../statistics.ts'

/** Separates a leaf's path from its value. A path never contains it, so a term stands for exactly one path and value. */
const SEPARATOR = '\u0000'

/** The term of a leaf; with an empty value, the prefix of all terms at the path. */
export const leafTerm = (path: string, value: string): string => path + SEPARATOR + value

const leafTerms = (leaves: readonly Leaf[]): readonly string[] | undefined =>
  leaves.length === 0 ? undefined : leaves.flatMap(termsOf)

/**
 * The term of a comparable value, stored among those of the leaves; with an empty key, the prefix of all such terms at the path. It begins
 * with the separator, as no other term does.
 */
export const sortTerm = (path: string, key: string): string => SEPARATOR + leafTerm(path, key)

function termsOf([path, value]: Leaf): readonly string[] {
  const key = sortKey(value)
  return key === undefined ? [leafTerm(path, value)] : [leafTerm(path, value), sortTerm(path, key)]
}

/** The terms of the leaves that are numbers, in the form that statistics count (statistics.ts). */
function numberTerms(leaves: readonly Leaf[]): readonly string[] | undefined {
  const terms = leaves.flatMap(([path, value]) => {
    const number = roundedNumber(value)
    return number === undefined ? [] : [leafTerm(path, String(number))]
  })
  return terms.length === 0 ? undefined : terms
}

/**
 * A text as its words: we split it ourselves, so that all stores split alike, and the `whitespace` analyzer takes it as it is. An empty
 * text is left out, so that a document has the field only if it has a text. Letters and digits need no escapes.
 */
const wordsMember = (name: string, text: string | null): string =>
  text === null || text === '' ? '' : `,"${name}":"${wordLine(text)}"`

/**
 * An entry as Elasticsearch stores it, in pieces of JSON; null and empty members are left out. `writtenAt` orders the arrivals of different
 * shards; it is never shown.
 */
export function entryBody(document: EntryDocument, writtenAt: number): readonly string[] {
  const short = JSON.stringify({
    writtenAt,
    id: document.id,
    team: document.team,
    receivedAt: document.receivedAt,
    timestamp: document.timestamp,
    level: levelRank(document.level),
    environment: document.environment,
    correlationKey: document.correlationKey ?? undefined,
    event: document.event ?? undefined,
    step: document.step ?? undefined,
    project: document.project ?? undefined,
    category: document.category ?? undefined,
    eventId: document.eventId ?? undefined,
    eventName: document.eventName ?? undefined,
    template: document.template ?? undefined,
    exceptionGroup: document.exceptionGroup ?? undefined,
    payloadLeaves: leafTerms(document.payloadLeaves),
    scopeLeaves: leafTerms(document.scopeLeaves),
    payloadNumbers: numberTerms(document.payloadLeaves),
    scopeNumbers: numberTerms(document.scopeLeaves),
  })
  return [
    short.slice(0, -1),
    wordsMember('message', document.message),
    wordsMember('exception', document.exception),
    wordsMember('payload', document.payload),
    wordsMember('details', detailsText(document)),
    ...sourceMembers(document.source),
    '}',
  ]
}

/**
 * The record's exact text: `source`, or `whole` if it may be long. A long one is stored with its `row`, so that a list reads no more than
 * it shows.
 */
function sourceMembers(source: string): readonly string[] {
  if (!mayBeLong(source)) return [',"source":', JSON.stringify(source)]
  const row = JSON.stringify(rowOf(parseRecord(source)))
  return [',"row":', JSON.stringify(row), ',"whole":', JSON.stringify(source)]
}

const BLANK = 32
/** For each ASCII character, its lower case if it is part of a word, else a space. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const lower = String.fromCharCode(code).toLowerCase()
  return /[a-z0-9]/.test(lower) ? lower.charCodeAt(0) : BLANK
})
/** Longer texts are split by `splitWords`; most are far shorter. */
const TEXT_LENGTH_MAX = 64 * 1024
const room = Buffer.alloc(UNIT_BYTES_MAX * TEXT_LENGTH_MAX)

/**
 * The words of a text as `splitWords` defines them, separated by spaces. Most texts are pure ASCII: those are read once and written once,
 * without a string for each word.
 */
export function wordLine(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) {
    const bytes = room.write(text)
    // Only ASCII has as many bytes as characters.
    if (bytes === text.length) return asciiWords(bytes)
  }
  return splitWords(text).join(' ')
}

/** Overwrites the text itself, which is never shorter than its words. */
function asciiWords(length: number): string {
  let end = 0
  let wordStart = 0
  for (let at = 0; at < length; at++) {
    const folded = FOLDED[room[at] as number] as number
    if (folded !== BLANK) room[end++] = folded
    else if (end > wordStart) {
      wordStart = Math.min(end, wordStart + WORD_LENGTH_MAX) + 1
      room[wordStart - 1] = BLANK
      end = wordStart
    }
  }
  return end > wordStart
    ? room.toString('latin1', 0, Math.min(end, wordStart + WORD_LENGTH_MAX))
    : room.toString('latin1', 0, Math.max(0, end - 1))
}
