import { describe, expect, test } from 'vitest'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { mergedScopes, scopeStack } from '../../../../views/details/scopes.ts'

const stack = (data: Record<string, unknown>) =>
  scopeStack(data).scopes.map(({ text, within, fields }) => [
    text,
    within,
    fields.map((one) => `${one.path}=${one.text}`),
  ])

const merged = (data: Record<string, unknown>) =>
  mergedScopes(scopeStack(data).scopes).map(({ path, text, hidden }) => [path, text, ...hidden])

describe('the scopes of an entry', () => {
  test('plain scope data is one scope', () => {
    expect(stack({ RequestId: '0HN', user: { id: 7 } })).toEqual([['', '', ['RequestId=0HN', 'user.id=7']]])
  })

  test('a list of scopes, the outermost first, as .NET writes it', () => {
    const data = {
      Scopes: [
        'plain text',
        { Message: 'RequestPath:/orders', '{OriginalFormat}': 'RequestPath:{RequestPath}', RequestPath: '/orders' },
        { '{OriginalFormat}': 'Order {OrderId} of {Customer,-10:x}', OrderId: 4711 },
        { tenant: 'acme' },
      ],
    }
    expect(stack(data)).toEqual([
      ['plain text', 'Scopes', []],
      ['RequestPath:/orders', 'Scopes', ['RequestPath=/orders']],
      ['Order 4711 of {Customer,-10:x}', 'Scopes', ['OrderId=4711']],
      ['', 'Scopes', ['tenant=acme']],
    ])
  })

  test('members beside the list stand around it', () => {
    expect(stack({ host: 'a', scopes: [{ x: 1 }] })).toEqual([
      ['', '', ['host=a']],
      ['', 'scopes', ['x=1']],
    ])
  })

  test('a list written as an object, and what only looks like one', () => {
    expect(stack({ 0: 'outer', 1: { x: 1 } })).toEqual([
      ['outer', '0', []],
      ['', '1', ['x=1']],
    ])
    expect(stack({ 0: 'a', x: 'b' })).toHaveLength(1)
    expect(stack({})).toEqual([['', '', []]])
  })

  test('a message without a template is a value like others', () => {
    expect(stack({ Message: 'hello' })).toEqual([['', '', ['Message=hello']]])
  })

  test('merged: inner scopes win, and what they hide is told', () => {
    expect(merged({ Scopes: [{ a: 1, b: 1 }, { a: 2 }, { a: 3, c: [1, 2] }] })).toEqual([
      ['a', '3', '2', '1'],
      ['c', '1, 2'],
      ['b', '1'],
    ])
  })

  test('names that objects have of themselves are names like others', () => {
    expect(stack({ Scopes: [{ '{OriginalFormat}': '{toString}' }] })).toEqual([['{toString}', 'Scopes', []]])
    expect(merged(JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })

  test('of more scopes than are read the innermost ones, whose values win', () => {
    const elements = Array.from({ length: 100 }, (_, index) => ({ a: index }))
    for (const data of [{ Scopes: elements }, { Scopes: elements, host: 'a' }, { ...elements }]) {
      const { scopes, more } = scopeStack(data)
      expect([scopes.length, more]).toEqual([64, true])
      expect(scopes.at(-1)?.fields).toMatchObject([{ text: '99' }])
    }
    expect(scopeStack({ Scopes: elements.slice(-64) })).toMatchObject({ scopes: { length: 64 }, more: false })
    expect(scopeStack({ Scopes: elements.slice(-64), host: 'a' })).toMatchObject({ scopes: { length: 64 }, more: true })
  })

  test('of more names than are read the first ones', () => {
    const wide = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))
    expect(scopeStack(wide(200))).toMatchObject({ scopes: [{ fields: { length: 200 } }], more: false })
    expect(scopeStack(wide(201))).toMatchObject({ scopes: [{ fields: { length: 200 } }], more: true })
    expect(scopeStack({ scopes: [], ...wide(201) })).toMatchObject({
      scopes: [{ fields: { length: 200 } }],
      more: true,
    })
  })

  test('a template that repeats a value at will stays a template', () => {
    const scope = { '{OriginalFormat}': '{a}'.repeat(10_000), a: 'x'.repeat(1_000) }
    expect(scopeStack({ Scopes: [scope] })).toMatchObject({
      scopes: [{ text: scope['{OriginalFormat}'], fields: [{ path: 'a' }] }],
      more: true,
    })
  })

  test('a number with more digits than JavaScript keeps is a scope by itself', () => {
    expect(stack(parseExactly('{"Scopes":[12345678901234567890,[1]]}') as Record<string, unknown>)).toEqual([
      ['12345678901234567890', 'Scopes', []],
      ['', 'Scopes', ['=1']],
    ])
  })
})
