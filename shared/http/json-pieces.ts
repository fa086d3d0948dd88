import { randomUUID } from 'node:crypto'
import { type Checked, ProblemError, problem, refuse, refuseFields } from '../contract/errors.ts'
import { parseKeepingDigits, setOwn } from '../contract/exact-json.ts'
import type { Steps } from '../runtime/cooperative.ts'
import { NO_ROOM, type RequestMemory } from './body-bytes.ts'

/** Limits of what JSON or its equivalent becomes in memory: a value or a member costs many times its bytes, and a level costs stack. */
export const JSON_LIMITS = {
  values: 1_000_000,
  members: 100_000,
  levels: 512,
  /** Maximum characters of a member's name, as written: it is parsed in one step. */
  nameCharacters: 1_000_000,
} as const

/** The approximate memory of a parsed value. */
export const VALUE_BYTES = 64

/** Characters searched and parsed per step, which takes a few milliseconds whatever they hold. */
const PIECE_CHARACTERS = 64 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** Characters of an escape such as \u0041. */
const UNICODE_ESCAPE_CHARACTERS = 6

/**
 * Parses a long text like `JSON.parse`, except that numbers that would lose digits stay as they are written (`parseKeepingDigits`). Text
 * beyond `JSON_LIMITS` is refused, and so is one for whose values there is no memory.
 *
 * The work can pause between two pieces of the text. A piece ends at a comma: the containers that are open there are closed, which makes
 * it JSON, and opened again for the next piece. There, the first member of each, named `…` in an object, stands for the earlier ones:
 *
 *     {"a": [1, {"b": 2, "c": 3}, 4], "d": 5}      the text, to be cut behind the 2
 *     {"a": [1, {"b": 2}]}                         the first piece
 *     {"…": [{"…": null, "c": 3}, 4], "d": 5}      the second one, whose other members are added to those of the first
 *
 * A string longer than a piece is parsed by itself, and the piece before it ends with an empty one in its place.
 */
export function* parseInPieces(
  text: string,
  holdValues: HoldValues,
  pieceCharacters = PIECE_CHARACTERS,
): Steps<Checked<unknown>> {
  try {
    return { value: yield* parseText(text, holdValues, pieceCharacters) }
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem }
    if (error instanceof SyntaxError) return refuseText(error.message)
    throw error
  }
}

/** The loop only looks for places to cut: a mistake in the text is found when its piece is parsed. */
function* parseText(text: string, holdValues: HoldValues, pieceCharacters: number): Steps<unknown> {
  const pieces = new Pieces(text)
  const { open } = pieces
  /** The number of values whose memory is not taken yet. */
  let values = 0
  let restAt = pieceCharacters
  let container: Container | undefined
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE && container?.isObject === true && container.nameEnd === 0) {
      const end = endInString(text, at + 1, Math.min(text.length, at + 1 + JSON_LIMITS.nameCharacters))
      if (end < text.length && text.charCodeAt(end) !== QUOTE) throw tooLongName()
      container.nameStart = at
      container.nameEnd = end + 1
      at = end
    } else if (character === QUOTE) {
      const start = at
      at = endInString(text, start + 1, start + pieceCharacters)
      if (text.charCodeAt(at) !== QUOTE) {
        pieces.cut(start, '""')
        const { value, end } = yield* parseLongString(text, start, pieceCharacters)
        pieces.setLast(value, end + 1)
        at = end
      }
    } else if (character === COMMA) {
      values += 1
      if (container !== undefined) {
        container.commas += 1
        if (container.isObject && container.commas >= JSON_LIMITS.members) throw tooManyMembers()
        if (at - pieces.start >= pieceCharacters) {
          pieces.cut(at)
          restAt = at
        }
        container.nameEnd = 0
      }
    } else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      values += 1
      container = { isObject: character === OPEN_OBJECT, commas: 0, nameStart: 0, nameEnd: 0, value: undefined }
      open.push(container)
      if (open.length > JSON_LIMITS.levels) throw tooDeep()
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) {
      open.pop()
      container = open.at(-1)
    }
    if (at < restAt) continue
    holdValues(values)
    values = 0
    restAt = at + pieceCharacters
    yield
  }
  holdValues(values)
  if (open.length > 0) throw unexpectedEnd()
  pieces.cut(text.length)
  return pieces.root
}

/** An array or object whose end has not been seen yet. */
interface Container {
  readonly isObject: boolean
  commas: number
  /** The positions at which the name of an object's current member begins and ends, quotation marks included; the end is 0 before it has come. */
  nameStart: number
  nameEnd: number
  /** Its members in earlier pieces; undefined if it begins in this one. */
  value: Members | undefined
}

type Members = unknown[] | Record<string, unknown>

/** The name of the member that stands for earlier ones: no text has it, as it is chosen at random. */
const EARLIER = randomUUID()

/** The pieces of a text that were parsed, and the one that was not yet. */
class Pieces {
  /** The containers at the place that has been searched up to, the innermost last. */
  readonly open: Container[] = []
  /** The beginning of the piece that was not parsed yet. */
  start = 0
  /** The value of the text so far; undefined before the first cut. */
  root: unknown
  readonly #text: string
  /** The containers that were open at the last cut, and the text that opens them again. */
  #reopened: readonly Members[] = []
  #opening = ''

  constructor(text: string) {
    this.#text = text
  }

