import {
  type Checked,
  type ErrorCode,
  type Problem,
  ProblemError,
  problem,
  refuse,
} from '../../shared/contract/errors.ts'
import { fitsDepth } from '../../shared/contract/exact-json.ts'
import { type Body, isLong, parseJsonBody, parseShortJson } from '../../shared/http/body.ts'
import { createValueHold, parseInPieces, valuesIn } from '../../shared/http/json-pieces.ts'
import type { Steps } from '../../shared/runtime/cooperative.ts'
import { FOREIGN_ENTRIES_MAX, refuseTooMany } from '../ingest/checks.ts'
import { type Fields, isObject, leastBytes, refuseNoObject, refuseTooDeep } from '../ingest/fields.ts'

/** One event of a body, or why there is none at its place. */
interface SentEvent {
  readonly event: Checked<Fields>
  /** A lower bound of the event's length in the body. */
  readonly characters: number
  /** The line it was sent as; undefined for an element of a list. */
  readonly text?: string
}

/** The events of a body, in order. */
export interface SentEvents {
  readonly events: readonly SentEvent[]
  /** Whether the body's form allows any number of events: a list, or more than one line. */
  readonly isBatch: boolean
}

/** The limit of scope data, whose depth is that of its event. */
const EVENT_LEVELS_MAX = 64

