import { describe, expect, test } from 'vitest'
import { renderTemplate } from '../../../shared/message-template.ts'
import * as fc from '../../support/fast-check.ts'

const PROPERTIES = { Name: 'Ada', Count: 3, Order: { Id: 7 }, None: null, 'a.b': true, __proto__: undefined }
const render = (template: string, renderings: readonly unknown[] = []) =>
  renderTemplate(template, PROPERTIES, renderings, 1_000)

describe('a message template', () => {
  test.each([
    ['no holes', 'no holes'],
    ['Hello, {Name}!', 'Hello, Ada!'],
    ['{Name}{Count}', 'Ada3'],
    ['{@Order} and {$Order}', '{"Id":7} and {"Id":7}'],
    ['{Count:000} {Count,5} {Count,-5:x}', '3 3 3'],
    ['{None}, {a.b}', 'null, true'],
    ['{Missing} {toString} {__proto__}', '{Missing} {toString} {__proto__}'],
    ['{{Name}} {{{Name}}}', '{Name} {Ada}'],
    ['{ Name } {} {Na me} {Name', '{ Name } {} {Na me} {Name'],
    ['', ''],
  ])('%j is %j', (template, message) => {
    expect(render(template)).toBe(message)
  })

  test('renderings stand for the holes with a format, in their order', () => {
    expect(render('{Name} {Count:000} {Name} {Count:x8}', ['003', '00000003'])).toBe('Ada 003 Ada 00000003')
    expect(render('{Count:000} {Count:x8}', ['003'])).toBe('003 3')
    expect(render('{Count:000}', [null])).toBe('3')
  })

  test('what would be too long is not made', () => {
    const properties = { A: 'x'.repeat(1_000) }
    expect(renderTemplate('{A}'.repeat(10), properties, [], 10_000)).toHaveLength(10_000)
    expect(renderTemplate('{A}'.repeat(10), properties, [], 9_999)).toBeUndefined()
    expect(renderTemplate('{A}'.repeat(1_000_000), properties, [], 5_000)).toBeUndefined()
    expect(renderTemplate('x'.repeat(11), properties, [], 10)).toBeUndefined()
  })

  test('takes any text in linear time, and text without braces as it is', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof render(text) === 'string'))
    fc.assert(
      fc.property(
        fc.string().map((text) => text.replaceAll(/[{}]/g, '')),
        (text) => {
          expect(render(text)).toBe(text)
        },
      ),
    )
    for (const text of ['{', '{a', '{a,1', '{a:', '{{', '{a{a:'])
      expect(typeof renderTemplate(text.repeat(200_000), {}, [], 10_000_000)).toBe('string')
  })
})
