import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROW_TEXT_CHARACTERS_MAX } from '../../../shared/contract/rows.ts'
import { ROW_FIELDS_MAX, ROW_VALUE_CHARACTERS_MAX } from '../../../views/api/row-values.ts'
import { eventually } from '../../support/eventually.ts'
import {
  applicationLog,
  at,
  eventLog,
  KEY_B,
  openTail,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

interface List {
  readonly items: readonly { readonly id: string; readonly fields?: Readonly<Record<string, string>> }[]
  readonly nextCursor: string | null
}

const LONG = 'x'.repeat(ROW_TEXT_CHARACTERS_MAX)

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const list = async (path: string): Promise<List> => (await views.get<List>(path)).data
const fieldsOf = async (kind: string, fields: string): Promise<readonly unknown[]> =>
  (await list(`/api/${kind}-logs?order=asc&fields=${encodeURIComponent(fields)}`)).items.map((item) => item.fields)
const wholeReads = (): number => views.store.calls.filter((call) => call === 'get').length

describe('the values that a list is asked for', () => {
  test('are those of the payload, or of the scope data, by the names that were given', async () => {
    views.store.add(
      eventLog({
        timestamp: at(1),
        payload: '{"order":{"id":12345678901234567890},"paid":true,"lines":[{"n":1},{"n":2}]}',
      }),
      eventLog({ timestamp: at(2), payload: '{"order":null}' }),
      eventLog({ timestamp: at(3), payload: '{"order":{"id":4711}' }),
      applicationLog({ timestamp: at(4), scopeData: { tenant: 'acme', Scopes: [{ tenant: 'a' }, { tenant: 'b' }] } }),
      applicationLog({ timestamp: at(5), scopeData: null }),
    )
    expect(await fieldsOf('event', 'payload.order.id,payload.paid,payload.lines.n,payload.order,scope.tenant')).toEqual(
      [
        { 'payload.order.id': '12345678901234567890', 'payload.paid': 'true', 'payload.lines.n': '1, 2' },
        {},
        // No JSON, as its end is missing.
        {},
      ],
    )
    expect(await fieldsOf('application', 'scope.tenant,scopeData.Scopes.tenant')).toEqual([
      { 'scope.tenant': 'acme', 'scopeData.Scopes.tenant': 'a, b' },
      {},
    ])
    expect((await list('/api/event-logs')).items[0]).not.toHaveProperty('fields')
    expect(wholeReads()).toBe(0)
  })

  test('are read of the whole entry where the item has its beginning alone', async () => {
    views.store.add(
      eventLog({ payload: JSON.stringify({ text: LONG, order: 4711 }) }),
      applicationLog({ scopeData: { text: LONG, tenant: 'acme' } }),
      applicationLog({ message: LONG, scopeData: { tenant: 'short' }, timestamp: at(1) }),
    )
    expect((await list('/api/event-logs?fields=payload.order')).items).toMatchObject([
      { fields: { 'payload.order': '4711' }, truncated: ['payload'] },
    ])
    expect(await fieldsOf('application', 'scope.tenant')).toEqual([
      { 'scope.tenant': 'acme' },
      { 'scope.tenant': 'short' },
    ])
    expect(wholeReads()).toBe(2)
  })

  test('are cut, with an ellipsis', async () => {
    views.store.add(
      eventLog({ timestamp: at(1), payload: JSON.stringify({ a: LONG }) }),
      eventLog({ timestamp: at(2), payload: JSON.stringify({ a: Array.from({ length: 900 }, () => 'ab') }) }),
    )
    const values = (await fieldsOf('event', 'payload.a')) as readonly Record<string, string>[]
    expect(values.map((one) => one['payload.a']?.length)).toEqual(values.map(() => ROW_VALUE_CHARACTERS_MAX + 1))
    expect(values.every((one) => one['payload.a']?.endsWith('…'))).toBe(true)
  })

  test.each([
    ['what is no value inside an entry', 'level'],
    ['a family without a name', 'scope.'],
    ['an empty name', 'scope.a,,scope.b'],
    ['too many', Array.from({ length: ROW_FIELDS_MAX + 1 }, (_, index) => `scope.f${index}`).join(',')],
  ])('cannot be %s', async (_what, fields) => {
    const { status, error } = await views.get(`/api/event-logs?fields=${fields}`)
    const message = 'must be at most 8 names such as payload.order.id or scope.tenant, with commas between them'
    expect([status, error.details]).toEqual([400, [{ path: 'fields', message }]])
  })

  test('end a page early where many long entries are read for them, and none is skipped', async () => {
    const payload = JSON.stringify({ text: 'x'.repeat(1_000_000), n: 1 })
    const entries = Array.from({ length: 20 }, (_, index) => eventLog({ payload, timestamp: at(index) }))
    views.store.add(...entries)
    const ids: string[] = []
    const pages: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: List = await list(`/api/event-logs?order=asc&fields=payload.n&cursor=${cursor}`)
      pages.push(page.items.length)
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    }
    expect(ids).toEqual(entries.map(({ id }) => id))
    expect(pages).toEqual([9, 9, 2])
  })

  test('come with a tail as well, and a page of it that ends early loses nothing', async () => {
    const tail = await openTail(`${views.url}/api/event-logs/tail?fields=payload.n`)
    await eventually(() => tail.blocks.length > 0)
    const payload = (n: number) => JSON.stringify({ text: 'x'.repeat(1_000_000), n })
    views.store.add(...Array.from({ length: 12 }, (_, n) => eventLog({ payload: payload(n) })))
    await eventually(() => tail.of('entry').length === 12)
    expect(tail.of('entry').map(({ data }) => data)).toMatchObject(
      Array.from({ length: 12 }, (_, n) => ({ fields: { 'payload.n': `${n}` } })),
    )
    tail.close()
  })

  test('are those of the own Team alone', async () => {
    views.store.add(eventLog({ payload: '{"a":1}' }))
    const { data } = await views.get<List>('/api/event-logs?fields=payload.a', { 'x-api-key': KEY_B })
    expect(data.items).toEqual([])
  })
})
