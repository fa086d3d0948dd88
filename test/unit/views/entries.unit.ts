import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applicationLog, at, eventLog, PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

interface Item {
  id: string
  payload: string
}
interface Context {
  before: Item[]
  entry: Item
  after: Item[]
}

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

describe('GET …/{id}', () => {
  test('is the item of the list', async () => {
    const event = eventLog({ step: 'order.pay' })
    const application = applicationLog()
    views.store.add(event, application)
    const [inList] = (await views.get<{ items: Item[] }>('/api/event-logs')).data.items
    expect((await views.get(`/api/event-logs/${event.id}`)).data).toEqual(inList)
    expect((await views.get(`/api/application-logs/${application.id}`)).data).toMatchObject({ id: application.id })
  })

  test('takes the id in any form of a GUID', async () => {
    const event = eventLog()
    views.store.add(event)
    for (const form of [event.id.toUpperCase(), event.id.replaceAll('-', ''), `%7B${event.id}%7D`])
      expect((await views.get(`/api/event-logs/${form}`)).data).toMatchObject({ id: event.id })
  })
})

describe('GET …/{id}/context', () => {
  const contextOf = async (id: string, query = ''): Promise<{ before: string[]; entry: string; after: string[] }> => {
    const { data } = await views.get<Context>(`/api/event-logs/${id}/context?${query}`)
    const payload = (item: Item): string => item.payload
    return { before: data.before.map(payload), entry: payload(data.entry), after: data.after.map(payload) }
  }
  const seconds = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, index) => String(from + index))

  test('has ten entries before and ten after, all oldest first', async () => {
    const entries = seconds(0, 30).map((second) => eventLog({ timestamp: at(Number(second)), payload: second }))
    views.store.add(...entries)
    expect(await contextOf(entries[15]?.id ?? '')).toEqual({
      before: seconds(5, 15),
      entry: '15',
      after: seconds(16, 26),
    })
    expect(await contextOf(entries[15]?.id ?? '', 'before=2&after=0')).toEqual({
      before: ['13', '14'],
      entry: '15',
      after: [],
    })
  })

  test('is shorter at the edges', async () => {
    const entries = seconds(0, 3).map((second) => eventLog({ timestamp: at(Number(second)), payload: second }))
    views.store.add(...entries)
    expect(await contextOf(entries[0]?.id ?? '')).toEqual({ before: [], entry: '0', after: ['1', '2'] })
    expect(await contextOf(entries[2]?.id ?? '')).toEqual({ before: ['0', '1'], entry: '2', after: [] })
  })

  test('tells entries of one instant apart by id', async () => {
    const entries = seconds(0, 5).map((second) => eventLog({ payload: second }))
    views.store.add(...entries)
    expect(await contextOf(entries[2]?.id ?? '')).toEqual({ before: ['0', '1'], entry: '2', after: ['3', '4'] })
  })

  test('has neighbours of the same kind only, and those that the filter selects', async () => {
    const entries = seconds(0, 5).map((second) =>
      eventLog({ timestamp: at(Number(second)), payload: second, environment: second === '1' ? 'Test' : 'Live' }),
    )
    views.store.add(...entries, applicationLog({ timestamp: at(2) }))
    expect(await contextOf(entries[2]?.id ?? '')).toMatchObject({ before: ['0', '1'], after: ['3', '4'] })
    expect(await contextOf(entries[2]?.id ?? '', 'environment=Test')).toEqual({ before: ['1'], entry: '2', after: [] })
  })
})

describe('GET …/histogram', () => {
  test('counts by level in buckets over the range', async () => {
    views.store.add(
      eventLog({ timestamp: at(0) }),
      eventLog({ timestamp: at(0), level: 'Error' }),
      eventLog({ timestamp: at(119), level: 'Error' }),
      eventLog({ timestamp: at(120) }),
    )
    const answer = await views.get(`/api/event-logs/histogram?buckets=2&from=${at(0)}&to=${at(120)}`)
    expect(answer.data).toEqual({
      interval: 60_000,
      buckets: [
        { from: at(0), total: 2, levels: { Information: 1, Error: 1 } },
        { from: at(60), total: 1, levels: { Error: 1 } },
      ],
      total: 3,
    })
  })

  test('has 60 buckets at most unless told otherwise', async () => {
    views.store.add(...Array.from({ length: 200 }, (_, second) => applicationLog({ timestamp: at(second) })))
    const { data } = await views.get<{ buckets: unknown[]; total: number }>('/api/application-logs/histogram')
    expect(data.total).toBe(200)
    expect(data.buckets.length).toBeGreaterThan(30)
    expect(data.buckets.length).toBeLessThanOrEqual(60)
  })
})

describe('GET …/facets', () => {
  test('counts the values of each facet, with names beside identifiers', async () => {
    views.store.add(
      eventLog({ step: 'order.pay' }),
      eventLog({ event: 'gone', level: 'Error', environment: 'Live' }),
      eventLog({ event: 'order' }),
    )
    const { data } = await views.get('/api/event-logs/facets')
    expect(data).toEqual({
      facets: {
        level: [
          { value: 'Information', count: 2 },
          { value: 'Error', count: 1 },
        ],
        environment: [
          { value: 'Development', count: 2 },
          { value: 'Live', count: 1 },
        ],
        event: [
          { value: 'order', name: 'Order placed', count: 2 },
          { value: 'gone', name: null, count: 1 },
        ],
        step: [{ value: 'order.pay', name: 'Pay', count: 1 }],
        project: [],
        category: [],
      },
    })
  })

  test('has at most as many values as asked for', async () => {
    views.store.add(...[1, 2, 3].map((one) => applicationLog({ environment: `e${one}` })))
    const { data } = await views.get('/api/application-logs/facets?values=2&level=trace')
    expect(data).toMatchObject({
      facets: {
        environment: [{ count: 1 }, { count: 1 }],
        project: [{ value: PROJECT, name: 'Checkout', count: 3 }],
        category: [{ value: 'Acme.Billing', count: 3 }],
      },
    })
  })
})
