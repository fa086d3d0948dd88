import { describe, expect, test } from 'vitest'
import { AnswerError } from '../../fuzz/answer-head.ts'
import { type Answer, createAnswerParser } from '../../fuzz/answer-parser.ts'

const bodies = (answers: readonly Answer[]): readonly string[] => answers.map(({ body }) => body.toString())

/** The answers to these methods, after the bytes came in pieces of one size, and whatever ends with the connection. */
function parsed(text: string, { methods = ['GET', 'GET', 'GET'], pieces = 1_000_000, end = false } = {}) {
  const parser = createAnswerParser()
  for (const method of methods) parser.expect(method)
  const bytes = Buffer.from(text, 'latin1')
  const answers: Answer[] = []
  for (let at = 0; at < bytes.length; at += pieces) answers.push(...parser.push(bytes.subarray(at, at + pieces)))
  if (end) answers.push(...parser.end())
  return { answers, begun: parser.begun() }
}

const COUNTED = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc'
const CHUNKED =
  'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nx-a: 2\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n'
const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n'

describe('answers on one connection', () => {
  test.each([1, 2, 7, 1_000])('are told apart in pieces of %i bytes', (pieces) => {
    const { answers, begun } = parsed(COUNTED + CHUNKED + EMPTY, { pieces })
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 204])
    expect(bodies(answers)).toEqual(['abc', 'abc0123456789', ''])
    expect(answers.map(({ bytes, whole }) => ({ bytes, whole }))).toEqual([
      { bytes: 3, whole: true },
      { bytes: 13, whole: true },
      { bytes: 0, whole: true },
    ])
    expect(answers[1]?.headers.get('x-a')).toEqual(['1', '2'])
    expect(begun).toBeUndefined()
  })

  test('that are to a HEAD, or 304, have no body whatever their length says', () => {
    const text = `HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n${COUNTED}`
    expect(bodies(parsed(text, { methods: ['HEAD', 'GET', 'GET'] }).answers)).toEqual(['', '', 'abc'])
  })

  test('come after interim ones, which belong to the next', () => {
    const { answers } = parsed(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${COUNTED}${COUNTED}`,
    )
    expect(answers.map(({ interim }) => interim)).toEqual([[100, 103], []])
  })

  test('end with the connection where nothing else says how long they are', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\nall of it'
    expect(parsed(text).answers).toEqual([])
    expect(parsed(text).begun).toMatchObject({ status: 200, whole: false })
    expect(bodies(parsed(text, { end: true }).answers)).toEqual(['all of it'])
    expect(parsed(COUNTED, { end: true }).answers).toHaveLength(1)
  })

  test('keep the beginning of a body, and count all of it', () => {
    const parser = createAnswerParser(10)
    parser.expect('GET')
    parser.push(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'))
    const [answer] = Array.from({ length: 10 }, () => parser.push(Buffer.from('0123456789'))).flat()
    expect(answer?.bytes).toBe(100)
    expect(answer?.body).toHaveLength(10)
  })
})

describe('bytes that are no HTTP are refused', () => {
  test.each([
    ['no status line', 'HTTP/2 200\r\n\r\n'],
    ['a status line of another version', 'HTTP/1.0 200 OK\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nnothing\r\n\r\n'],
    ['a blank before the colon', 'HTTP/1.1 200 OK\r\nA : b\r\n\r\n'],
    ['a line feed alone', 'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a chunk longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n'],
    ['a size that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n'],
    ['a body in the place of a head', `${COUNTED}more\r\n\r\n`],
  ])('%s', (_name, text) => {
    expect(() => parsed(text)).toThrow(AnswerError)
  })

  test.each([
    ['in a head', 'HTTP/1.1 200 OK\r\nA'],
    ['in a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'],
  ])('a connection that ends %s', (_name, text) => {
    expect(parsed(text).answers).toEqual([])
    expect(() => parsed(text, { end: true })).toThrow(AnswerError)
  })
})
