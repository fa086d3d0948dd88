import { describe, expect, test } from 'vitest'
import { eventNamesOf, leafValuesOf, pathsOf } from '../../../../views/search/paths.ts'
import { applicationLog, eventLog } from '../../../support/views-fixture.ts'

const members = (count: number): Readonly<Record<string, number>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))

describe('the values of entries', () => {
  test('are those of one leaf, counted once an entry, the most frequent first', () => {
    const entries = [
      eventLog({ payload: '{"tags":["b","a","a"],"tag":"c"}' }),
      eventLog({ payload: '{"tags":["a"]}' }),
      eventLog({ payload: 'no JSON' }),
      applicationLog({ scopeData: { tags: 'scope' } }),
    ]
    expect(leafValuesOf(entries, { field: 'payload', path: 'tags' })).toEqual([
      { value: 'a', count: 2 },
      { value: 'b', count: 1 },
    ])
    expect(leafValuesOf(entries, { field: 'scope', path: 'tags' })).toEqual([{ value: 'scope', count: 1 }])
  })

  test('have all digits of numbers beyond 2^53, as a search needs them', () => {
    const entries = [eventLog({ payload: '{"id":9007199254740993}' }), eventLog({ payload: '{"id":9007199254740992}' })]
    expect(leafValuesOf(entries, { field: 'payload', path: 'id' })).toEqual([
      { value: '9007199254740993', count: 1 },
      { value: '9007199254740992', count: 1 },
    ])
  })

  test('are eventNames, without empty ones', () => {
    const entries = ['A', 'B', '', 'B'].map((eventName) => applicationLog({ eventName }))
    expect(eventNamesOf([...entries, eventLog()])).toEqual([
      { value: 'B', count: 2 },
      { value: 'A', count: 1 },
    ])
  })
})

describe('the names of leaves that entries have', () => {
  test('are those of wanted values alone, where some are', () => {
    const entries = [
      eventLog({ payload: '{"total":1,"order":"a"}' }),
      applicationLog({ scopeData: { ms: '12', at: 'x' } }),
    ]
    expect(pathsOf(entries, (value) => /^\d+$/.test(value))).toEqual(['payload.total', 'scope.ms'])
  })

  test('are those of payloads and of scopes, each once', () => {
    const entries = [
      eventLog({ payload: '{"order":{"id":1},"items":[{"price":1}]}' }),
      eventLog({ payload: '{"order":{"id":2}}' }),
      eventLog({ payload: 'no JSON' }),
      applicationLog({ scopeData: { Scopes: [{ tenant: 'a' }] } }),
      applicationLog(),
    ]
    expect(pathsOf(entries)).toEqual(['payload.order.id', 'payload.items.price', 'scope.Scopes.tenant'])
  })

  test('are the first of an entry that has many', () => {
    expect(pathsOf([applicationLog({ scopeData: members(1_000) })])).toHaveLength(60)
  })

  test('are looked for in a bounded number of members, whatever the entries hold', () => {
    let looks = 0
    const scopeData = new Proxy(members(10_000), {
      ownKeys: (target) => {
        looks += 1
        return Reflect.ownKeys(target)
      },
    })
    expect(pathsOf(Array.from({ length: 30 }, () => applicationLog({ scopeData })))).toHaveLength(60)
    expect(looks).toBeLessThanOrEqual(2)
  })
})
