import { describe, expect, test } from 'vitest'
import { acceptedCoding } from '../../../../shared/http/accept-encoding.ts'

describe('the coding of an answer', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, *;q=0.5', 'br'],
    ['*;q=0', 'identity'],
    ['deflate', 'identity'],
    ['brotli', 'identity'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['br;q=0.9 , gzip ; q=0.9', 'br'],
    ['br;q=0, gzip;q=0.000', 'identity'],
    ['gzip;q=0.001', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0, br;q=0', 'identity'],
    ['gzip;q=2', 'identity'],
    ['gzip;q=x', 'identity'],
    [',;,;q=1,=', 'identity'],
  ])('for %j is %s', (header, coding) => {
    expect(acceptedCoding(header === undefined ? {} : { 'accept-encoding': header }, ['br', 'gzip'])).toBe(coding)
  })

  test('is one of those that there are', () => {
    expect(acceptedCoding({ 'accept-encoding': 'br, gzip' }, ['gzip'])).toBe('gzip')
    expect(acceptedCoding({ 'accept-encoding': 'br, gzip' }, [])).toBe('identity')
  })
})
