import { describe, expect, test } from 'vitest'
import {
  type Address,
  formatAddress,
  parseAddress,
  patchAddress,
  showSame,
} from '../../../../../views/web/lib/address.ts'
import * as fc from '../../../../support/fast-check.ts'

/** A URL as a browser changes it: paths are tidied up before anybody can look at them. */
function through(url: string): { pathname: string; search: string } {
  const { pathname, search } = new URL(url, 'http://sluice.test')
  return { pathname, search }
}

const wellFormed = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed())
const nasty = fc.constantFrom('.', '..', '-', '%2e', '%', 'a/b', 'a?b#c', '%zz', ' ', '+', '&', '=', '\\', 'é', '注文')
const text = fc.oneof(wellFormed, nasty)
const params = fc
  .dictionary(
    text,
    text.filter((value) => value !== ''),
  )
  .map(({ key: _key, ...others }) => others)
const address = fc.oneof(
  fc.record({ path: fc.constantFrom<readonly string[]>([], ['event-logs'], ['team']), params }),
  fc.record({ path: text.filter((key) => key !== '').map((key): readonly string[] => ['flows', key]), params }),
)
const base = fc.constantFrom('/', '/logs/', '/a/b/')

describe('addresses', () => {
  test('what is written is read again, for every correlationKey and parameter', () => {
    fc.assert(
      fc.property(address, base, (written: Address, below) => {
        const { pathname, search } = through(formatAddress(written, below))
        expect(parseAddress(pathname, search, below)).toEqual(written)
      }),
    )
  })

  test('reading never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), base, (path, search, below) => void parseAddress(path, search, below)),
    )
  })

  test('text that is no Unicode becomes text that is', () => {
    expect(formatAddress({ path: ['flows', 'a\ud800'], params: { q: '\udfff' } }, '/')).toBe(
      '/flows/a%EF%BF%BD?q=%EF%BF%BD',
    )
  })

  test('a URL stays readable', () => {
    const params = { q: 'level:>=warning "a b"', from: '2026-01-31T09:30:00Z' }
    expect(formatAddress({ path: ['event-logs'], params }, '/logs/')).toBe(
      '/logs/event-logs?q=level:%3E%3Dwarning+%22a+b%22&from=2026-01-31T09:30:00Z',
    )
  })

  test.each([
    ['/logs', '/logs/', []],
    ['/logs/', '/logs/', []],
    ['/', '/', []],
    ['/event-logs/', '/', ['event-logs']],
    ['/flows/%zz', '/', ['flows', '%zz']],
  ])('%s below %s is %j', (pathname, below, path) => {
    expect(parseAddress(pathname, '', below)).toEqual({ path, params: {} })
  })

  test('of a parameter that is given twice the first counts, and an empty one is none', () => {
    expect(parseAddress('/team', '?a=&a=1&a=2&b=', '/').params).toEqual({ a: '1' })
  })
})

describe('patchAddress', () => {
  const here: Address = { path: ['event-logs'], params: { q: 'x', utc: '1', environment: 'Production' } }

  test('changes and takes away parameters, and leaves the others', () => {
    expect(patchAddress(here, { params: { q: undefined, level: 'Error', utc: '' } })).toEqual({
      path: ['event-logs'],
      params: { environment: 'Production', level: 'Error' },
    })
  })

  test('goes to another page with what holds everywhere', () => {
    expect(patchAddress(here, { path: ['flows'], params: { q: 'y' } })).toEqual({
      path: ['flows'],
      params: { utc: '1', environment: 'Production', q: 'y' },
    })
  })

  test('keeps the range of time between lists alone', () => {
    const range = { from: 'now-15m', to: 'now' }
    const paramsOf = (from: readonly string[], to: readonly string[]) =>
      patchAddress({ path: from, params: range }, { path: to }).params
    expect(paramsOf(['event-logs'], ['application-logs'])).toEqual(range)
    expect(paramsOf(['application-logs'], ['flows'])).toEqual(range)
    for (const other of [['flows', 'order-1'], ['team'], ['refused']]) {
      expect(paramsOf(['event-logs'], other)).toEqual({})
      expect(paramsOf(other, ['event-logs'])).toEqual({})
    }
  })

  test.each([
    [{ id: '1', tab: 'json' }, { utc: '1', columns: 'level' }, true],
    [{ q: 'a', id: '1' }, { id: '2', q: 'a' }, true],
    [{ q: 'a' }, { q: 'b' }, false],
    [{ group: 'template' }, {}, false],
  ])('%j and %j show the same: %s', (one, other, same) => {
    const shown = (params: Address['params']): Address => ({ path: ['event-logs'], params })
    expect(showSame(shown(one), shown(other))).toBe(same)
    expect(showSame(shown(one), { path: ['flows'], params: one })).toBe(false)
  })
})
