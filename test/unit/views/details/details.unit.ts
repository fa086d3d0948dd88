import { describe, expect, test } from 'vitest'
import { parseQuery } from '../../../../shared/query/parse.ts'
import { detailsOf } from '../../../../views/details/details.ts'
import { applicationEntry, eventEntry } from './entries.ts'

describe('what can be read from an entry', () => {
  test('a payload that is JSON is laid out, with what finds its values', () => {
    const { payload, scopes, exception } = detailsOf(eventEntry({ payload: '{"order":{"id":4711},"note":null}' }))
    expect(payload).toEqual({
      text: '{\n  "order": {\n    "id": 4711\n  },\n  "note": null\n}',
      values: [
        { name: 'order.id', text: '4711', cut: false, term: 'payload.order.id:4711' },
        { name: 'note', text: 'null', cut: false, term: null },
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
    expect(payload?.text).toHaveLength(128 * 1024 + 1)
    expect(payload?.text).toMatch(/ …$/)
    expect(payload?.more).toBe(true)
  })

  test('scopes are told by their sentences, and by the values that hold after all of them', () => {
    const scopes = ['Request {Id}', { tenant: 'a' }, { tenant: 'b' }]
    const { scopes: read } = detailsOf(applicationEntry({ scopeData: { Scopes: scopes } }))
    expect(read).toEqual({
      stack: ['Request {Id}', 'tenant=a', 'tenant=b'],
      values: [{ name: 'tenant', text: 'b', cut: false, term: 'scope.Scopes.tenant:b', hidden: ['a'] }],
      more: false,
    })
  })

  test('a single scope without a sentence has values alone', () => {
    expect(detailsOf(applicationEntry()).scopes).toEqual({
      stack: [],
      values: [{ name: 'tenant', text: 'acme', cut: false, term: 'scope.tenant:acme', hidden: [] }],
      more: false,
    })
  })

  test('an exception is read, as far as it is not too long', () => {
    const exception = `Acme.Failed: no\n${'   at Acme.Run()\n'.repeat(6_000)}`
    const { exception: read } = detailsOf(applicationEntry({ exception }))
    const [part] = read?.parts ?? []
    expect([part?.type, read?.more]).toEqual(['Acme.Failed', true])
    // A frame costs more than its text.
    expect(part?.frames.length).toBeGreaterThan(3_000)
    expect(part?.frames.length).toBeLessThan(4_096)
    expect(detailsOf(applicationEntry({ exception: 'boom' })).exception).toMatchObject({ more: false })
  })

  test('a field that is too long is cut, says so, and takes no room from the others', () => {
    const { fields } = detailsOf(applicationEntry({ originalLevel: 'x'.repeat(900_000) }))
    expect(fields.slice(-4)).toMatchObject([
      { name: 'originalLevel', text: `${'x'.repeat(4_096)}…`, cut: true, term: null },
      { name: 'timestamp', cut: false },
      { name: 'receivedAt', cut: false },
      { name: 'id', cut: false },
    ])
  })

  test('a value that is too long is cut; the search that finds it is not', () => {
    const values = Array.from({ length: 100 }, (_, index) => `${index}${'x'.repeat(1_000)}`)
    const { payload: read } = detailsOf(eventEntry({ payload: JSON.stringify({ values, long: 'y'.repeat(200_000) }) }))
    for (const { text, cut, term } of read?.values ?? [])
      expect([cut, term]).toEqual(text.endsWith('…') ? [true, null] : [false, `payload.values:${text}`])
    expect(read?.values.length).toBeLessThan(100)
    expect(read?.more).toBe(true)
  })

  test('a name that is too long is cut', () => {
    const { payload: read } = detailsOf(eventEntry({ payload: `{"${'k'.repeat(2_000)}":1}` }))
    expect(read?.values).toEqual([{ name: `${'k'.repeat(1_024)}…`, text: '1', cut: true, term: null }])
    expect(read?.more).toBe(true)
  })

  test('the values of all scopes together are bounded', () => {
    const scopes = Array.from({ length: 3 }, (_, scope) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, name) => [`s${scope}n${name}`, 1])),
    )
    const { scopes: read } = detailsOf(applicationEntry({ scopeData: { Scopes: scopes } }))
    expect(read).toMatchObject({ stack: { length: 3 }, values: { length: 300 }, more: true })
  })
})

describe('the fields of an entry', () => {
  test('every field that can be searched for is a query', () => {
    for (const entry of [eventEntry(), applicationEntry({ originalLevel: 'Loud' })]) {
      for (const { name, term } of detailsOf(entry).fields) {
        if (term === null) expect(['timestamp', 'receivedAt', 'originalLevel']).toContain(name)
        else expect(parseQuery(term).reading).toEqual({ read: 'query' })
      }
    }
  })

  test('what is not set is no field', () => {
    const names = detailsOf(applicationEntry({ eventId: 0, eventName: '', correlationKey: null })).fields.map(
      ({ name }) => name,
    )
    expect(names).toEqual(['level', 'environment', 'project', 'category', 'timestamp', 'receivedAt', 'id'])
  })
})