/** The first line of a list of objects, or of an empty list. */
const LIST = /^\[(?:\s*\{|\]?$)/

/**
 * Reads the events of a JSON body, at most `FOREIGN_ENTRIES_MAX`, with numbers as `parseKeepingDigits` keeps them. A body is a list of events
 * (an array, or an object whose only member, `Events`, is an array), or one event over any number of lines, or one event per non-blank line.
 * A line or element that is not an event is refused at its place; a list or an object over several lines that is not JSON is refused as a
 * whole. Throws a `ProblemError` if the lines have too many values together, or if there is no room for these.
 */
export function* eventsOf(body: Body<string>): Steps<Checked<SentEvents>> {
  const { content: text } = body
  const parse = createLineParser(body)
  const place = { at: 0, line: 1 }
  const first = yield* nextLine(text, place)
  if (first === undefined) return refuse('malformed_json', null, 'The body has no event: it is blank.')
  const parsed = yield* parse(first.text)
  const second = yield* nextLine(text, place)
  if (second === undefined) return yield* eventsOfOnlyLine(first, parsed)
  if (parsed.problem?.code === 'malformed_json' && /^[[{]/.test(first.text)) {
    // The text may continue after its first line; if it does not parse then either, that line is damaged.
    const whole = yield* eventsOfWhole(body)
    if (whole.problem?.code !== 'malformed_json' || first.text === '{' || LIST.test(first.text)) return whole
  }
  const events = [eventOfLine(first, parsed)]
  for (let line: Line | undefined = second; line !== undefined; line = yield* nextLine(text, place)) {
    if (events.length === FOREIGN_ENTRIES_MAX) return refuseTooMany(FOREIGN_ENTRIES_MAX)
    events.push(eventOfLine(line, yield* parse(line.text)))
    yield
  }
  return { value: { events, isBatch: true } }
}

/** The events of a body that is one line: those of a list, which is refused as a whole, or a single one. */
function* eventsOfOnlyLine(line: Line, parsed: Checked<unknown>): Steps<Checked<SentEvents>> {
  const { value, problem: cause } = parsed
  if (listIn(value) !== undefined) return yield* eventsOfList(value)
  // A line that is not JSON counts as a list only if it begins as a list of objects does.
  const isList = cause?.code === 'malformed_json' ? LIST.test(line.text) : line.text.startsWith('[')
  if (cause !== undefined && isList) return { problem: cause }
  return { value: { events: [eventOfLine(line, parsed)], isBatch: false } }
}

/**
 * The parser of a body's lines. In a long body their values are limited together, as all of them are kept: it throws a `ProblemError` if
 * they are too many, or if there is no room for them.
 */
function createLineParser({ content, memory }: Body<string>): (line: string) => Steps<Checked<unknown>> {
  const holdValues = createValueHold(memory)
  return function* parse(line) {
    if (!isLong(line)) {
      if (isLong(content)) holdValues(valuesIn(line))
      return yield* parseShortJson(line)
    }
    const parsed = yield* parseInPieces(line, holdValues)
    if (parsed.problem !== undefined && !LINE_PROBLEMS.has(parsed.problem.code)) throw new ProblemError(parsed.problem)
    return parsed
  }
}

/** The codes of what is wrong with a line alone. */
const LINE_PROBLEMS: ReadonlySet<ErrorCode> = new Set(['malformed_json', 'invalid_request'])

/** The list itself, or the list that is an object's only member, `Events`. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  const names = Object.keys(value)
  const list = value[names[0] ?? '']
  return names.length === 1 && /^events$/i.test(names[0] ?? '') && Array.isArray(list) ? list : undefined
}

/** The events of a body that is one JSON text. */
function* eventsOfWhole(body: Body<string>): Steps<Checked<SentEvents>> {
  const { value, problem: cause } = yield* parseJsonBody(body)
  if (cause !== undefined) return { problem: cause }
  if (listIn(value) !== undefined) return yield* eventsOfList(value)
  return { value: { events: [{ event: eventOf(value), characters: body.content.length }], isBatch: false } }
}

function* eventsOfList(value: unknown): Steps<Checked<SentEvents>> {
  const list = listIn(value) ?? []
  if (list.length > FOREIGN_ENTRIES_MAX) return refuseTooMany(FOREIGN_ENTRIES_MAX, list.length)
  const events: SentEvent[] = []
  for (const element of list) {
    const event = eventOf(element)
    events.push({ event, characters: event.problem === undefined ? leastBytes(event.value) : 0 })
    yield
  }
  return { value: { events, isBatch: true } }
}

function eventOfLine({ text, number }: Line, { value, problem: cause }: Checked<unknown>): SentEvent {
  const event = cause === undefined ? eventOf(value) : { problem: problemOfLine(cause, number) }
  return { text, event, characters: text.length }
}

function problemOfLine(cause: Problem, line: number): Problem {
  if (cause.code !== 'malformed_json') return cause
  const { reason } = cause.details as { readonly reason: string }
  return problem('malformed_json', { reason, line }, `Line ${line} is not valid JSON: ${reason}.`)
}

function eventOf(value: unknown): Checked<Fields> {
  // A number that JavaScript would round is an object here.
  if (!isObject(value)) return refuseNoObject()
  return fitsDepth(value, EVENT_LEVELS_MAX) ? { value } : refuseTooDeep(value, EVENT_LEVELS_MAX)
}

/** A non-blank line, trimmed. */
interface Line {
  readonly text: string
  /** Counted over all lines, from 1. */
  readonly number: number
}

/** How far a body has been read. */
interface Place {
  at: number
  line: number
}

function* nextLine(text: string, place: Place): Steps<Line | undefined> {
  while (true) {
    while (!passBlanks(text, place)) yield
    if (place.at === text.length) return undefined
    const newline = text.indexOf('\n', place.at)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(place.at, end).trim()
    place.at = end
    if (line !== '') return { text: line, number: place.line }
    yield
  }
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20

/** Characters of whitespace skipped per step. */
const STRIDE_CHARACTERS = 64 * 1024

/** Skips whitespace; returns whether all of it was skipped. */
function passBlanks(text: string, place: Place): boolean {
  const end = Math.min(text.length, place.at + STRIDE_CHARACTERS)
  for (; place.at < end; place.at += 1) {
    const character = text.charCodeAt(place.at)
    if (character === NEWLINE) place.line += 1
    else if (character !== SPACE && character !== TAB && character !== RETURN) return true
  }
  return place.at === text.length
}
