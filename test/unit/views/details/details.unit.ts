import { describe, expect, test } from '@jest/globals'
import { detailsOf } from '../../../../views/details/details.ts'
import { applicationEntry, eventEntry } from './entries.ts'

describe('what can be read from an entry', () => {
  test('a payload that is JSON is laid out, with what finds its values', () => {
    const { payload, scopes, exception } = detailsOf(eventEntry({ payload: '{"order":{"id":4711},"note":null}' }))
    expect(payload).toEqual({
      text: '{\n  "order": {\n    "id": 4711\n  },\n  "note": null\n}',
      values: [
        { name: 'order.id', text: '4711', term: 'payload.order.id:4711' },
        { name: 'note', text: 'null', term: null },
      ],
      more: false,
    })
    expect([scopes, exception]).toEqual([null, null])
  })

  test('one that is none is not', () => {
    for (const payload of ['plain', '{"cut":', '"text"', ''])
      expect(detailsOf(eventEntry({ payload })).payload).toBeNull()
  })

  test('values and text of a payload are bounded', () => {
    const list = JSON.stringify(Array.from({ length: 400 }, (_, n) => n))
    expect(detailsOf(eventEntry({ payload: list })).payload).toMatchObject({ values: { length: 300 }, more: true })
    const { payload } = detailsOf(eventEntry({ payload: `[${'['.repeat(5_000)}${']'.repeat(5_000)}]` }))
    expect(payload?.text.length).toBeLessThanOrEqual(200_000)
  })

  test('scopes are told by their sentences, and by the values that hold after all of them', () => {
    const scopes = ['Request {Id}', { tenant: 'a' }, { tenant: 'b' }]
    const { scopes: read } = detailsOf(applicationEntry({ scopeData: { Scopes: scopes } }))
    expect(read).toEqual({
      stack: ['Request {Id}', 'tenant=a', 'tenant=b'],
      values: [{ name: 'tenant', text: 'b', term: 'scope.Scopes.tenant:b', hidden: ['a'] }],
    })
  })

  test('a single scope without a sentence has values alone', () => {
    expect(detailsOf(applicationEntry()).scopes).toEqual({
      stack: [],
      values: [{ name: 'tenant', text: 'acme', term: 'scope.tenant:acme', hidden: [] }],
    })
  })

  test('an exception is read, as far as it is not too long', () => {
    const exception = `Acme.Failed: no\n${'   at Acme.Run()\n'.repeat(6_000)}`
    const { exception: read } = detailsOf(applicationEntry({ exception }))
    expect(read).toMatchObject({ parts: [{ type: 'Acme.Failed', frames: { length: 4_999 } }], more: true })
    expect(detailsOf(applicationEntry({ exception: 'boom' })).exception).toMatchObject({ more: false })
  })
})
