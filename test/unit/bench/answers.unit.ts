import { expect, test } from 'vitest'
import { type Answer, createAnswerReader } from '../../../bench/answers.ts'
import * as fc from '../../support/fast-check.ts'

const answerOf = ({ status, body }: Answer): Buffer =>
  Buffer.from(`HTTP/1.1 ${status} Whatever\r\nContent-Length: ${body.length}\r\nX: y\r\n\r\n${body}`, 'latin1')

test('answers are read whole, however the network cuts them', () => {
  const answer = fc.record({
    status: fc.integer({ min: 200, max: 599 }),
    body: fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  })
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (answers, size) => {
      const found: Answer[] = []
      const read = createAnswerReader((each) => found.push(each))
      const bytes = Buffer.concat(answers.map(answerOf))
      for (let from = 0; from < bytes.length; from += size) read(bytes.subarray(from, from + size))
      expect(found).toEqual(answers)
    }),
  )
})

test('an answer without a length has no body, and a chunked one is an error', () => {
  const found: Answer[] = []
  createAnswerReader((each) => found.push(each))(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'))
  expect(found).toEqual([{ status: 204, body: '' }])
  const read = createAnswerReader(() => undefined)
  expect(() => read(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toThrow('chunked')
})
