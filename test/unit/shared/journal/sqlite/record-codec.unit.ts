import { isUtf8 } from 'node:buffer'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decodeHeaders, encodeHeaders, encodeRecord } from '../../../../../shared/journal/sqlite/record-codec.ts'

const headerValue = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 20 }))
const headersArbitrary = fc.dictionary(fc.string(), headerValue)

test('headers come back as they were; bytes that are UTF-8 come back as text', () => {
  fc.assert(
    fc.property(headersArbitrary, (headers) => {
      const expected = Object.entries(headers).map(([name, value]) => [
        name,
        typeof value !== 'string' && isUtf8(value) ? Buffer.from(value).toString() : value,
      ])
      const decoded = Object.entries(decodeHeaders(encodeHeaders(headers)))
      const plain = (entries: readonly (readonly unknown[])[]) =>
        entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...(value as Uint8Array)]])
      expect(plain(decoded)).toEqual(plain(expected))
    }),
  )
})

test('a header that comes as a Buffer is stored as its bytes', () => {
  expect(encodeHeaders({ raw: Buffer.of(0xff, 0xfe) })).toBe('{"raw":["//4="]}')
})

test('a record counts the bytes of its key, value and headers as they are stored', () => {
  const { bytes, headers } = encodeRecord({ key: 'ü', value: Uint8Array.of(1, 2, 3), headers: { a: 'ü' } })
  expect(headers).toBe('{"a":"ü"}')
  expect(bytes).toBe(2 + 3 + 10)
})

test('an empty value is kept apart from none', () => {
  const { key, value } = encodeRecord({ key: null, value: new Uint8Array(0), headers: {} })
  expect([key, value]).toEqual([null, ''])
})