  /** Ends the piece at a comma, or before a member in whose place `standIn` is parsed. */
  cut(at: number, standIn = ''): void {
    const { open } = this
    const closing = open.map(({ isObject }) => (isObject ? '}' : ']')).reverse()
    let part = parsePiece(this.#text, this.start, at, [this.#opening, standIn + closing.join('')])
    this.root ??= part
    for (const value of this.#reopened) part = addMembers(value, part as Members)
    let around: Container | undefined
    for (const container of open) {
      container.value ??= (around === undefined ? this.root : this.#lastIn(around)) as Members
      around = container
    }
    // An empty container parses, but the comma at the cut has to follow a member.
    if (around?.commas === 1 && Object.keys(around.value ?? []).length === 0)
      throw new SyntaxError(`A value is missing at position ${at}`)
    this.#reopened = open.map(({ value = [] }) => value)
    this.#opening = `${open.map(({ isObject }) => (isObject ? `{"${EARLIER}":` : '[')).join('')}null`
    this.start = at
  }

  /** Replaces the member before the last cut. The next piece begins at `start`. */
  setLast(member: unknown, start: number): void {
    const container = this.open.at(-1)
    const { value } = container ?? {}
    if (container === undefined || value === undefined) this.root = member
    else if (Array.isArray(value)) value[value.length - 1] = member
    else setOwn(value, this.#nameIn(container), member)
    this.start = start
  }

  #lastIn(container: Container): unknown {
    const { value = [] } = container
    return Array.isArray(value) ? value.at(-1) : value[this.#nameIn(container)]
  }

  #nameIn({ nameStart, nameEnd }: Container): string {
    return JSON.parse(this.#text.slice(nameStart, nameEnd))
  }
}

/** Adds the members of a piece that a container was opened again for, apart from the first, which it returns. */
function addMembers(value: Members, part: Members): unknown {
  if (Array.isArray(part)) {
    for (let index = 1; index < part.length; index += 1) (value as unknown[]).push(part[index])
    return part[0]
  }
  for (const name of Object.keys(part)) if (name !== EARLIER) setOwn(value as Record<string, unknown>, name, part[name])
  return part[EARLIER]
}

/** Parses a string longer than a piece, part by part. `end` is the position of its closing quote. */
function* parseLongString(
  text: string,
  start: number,
  pieceCharacters: number,
): Steps<{ readonly value: string; readonly end: number }> {
  const parts: string[] = []
  for (let at = start + 1; ; ) {
    const end = endInString(text, at, at + pieceCharacters + 1)
    parts.push(parsePiece(text, at, end, ['"', '"']) as string)
    if (text.charCodeAt(end) === QUOTE) return { value: parts.join(''), end }
    if (end >= text.length) throw unexpectedEnd()
    at = end
    yield
  }
}

/** The closing quote of a string, or the first position from `limit` on that is not within an escape. `from` is within none, either. */
function endInString(text: string, from: number, limit: number): number {
  let at = from
  while (at < limit) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) return at
    if (character !== BACKSLASH) at += 1
    else at += text.charCodeAt(at + 1) === LETTER_U ? UNICODE_ESCAPE_CHARACTERS : 2
  }
  return at
}

/** Parses a piece of the text, completed by what is before and after it. An error tells the position in the whole text. */
function parsePiece(text: string, start: number, end: number, [before, after]: readonly [string, string]): unknown {
  try {
    return parseKeepingDigits(`${before}${text.slice(start, end)}${after}`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(
      error.message.replace(PLACE, (_place, position) => `position ${Number(position) + start - before.length}`),
    )
  }
}

/** The end of most messages of V8. Lines are not counted, as a text may have millions of them. */
const PLACE = /position (\d+)(?: \(line \d+ column \d+\))?$/

/** The values of a JSON text, as `parseInPieces` counts them. */
export function valuesIn(text: string): number {
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endInString(text, at + 1, text.length)
    else if (character === COMMA || character === OPEN_ARRAY || character === OPEN_OBJECT) values += 1
  }
  return values
}

/** Takes the memory for so many more values of a body. Throws a `ProblemError` if they exceed `JSON_LIMITS`, or if there is no room. */
export type HoldValues = (values: number) => void

/** Counts the values of one body, however many texts it has. */
export function createValueHold(memory: Pick<RequestMemory, 'hold'>): HoldValues {
  let total = 0
  return (values) => {
    total += values
    if (total > JSON_LIMITS.values) throw tooManyValues()
    if (!memory.hold(values * VALUE_BYTES)) throw new ProblemError(NO_ROOM.problem)
  }
}

/** Refuses a text that is not JSON, with V8's reason. */
export const refuseText = (reason: string) =>
  refuse('malformed_json', { reason }, `The body is not valid JSON: ${reason}.`)

const unexpectedEnd = (): SyntaxError => new SyntaxError('Unexpected end of JSON input')

export const tooManyValues = (): ProblemError =>
  new ProblemError(
    problem(
      'payload_too_large',
      { values: JSON_LIMITS.values },
      `The body holds more than ${JSON_LIMITS.values} values.`,
    ),
  )

const unacceptable = (message: string): ProblemError => new ProblemError(refuseFields([{ path: '', message }]).problem)
export const tooDeep = (): ProblemError =>
  unacceptable(`must not be nested more than ${JSON_LIMITS.levels} levels deep`)
const tooLongName = (): ProblemError =>
  unacceptable(`must not hold a member whose name is longer than ${JSON_LIMITS.nameCharacters} characters`)
export const tooManyMembers = (): ProblemError =>
  unacceptable(`must not hold an object of more than ${JSON_LIMITS.members} members`)
