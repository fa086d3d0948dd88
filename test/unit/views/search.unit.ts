import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseQuery } from '../../../shared/query/parse.ts'
import { applicationLog, eventLog, PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeAll(async () => {
  views = await startViews()
})
afterAll(() => views.close())

const change = (params: Readonly<Record<string, string>>) => views.get(`/api/query?${new URLSearchParams(params)}`)

describe('GET /api/query', () => {
  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, ''],
    [{ q: 'timeout' }, 'timeout'],
    [{ with: 'level:Error' }, 'level:Error'],
    [{ q: 'a OR b', with: '-category:Microsoft.*' }, '(a OR b) -category:Microsoft.*'],
    [{ q: 'lvl severity:Error', with: 'level:Error' }, 'lvl severity:Error'],
    [{ q: 'x -event:e', with: 'event:e' }, 'x event:e'],
    [{ q: 'x NOT event:"e"', without: '-event:e' }, 'x'],
    [{ q: 'a:b (', with: 'environment:"Test Lab"' }, '"a:b" environment:"Test Lab"'],
    [{ q: 'event:a', without: 'event:a', with: 'event:b' }, 'event:b'],
  ])('%j is %s', async (params, q) => {
    expect((await change(params)).data).toEqual({ q })
  })

  test.each(['timeout', 'level:', 'level:>=Error', 'a:b c:d', 'eventId:[1 TO 5]', '--a:b', '"', 'level:Error OR'])(
    'refuses %j, which is no term',
    async (term) => {
      for (const path of ['with', 'without']) {
        const { status, error } = await change({ [path]: term })
        expect([status, error.code, error.details[0]?.path]).toEqual([400, 'invalid_request', path])
      }
    },
  )

  test.each([
    ['foo:bar', 'There is no field "foo"'],
    ['level:loud', '"loud" is not a level'],
  ])('refuses %j, with which the whole search would be read as text', async (term, reason) => {
    const { status, error } = await change({ q: 'level:Error', with: term })
    expect([status, error.code, error.details[0]?.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(reason),
    ])
  })
})

test('a word finds the entries of what has such a name in the registry now', async () => {
  views.store.add(
    eventLog({ event: 'order', step: 'order.pay', payload: 'one' }),
    eventLog({ event: null, step: 'audit', payload: 'two' }),
    applicationLog({ message: 'three' }),
  )
  const found = async (path: string, q: string): Promise<readonly string[]> => {
    const { data } = await views.get<{ readonly items: readonly { payload?: string; message?: string }[] }>(
      `/api/${path}?${new URLSearchParams({ q })}`,
    )
    return data.items.map(({ payload, message }) => payload ?? message ?? '').toSorted()
  }
  expect(await found('event-logs', '"order placed"')).toEqual(['one'])
  expect(await found('event-logs', '-"order placed"')).toEqual(['two'])
  expect(await found('event-logs', 'checkout')).toEqual([])
  expect(await found('application-logs', 'check*')).toEqual(['three'])
  views.projects.set(PROJECT, { id: PROJECT, team: 'a', name: 'Till' })
  expect(await found('application-logs', 'check*')).toEqual([])
  expect(await found('application-logs', 'TILL')).toEqual(['three'])
  expect(await found('application-logs', '"Project of b"')).toEqual([])
})

test('GET /api/query/syntax tells every form of a search by an example that is a query', async () => {
  const { data } = await views.get<{ readonly items: readonly { readonly example: string }[] }>('/api/query/syntax')
  expect(data.items.length).toBeGreaterThan(20)
  for (const { example } of data.items) expect([example, parseQuery(example).reading.read]).toEqual([example, 'query'])
})
