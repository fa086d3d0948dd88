import { describe, expect, test } from 'vitest'
import { codingProblem, mediaProblem } from '../../../../shared/http/media-type.ts'
import * as fc from '../../../support/fast-check.ts'

const isRead = (type: string): boolean => mediaProblem({ 'content-type': type }) === undefined

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 5 })
/** Parts with any blanks after each of them. */
const spaced = (...parts: readonly string[]) =>
  fc
    .array(blanks, { minLength: parts.length, maxLength: parts.length })
    .map((gaps) => parts.map((part, index) => part + gaps[index]).join(''))
const type = fc.constantFrom('application/json', 'Application/JSON')
const utf8 = fc.constantFrom('utf-8', 'UTF-8', 'utf8', '"utf-8"', '"Utf8"')
const otherCharset = fc.constantFrom('utf-16', 'utf-88', 'xutf-8', '"latin1"', 'utf--8')

const header = (charset: fc.Arbitrary<string>, ...end: readonly string[]) =>
  fc.tuple(type, charset).chain(([json, name]) => spaced(json, ';', 'charset', '=', name, ...end))

describe('a content type, with blanks wherever they may be,', () => {
  test('of JSON alone or in UTF-8 is read, also with a semicolon at its end', () => {
    const accepted = fc.oneof(
      type.chain((json) => spaced(json)),
      type.chain((json) => spaced(json, ';')),
      header(utf8),
      header(utf8, ';'),
      header(utf8, ';', 'profile', '=', 'x'),
    )
    fc.assert(fc.property(accepted, (text) => void expect([text, isRead(text)]).toEqual([text, true])))
  })

  test('of another type or charset, or with more before its semicolon, is not', () => {
    const refused = fc.oneof(
      type.chain((json) => spaced(json, 'x')),
      type.chain((json) => spaced(json, 'x', ';')),
      spaced('text/json', ';'),
      header(otherCharset),
      header(otherCharset, ';'),
    )
    fc.assert(fc.property(refused, (text) => void expect([text, isRead(text)]).toEqual([text, false])))
  })
})

test('a content encoding that is not supported is named, with those that are', () => {
  expect(codingProblem({ 'content-encoding': 'snappy' })?.message).toBe(
    'The content encoding "snappy" is not supported. Send the body plain, or compressed once with gzip, deflate, br or zstd.',
  )
  expect(codingProblem({ 'content-encoding': 'gzip, gzip' })?.message).toContain('"gzip, gzip"')
  for (const taken of ['', 'identity', ' GZIP ']) expect(codingProblem({ 'content-encoding': taken })).toBeUndefined()
})
