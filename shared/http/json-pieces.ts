import { type Checked, ProblemError, problem, refuse } from '../contract/errors.ts'
import { parseKeepingDigits, setOwn } from '../contract/exact-json.ts'
import type { Steps } from '../runtime/cooperative.ts'
import { type BodyMemory, refuseForRoom } from './body-bytes.ts'

/** Limits of what JSON or its equivalent becomes in memory: a value or a member costs many times its bytes, and a level costs stack. */
export const JSON_LIMITS = {
  values: 1_000_000,
  members: 100_000,
  levels: 512,
  /** Maximum characters of a member's name, as written: it is parsed in one step. */
  nameCharacters: 1_000_000,
} as const

/** The approximate memory of a parsed value. */
const VALUE_BYTES = 64

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
const NOT_BLANK = /[^ \t\n\r]/
const COLON_AFTER_BLANKS = /[ \t\n\r]*:/y
/** Characters of an escape such as \u0041. */
const UNICODE_ESCAPE_CHARACTERS = 6

/** An array or object whose end has not been seen yet. */
interface Container {
  readonly isObject: boolean
  readonly start: number
  /** Where its current member begins. */
  memberStart: number
  /** Where the members begin that have not been parsed yet. */
  pieceStart: number
  commas: number
  /** The members parsed so far; undefined while the container fits into a piece of its parent. */
  value: unknown[] | Record<string, unknown> | undefined
  /** How the current member is parsed: `open` for a container of its own until its end, then `done` until the next comma. */
  member: 'in piece' | 'open' | 'done'
  /** The name of that member. */
  name: string
}

/**
 * Parses a long text like `JSON.parse`, except that numbers that would lose digits stay as they are written (`parseKeepingDigits`).
 * Containers and strings longer than a piece are taken apart and put together again, so that the work can pause between two pieces. Text
 * beyond `JSON_LIMITS` is refused, and so is one for whose values `memory` has no room.
 */
export function* parseInPieces(
  text: string,
  memory: Pick<BodyMemory, 'hold'>,
  pieceCharacters = PIECE_CHARACTERS,
): Steps<Checked<unknown>> {
  try {
    return { value: yield* parseText(text, memory, pieceCharacters) }
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem }
    if (error instanceof SyntaxError)
      return refuse('malformed_json', { reason: error.message }, 'The body is not valid JSON.')
    throw error
  }
}

function* parseText(text: string, memory: Pick<BodyMemory, 'hold'>, pieceCharacters: number): Steps<unknown> {
  const open: Container[] = []
  const holdValues = createValueHold(memory)
  let root: { readonly value: unknown; readonly end: number } | undefined
  let values = 0
  let restAt = pieceCharacters
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    /** The value of the whole text, if it was taken apart and ends here. */
    let ended: unknown
    if (character === QUOTE) {
      const start = at
      at = endInString(text, start + 1, start + pieceCharacters)
      if (text.charCodeAt(at) !== QUOTE) {
        const { value, end } = yield* parseLongString(text, start, pieceCharacters)
        at = end
        if (!isName(text, start, end)) {
          // A string that is parsed by itself is a member, like a container.
          takeApart(text, [...open, containerAt(start, false)])
          ended = endLong(value, end, open)
        }
      }
    } else if (character === COMMA) {
      values += 1
      if (endMember(text, at, open, pieceCharacters)) restAt = at
    } else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      values += 1
      open.push(containerAt(at, character === OPEN_OBJECT))
      if (open.length > JSON_LIMITS.levels) throw tooDeep()
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) {
      ended = endContainer(text, at, open, character === CLOSE_OBJECT)
    }
    if (ended !== undefined) root ??= { value: ended, end: at + 1 }
    if (at < restAt) continue
    holdValues(values)
    restAt = at + pieceCharacters
    yield
  }
  if (values > JSON_LIMITS.values) throw tooManyValues()
  if (open.length > 0) throw unexpectedEnd()
  if (root === undefined) return parseKeepingDigits(text)
  requireBlank(text, root.end, text.length)
  return root.value
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

/** The approximate memory of the values of a JSON text, as `parseInPieces` takes it. */
export function valueBytesIn(text: string): number {
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endInString(text, at + 1, text.length)
    else if (character === COMMA || character === OPEN_ARRAY || character === OPEN_OBJECT) values += 1
  }
  return values * VALUE_BYTES
}

/** Takes the memory for all values found so far in a body. Throws a `ProblemError` if they exceed `JSON_LIMITS`, or if there is no room. */
export function createValueHold(memory: Pick<BodyMemory, 'hold'>): (values: number) => void {
  const { hold } = jointMemory(memory)
  let held = 0
  return (values) => {
    hold((values - held) * VALUE_BYTES)
    held = values
  }
}

/** The memory of texts whose values count together; `hold` throws a `ProblemError` if they exceed `JSON_LIMITS`, or if there is no room. */
export function jointMemory(memory: Pick<BodyMemory, 'hold'>): Pick<BodyMemory, 'hold'> {
  let bytes = 0
  return {
    hold: (more) => {
      bytes += more
      if (bytes > JSON_LIMITS.values * VALUE_BYTES) throw tooManyValues()
      if (!memory.hold(more)) throw new ProblemError(refuseForRoom().problem)
      return true
    },
  }
}

const containerAt = (start: number, isObject: boolean): Container => ({
  isObject,
  start,
  memberStart: start + 1,
  pieceStart: start + 1,
  commas: 0,
  value: undefined,
  member: 'in piece',
  name: '',
})

