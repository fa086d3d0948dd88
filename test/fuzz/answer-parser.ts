import { AnswerError, type AnswerHead, framingOf, parseHead } from './answer-head.ts'

/** A response as received on a connection. */
export interface Answer extends AnswerHead {
  /** The body; truncated if more arrived than is kept. */
  readonly body: Buffer
  /** Size of the complete body in bytes. */
  readonly bytes: number
  /** Statuses of preceding interim responses (1xx). */
  readonly interim: readonly number[]
  /** Whether the end of the body was seen; false for an abandoned stream. */
  readonly whole: boolean
}

/** Parses the responses of one connection, regardless of how they are split. */
export interface AnswerParser {
  /** Announces the method of the next request: the response to a HEAD has no body. */
  expect(method: string): void
  /** Returns the final responses completed by these bytes. Throws an `AnswerError` for bytes that are not HTTP. */
  push(bytes: Buffer): readonly Answer[]
  /** The other side has finished sending: returns a response that ends with it. Throws an `AnswerError` if one is truncated. */
  end(): readonly Answer[]
  /** The response that has begun but not ended. */
  begun(): Answer | undefined
}

const BODY_KEPT_MAX = 8 * 1024 * 1024
const HEAD_MAX = 64 * 1024
const LINE_MAX = 1_024
const EMPTY = Buffer.alloc(0)

/** The part of a body that comes next; `rest` is a body that ends with its connection. */
type Place = 'counted' | 'rest' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers' | 'ended'

interface Reading {
  readonly head: AnswerHead
  readonly interim: readonly number[]
  readonly kept: Buffer[]
  place: Place
  bytes: number
  /** Bytes left in the body, or in the chunk. */
  left: number
}

const FIRST_PLACE = { nothing: 'ended', length: 'counted', chunks: 'chunk size', close: 'rest' } as const

export function createAnswerParser(keptMax = BODY_KEPT_MAX): AnswerParser {
  const methods: string[] = []
  let buffer: Buffer = EMPTY
  let reading: Reading | undefined
  let interim: number[] = []

  /** Removes everything up to `mark` from the buffer; undefined if the mark has not arrived yet. */
  function take(mark: string, most: number): string | undefined {
    const end = buffer.indexOf(mark)
    if (end > most || (end === -1 && buffer.length > most)) throw new AnswerError('a line or a head is too long')
    if (end === -1) return undefined
    const text = buffer.toString('latin1', 0, end)
    buffer = buffer.subarray(end + mark.length)
    return text
  }

  /** Parses a head; false if it is incomplete. */
  function begin(): boolean {
    const text = take('\r\n\r\n', HEAD_MAX)
    if (text === undefined) return false
    const head = parseHead(text)
    if (head.status < 200) {
      interim.push(head.status)
      return true
    }
    const framing = framingOf(head, methods.shift() ?? 'GET')
    const left = framing.by === 'length' ? framing.bytes : Number.POSITIVE_INFINITY
    reading = { head, interim, kept: [], place: left === 0 ? 'ended' : FIRST_PLACE[framing.by], bytes: 0, left }
    interim = []
    return true
  }

  function takeData(one: Reading): void {
    const data = buffer.subarray(0, Math.min(one.left, buffer.length))
    if (one.bytes < keptMax) one.kept.push(data)
    one.bytes += data.length
    one.left -= data.length
    buffer = buffer.subarray(data.length)
  }

  /** Parses the next part of a body; false if more bytes are needed. */
  function step(one: Reading): boolean {
    if (one.place === 'counted' || one.place === 'rest' || one.place === 'chunk') {
      takeData(one)
      if (one.left > 0) return false
      one.place = one.place === 'chunk' ? 'chunk end' : 'ended'
      return true
    }
    const line = take('\r\n', LINE_MAX)
    if (line === undefined) return false
    one.place = placeAfter(one, line)
    return true
  }

  function placeAfter(one: Reading, line: string): Place {
    if (one.place === 'trailers') return line === '' ? 'ended' : 'trailers'
    if (one.place === 'chunk end') {
      if (line !== '') throw new AnswerError('a chunk is longer than its size')
      return 'chunk size'
    }
    if (!/^[0-9A-Fa-f]{1,8}$/.test(line)) throw new AnswerError(`no size of a chunk: ${JSON.stringify(line)}`)
    one.left = Number.parseInt(line, 16)
    return one.left === 0 ? 'trailers' : 'chunk'
  }

  const answerOf = ({ head, kept, bytes, interim, place }: Reading): Answer => ({
    ...head,
    body: kept.length === 1 ? (kept[0] ?? EMPTY) : Buffer.concat(kept),
    bytes,
    interim,
    whole: place === 'ended',
  })

  return {
    expect: (method) => void methods.push(method),
    push: (bytes) => {
      buffer = buffer.length === 0 ? bytes : Buffer.concat([buffer, bytes])
      const answers: Answer[] = []
      for (;;) {
        if (reading?.place === 'ended') {
          answers.push(answerOf(reading))
          reading = undefined
        }
        if (reading === undefined ? buffer.length === 0 || !begin() : !step(reading)) return answers
      }
    },
    end: () => {
      if (reading === undefined && buffer.length === 0) return []
      if (reading?.place !== 'rest') throw new AnswerError('the connection was closed in the middle of an answer')
      const answer = { ...answerOf(reading), whole: true }
      reading = undefined
      return [answer]
    },
    begun: () => (reading === undefined ? undefined : answerOf(reading)),
  }
}
