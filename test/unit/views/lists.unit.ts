import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  applicationLog,
  at,
  eventLog,
  mintId,
  OTHER_PROJECT,
  PROJECT,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

interface List {
  items: { id: string; payload?: string; message?: string; kind: string }[]
  nextCursor: string | null
  query: unknown
}

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const payloads = async (query: string): Promise<(string | undefined)[]> =>
  (await views.get<List>(`/api/event-logs?${query}`)).data.items.map((item) => item.payload)

const messages = async (query: string): Promise<(string | undefined)[]> =>
  (await views.get<List>(`/api/application-logs?${query}`)).data.items.map((item) => item.message)

describe('GET /api/event-logs and /api/application-logs', () => {
  test('each hold their own kind, newest first, with the names of the registry', async () => {
    const event = eventLog({ step: 'order.pay', correlationKey: 'k', timestamp: at(1), payload: 'one' })
    const later = eventLog({ event: null, step: 'audit', timestamp: at(2), payload: 'two' })
    const application = applicationLog({ scopeData: { a: 1 }, exception: 'boom' })
    views.store.add(event, later, application)

    const events = await views.get<List>('/api/event-logs')
    expect(events).toMatchObject({ status: 200, success: true })
    expect(events.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(events.headers.get('cache-control')).toBe('no-store')
    expect(events.data).toEqual({
      items: [
        {
          id: later.id,
          kind: 'event',
          receivedAt: later.receivedAt,
          timestamp: at(2),
          level: 'Information',
          environment: 'Development',
          correlationKey: null,
          event: null,
          step: { identifier: 'audit', name: 'Audit' },
          payload: 'two',
        },
        {
          id: event.id,
          kind: 'event',
          receivedAt: event.receivedAt,
          timestamp: at(1),
          level: 'Information',
          environment: 'Development',
          correlationKey: 'k',
          event: { identifier: 'order', name: 'Order placed' },
          step: { identifier: 'order.pay', name: 'Pay' },
          payload: 'one',
        },
      ],
      nextCursor: null,
      query: { read: 'query' },
    })

    const applications = await views.get<List>('/api/application-logs')
    expect(applications.data.items).toEqual([
      {
        id: application.id,
        kind: 'application',
        receivedAt: application.receivedAt,
        timestamp: application.timestamp,
        level: 'Information',
        environment: 'Development',
        correlationKey: null,
        project: { id: PROJECT, name: 'Checkout' },
        categoryName: 'Acme.Billing',
        eventId: 0,
        eventName: '',
        message: 'hello',
        exception: 'boom',
        scopeData: { a: 1 },
      },
    ])
  })

  test('keep the identifier of what the registry no longer has, with a null name', async () => {
    views.store.add(eventLog({ step: 'order.pay' }), applicationLog())
    views.entities.clear()
    views.projects.clear()
    const { items } = (await views.get<List>('/api/event-logs')).data
    expect(items).toMatchObject([
      { event: { identifier: 'order', name: null }, step: { identifier: 'order.pay', name: null } },
    ])
    const applications = (await views.get<List>('/api/application-logs')).data.items
    expect(applications).toMatchObject([{ project: { id: PROJECT, name: null } }])
  })

  test('borrow no name from what an identifier has become since', async () => {
    views.store.add(eventLog({ event: 'secret' }), eventLog({ event: 'audit' }))
    views.store.add(applicationLog({ project: OTHER_PROJECT }))
    const { items } = (await views.get<List>('/api/event-logs?order=asc')).data
    expect(items).toMatchObject([
      { event: { identifier: 'secret', name: null } },
      { event: { identifier: 'audit', name: null } },
    ])
    const applications = (await views.get<List>('/api/application-logs')).data.items
    expect(applications).toMatchObject([{ project: { id: OTHER_PROJECT, name: null } }])
  })

  test('carry originalLevel only where the record has it', async () => {
    views.store.add(applicationLog({ originalLevel: 'Fatal', timestamp: at(2) }), applicationLog({ timestamp: at(1) }))
    const [first, second] = (await views.get<List>('/api/application-logs')).data.items
    expect(first).toHaveProperty('originalLevel', 'Fatal')
    expect(second).not.toHaveProperty('originalLevel')
  })

  test('match paths in any case, and with a slash at the end', async () => {
    views.store.add(eventLog())
    for (const path of ['/API/Event-Logs', '/api/event-logs/', '/Api/EVENT-LOGS/?limit=1'])
      expect((await views.get<List>(path)).data.items).toHaveLength(1)
  })

  test('say how q was read', async () => {
    views.store.add(eventLog({ payload: 'a timeout' }), eventLog({ payload: 'fine' }))
    const found = await views.get<List>('/api/event-logs?q=TIMEOUT')
    expect(found.data).toMatchObject({ items: [{ payload: 'a timeout' }], query: { read: 'query' } })
    const asText = await views.get<List>(`/api/event-logs?q=${encodeURIComponent('(timeout')}`)
    expect(asText.data.query).toEqual({ read: 'text', problem: expect.any(String), at: expect.any(Number) })
  })
})

describe('the parameters of a list', () => {
  test('from is inclusive, to is exclusive', async () => {
    views.store.add(...[0, 1, 2, 3].map((second) => eventLog({ timestamp: at(second), payload: String(second) })))
    expect(await payloads(`from=${at(1)}&to=${at(3)}`)).toEqual(['2', '1'])
    expect(await payloads(`from=${encodeURIComponent('2026-02-01T13:00:02+02:00')}`)).toEqual(['3', '2'])
  })

  test('a relative time is told by the clock', async () => {
    views.store.add(eventLog({ timestamp: at(-1), payload: 'old' }), eventLog({ timestamp: at(0), payload: 'young' }))
    expect(await payloads('from=now-1h')).toEqual(['young'])
    expect(await payloads('to=now-1h')).toEqual(['old'])
    views.time.now += 1_000
    expect(await payloads('to=now-1h')).toEqual(['young', 'old'].slice(0, 2))
    expect(await payloads('from=now-1h')).toEqual([])
  })

  test('level is the least, in any case', async () => {
    views.store.add(
      eventLog({ level: 'Warning', payload: 'w' }),
      eventLog({ level: 'Critical', payload: 'c' }),
      eventLog(),
    )
    expect((await payloads('level=wArNiNg')).toSorted()).toEqual(['c', 'w'])
  })

  test('environment, correlationKey, event and step narrow event logs', async () => {
    views.store.add(
      eventLog({ payload: 'one', environment: 'Prod & co' }),
      eventLog({ payload: 'two', correlationKey: 'a/b ü' }),
      eventLog({ payload: 'three', event: 'refund' }),
      eventLog({ payload: 'four', step: 'order.pay' }),
    )
    expect(await payloads(`environment=${encodeURIComponent('Prod & co')}`)).toEqual(['one'])
    expect(await payloads(`correlationKey=${encodeURIComponent('a/b ü')}`)).toEqual(['two'])
    expect(await payloads('event=refund')).toEqual(['three'])
    expect(await payloads('step=order.pay')).toEqual(['four'])
    expect(await payloads('step=order.pay&event=refund')).toEqual([])
  })

  test.each([PROJECT.toUpperCase(), PROJECT.replaceAll('-', ''), `{${PROJECT}}`])(
    'project takes the GUID form %s',
    async (form) => {
      views.store.add(applicationLog({ message: 'mine' }), applicationLog({ project: mintId() }))
      expect(await messages(`project=${form}`)).toEqual(['mine'])
    },
  )

  test('category finds itself and what is below it', async () => {
    views.store.add(
      applicationLog({ categoryName: 'Acme', message: 'itself' }),
      applicationLog({ categoryName: 'Acme.Jobs', message: 'below' }),
      applicationLog({ categoryName: 'AcmeX', message: 'other' }),
    )
    expect((await messages('category=Acme')).toSorted()).toEqual(['below', 'itself'])
    expect((await messages('category=Acme.')).toSorted()).toEqual(['below', 'itself'])
  })

  test('an empty one counts as absent', async () => {
    views.store.add(eventLog({ payload: 'one' }))
    expect(await payloads('q=&level=&from=&limit=&cursor=&project=')).toEqual(['one'])
  })
})

describe('paging', () => {
  const collect = async (order: string, limit: number): Promise<string[]> => {
    const ids: string[] = []
    let cursor = ''
    do {
      const { data } = await views.get<List>(`/api/event-logs?order=${order}&limit=${limit}&cursor=${cursor}`)
      ids.push(...data.items.map((item) => item.id))
      cursor = data.nextCursor ?? ''
      expect(data.items.length).toBeLessThanOrEqual(limit)
    } while (cursor !== '')
    return ids
  }

  test.each(['asc', 'desc'])('shows each entry once in order %s, equal timestamps included', async (order) => {
    const entries = Array.from({ length: 25 }, (_, index) => eventLog({ timestamp: at(Math.floor(index / 10)) }))
    views.store.add(...entries.toReversed())
    const ids = entries.map((entry) => entry.id)
    const expected = order === 'asc' ? ids : ids.toReversed()
    expect(await collect(order, 7)).toEqual(expected)
    expect(await collect(order, 25)).toEqual(expected)
    expect(await collect(order, 1)).toEqual(expected)
  })

  test('neither skips nor repeats when entries arrive in between', async () => {
    views.store.add(...[1, 2, 3, 4].map((second) => eventLog({ timestamp: at(second), payload: String(second) })))
    const first = await views.get<List>('/api/event-logs?limit=2')
    views.store.add(eventLog({ timestamp: at(9), payload: 'new' }))
    expect(first.data.items.map((item) => item.payload)).toEqual(['4', '3'])
    expect(await payloads(`limit=2&cursor=${first.data.nextCursor}`)).toEqual(['2', '1'])
  })

  test('has 100 entries a page unless told otherwise, and no cursor at the end', async () => {
    views.store.add(...Array.from({ length: 101 }, () => eventLog()))
    const first = (await views.get<List>('/api/event-logs')).data
    expect(first.items).toHaveLength(100)
    const second = (await views.get<List>(`/api/event-logs?cursor=${first.nextCursor}`)).data
    expect(second).toMatchObject({ items: [{}], nextCursor: null })
  })
})