/** Ends a member at a comma. Parses the gathered members once they are long, and returns whether it did. */
function endMember(text: string, at: number, open: readonly Container[], pieceCharacters: number): boolean {
  const container = open.at(-1)
  if (container === undefined) throw new SyntaxError(`Unexpected token ',' at position ${at}`)
  container.commas += 1
  if (container.isObject && container.commas >= JSON_LIMITS.members) throw tooManyMembers()
  const isLong = container.member === 'in piece' && at - container.pieceStart >= pieceCharacters
  if (isLong) {
    takeApart(text, open)
    addMembers(text, container, at)
  }
  if (container.member === 'done') requireBlank(text, container.pieceStart, at)
  if (isLong || container.member === 'done') container.pieceStart = at + 1
  container.member = 'in piece'
  container.memberStart = at + 1
  return isLong
}

/** The value of the outermost container, if it was taken apart and ends here. */
function endContainer(text: string, at: number, open: Container[], isObject: boolean): unknown {
  const container = open.pop()
  if (container?.isObject !== isObject) throw new SyntaxError(`Unexpected token '${text[at]}' at position ${at}`)
  const { value } = container
  if (value === undefined) return undefined
  if (container.member === 'done') requireBlank(text, container.pieceStart, at)
  else addMembers(text, container, at)
  return endLong(value, at, open)
}

/** Ends a container or string that was parsed by itself: adds it to the innermost container, or returns it if it is the whole text. */
function endLong(value: unknown, at: number, open: readonly Container[]): unknown {
  const around = open.at(-1)
  if (around === undefined) return value
  if (Array.isArray(around.value)) around.value.push(value)
  else setOwn(around.value ?? {}, around.name, value)
  around.member = 'done'
  around.pieceStart = at + 1
  return undefined
}

/** Parses a piece of the text, completed by a character before it and a text after it. An error tells the position in the whole text. */
function parsePiece(text: string, start: number, end: number, [before, after]: readonly [string, string]): unknown {
  try {
    return parseKeepingDigits(`${before}${text.slice(start, end)}${after}`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SyntaxError(
      error.message.replace(PLACE, (_place, position) => `position ${Number(position) + start - 1}`),
    )
  }
}

/** The end of most messages of V8. Lines are not counted, as a text may have millions of them. */
const PLACE = /position (\d+)(?: \(line \d+ column \d+\))?$/

/** Whether a string is the name of a member. Names are not taken apart, so they have a limit of their own. */
function isName(text: string, start: number, end: number): boolean {
  COLON_AFTER_BLANKS.lastIndex = end + 1
  if (!COLON_AFTER_BLANKS.test(text)) return false
  if (end - start > JSON_LIMITS.nameCharacters) throw tooLongName()
  return true
}

/** The innermost container does not fit into a piece, so its parents do not either: their earlier members are parsed now. */
function takeApart(text: string, open: readonly Container[]): void {
  for (const [index, container] of open.entries()) {
    if (container.value === undefined && index === 0) requireBlank(text, 0, container.start)
    container.value ??= container.isObject ? {} : []
    const inner = open[index + 1]
    if (inner === undefined || container.member === 'open') continue
    if (container.member === 'done') throw new SyntaxError(`A comma is missing at position ${inner.start}`)
    if (container.memberStart > container.pieceStart) addMembers(text, container, container.memberStart - 1)
    container.name = nameBefore(text, container, inner.start)
    container.member = 'open'
  }
}

function nameBefore(text: string, { isObject, memberStart }: Container, end: number): string {
  if (isObject) return Object.keys(parsePiece(text, memberStart, end, ['{', 'null}']) as object)[0] ?? ''
  requireBlank(text, memberStart, end)
  return ''
}

/** Parses the members up to `end`; there has to be at least one. */
function addMembers(text: string, { value, pieceStart }: Container, end: number): void {
  let added = 0
  if (Array.isArray(value)) {
    const elements = parsePiece(text, pieceStart, end, ['[', ']']) as readonly unknown[]
    for (const element of elements) value.push(element)
    added = elements.length
  } else {
    const members = Object.entries(parsePiece(text, pieceStart, end, ['{', '}']) as object)
    for (const [name, member] of members) setOwn(value ?? {}, name, member)
    added = members.length
  }
  if (added === 0) throw new SyntaxError(`A value is missing at position ${end}`)
}

function requireBlank(text: string, from: number, to: number): void {
  const at = text.slice(from, to).search(NOT_BLANK)
  if (at !== -1) throw new SyntaxError(`Something stands where only blanks may at position ${from + at}`)
}

const unexpectedEnd = (): SyntaxError => new SyntaxError('Unexpected end of JSON input')

export const tooManyValues = (): ProblemError =>
  new ProblemError(
    problem(
      'payload_too_large',
      { values: JSON_LIMITS.values },
      `The body holds more than ${JSON_LIMITS.values} values.`,
    ),
  )

const unacceptable = (message: string): ProblemError =>
  new ProblemError(problem('invalid_request', [{ path: '', message }]))
export const tooDeep = (): ProblemError =>
  unacceptable(`must not be nested more than ${JSON_LIMITS.levels} levels deep`)
const tooLongName = (): ProblemError =>
  unacceptable(`must not hold a member whose name is longer than ${JSON_LIMITS.nameCharacters} characters`)
export const tooManyMembers = (): ProblemError =>
  unacceptable(`must not hold an object of more than ${JSON_LIMITS.members} members`)
