import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EVENT_ENDS_MAX } from '../../../shared/log-store/log-store.ts'
import {
  applicationLog,
  at,
  eventLog,
  NOW,
  PROJECT,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

interface Flows {
  items: { correlationKey: string }[]
  nextCursor: string | null
}
interface Flow {
  summary: { correlationKey: string; total: number }
  steps: { step: { identifier: string }; seen: boolean }[]
  projects: unknown[]
  items: { id: string }[]
  nextCursor: string | null
}

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const keys = async (query: string): Promise<string[]> =>
  (await views.get<Flows>(`/api/flows?${query}`)).data.items.map((item) => item.correlationKey)

test('a flow of thousands of Steps with long identifiers has a bounded answer, alone and beside another', async () => {
  const identifier = (number: number): string => `${number}`.padEnd(1_000, '-')
  const logs = Array.from({ length: 4_000 }, (_, number) =>
    eventLog({ correlationKey: 'k', event: identifier(number), step: identifier(number), timestamp: at(number) }),
  )
  views.store.add(...logs, eventLog({ correlationKey: 'other' }))
  for (const path of ['k', '-?key=k&limit=1000', 'k/compare/other', '?correlationKey=k']) {
    const { status, text } = await views.get(`/api/flows${path.startsWith('?') ? '' : '/'}${path}`)
    expect([status, text.length < 6_000_000]).toEqual([200, true])
  }
})

describe('GET /api/flows', () => {
  test('lists flows by latest activity, with what they touched', async () => {
    views.store.add(
      eventLog({ correlationKey: 'k', step: 'order.pay', timestamp: at(1) }),
      applicationLog({ correlationKey: 'k', level: 'Error', timestamp: at(2) }),
      eventLog({ correlationKey: 'later', timestamp: at(3) }),
      eventLog(),
    )
    const { data } = await views.get<Flows>('/api/flows')
    expect(data).toEqual({
      items: [
        expect.objectContaining({ correlationKey: 'later' }),
        {
          correlationKey: 'k',
          firstAt: at(1),
          lastAt: at(2),
          total: 2,
          levels: { Information: 1, Error: 1 },
          worstLevel: 'Error',
          events: [{ identifier: 'order', name: 'Order placed' }],
          steps: [{ identifier: 'order.pay', name: 'Pay' }],
          projects: [{ id: PROJECT, name: 'Checkout' }],
          nextSteps: [{ identifier: 'order.ship', name: 'Ship' }],
          lastErrorAt: at(2),
          lastProgressAt: at(1),
          state: 'failed',
          reason: 'No Event or Step logged anything after the last error.',
        },
      ],
      nextCursor: null,
    })
  })

  test('pages without a gap', async () => {
    const all = Array.from({ length: 7 }, (_, index) => `k${index}`)
    views.store.add(...all.map((correlationKey, index) => eventLog({ correlationKey, timestamp: at(index >> 1) })))
    const found: string[] = []
    let cursor = ''
    do {
      const { data } = await views.get<Flows>(`/api/flows?limit=2&cursor=${cursor}`)
      found.push(...data.items.map((item) => item.correlationKey))
      cursor = data.nextCursor ?? ''
    } while (cursor !== '')
    expect(found.toSorted()).toEqual(all)
    expect(found).toHaveLength(7)
  })

  test('ends a page of large flows early, and goes on from there', async () => {
    // The names of the registry are not part of what the store bounds.
    const steps = Array.from({ length: 100 }, (_, index) => `order.${index}`)
    const name = 'n'.repeat(10_000)
    for (const [order, identifier] of steps.entries())
      views.entities.set(identifier, { kind: 'step', identifier, team: 'a', name, event: 'order', order })
    const all = Array.from({ length: 24 }, (_, index) => `k${index}`)
    for (const [index, correlationKey] of all.entries())
      views.store.add(...steps.map((step) => eventLog({ correlationKey, step, timestamp: at(index) })))
    for (const sort of ['latest', 'longest', 'worst']) {
      const first = await views.get<Flows>(`/api/flows?sort=${sort}`)
      expect(first.data.items.length).toBeLessThan(all.length)
      expect(first.text.length).toBeLessThan(5 * 1024 * 1024)
      const second = await views.get<Flows>(`/api/flows?sort=${sort}&cursor=${first.data.nextCursor}`)
      const found = [...first.data.items, ...second.data.items].map((item) => item.correlationKey)
      expect(found).toEqual(all.toReversed())
      expect(second.data.nextCursor).toBeNull()
    }
  })

  test('has one flow at least, however large, and of the Steps of a flow what a page holds', async () => {
    const steps = Array.from({ length: 6 }, (_, index) => `order.${index}`)
    const name = 'n'.repeat(5_000_000)
    views.entities.clear()
    for (const [order, identifier] of steps.entries())
      views.entities.set(identifier, { kind: 'step', identifier, team: 'a', name, event: 'order', order })
    for (const correlationKey of ['k', 'l'])
      views.store.add(...steps.map((step) => eventLog({ correlationKey, step, timestamp: at(1) })))
    expect((await views.get<Flows>('/api/flows')).data.items).toHaveLength(1)
    expect((await views.get<Flow>('/api/flows/k')).data.steps).toHaveLength(1)
    const { data } = await views.get<{ steps: unknown[]; more: boolean }>('/api/flows/k/compare/l')
    expect(data).toMatchObject({ steps: { length: 1 }, more: true })
  })

  test('takes part of the key as q, and the other filters', async () => {
    views.store.add(
      eventLog({ correlationKey: 'Order-1', level: 'Error' }),
      eventLog({ correlationKey: 'order-2', event: 'refund' }),
      applicationLog({ correlationKey: 'job' }),
    )
    expect((await keys('q=ORDER')).toSorted()).toEqual(['Order-1', 'order-2'])
    expect(await keys('level=warning')).toEqual(['Order-1'])
    expect(await keys('event=refund')).toEqual(['order-2'])
    expect(await keys(`project=${PROJECT}`)).toEqual(['job'])
  })
})

describe('GET /api/flows by state and sort', () => {
  const minutes = (count: number): string => new Date(NOW - count * 60_000).toISOString()
  const add = () =>
    views.store.add(
      eventLog({ correlationKey: 'running', step: 'order.pay', timestamp: minutes(4) }),
      eventLog({ correlationKey: 'stalled', step: 'order.pay', timestamp: minutes(6) }),
      eventLog({ correlationKey: 'failed', step: 'order.pay', timestamp: minutes(5), level: 'Error' }),
      eventLog({ correlationKey: 'finished', step: 'order.ship', timestamp: minutes(1) }),
      eventLog({ correlationKey: 'finished', step: 'order.pay', timestamp: minutes(2) }),
    )

  test('has the flows whose state says so', async () => {
    add()
    for (const state of ['running', 'stalled', 'failed', 'finished']) {
      expect(await keys(`state=${state}`)).toEqual([state])
      const { data } = await views.get<{ items: { state: string }[] }>(`/api/flows?state=${state}`)
      expect(data.items.map((item) => item.state)).toEqual([state])
    }
  })

  test('counts them', async () => {
    add()
    const count = async (query: string) => (await views.get<unknown>(`/api/flow-states?${query}`)).data
    expect(await count('')).toEqual({ states: { running: 1, stalled: 1, failed: 1, finished: 1 } })
    expect(await count('q=ED&level=Error')).toEqual({ states: { running: 0, stalled: 0, failed: 1, finished: 0 } })
  })

  test('goes on at the moment of the first page, whatever the time is by then', async () => {
    for (const correlationKey of ['a', 'b', 'c'])
      views.store.add(eventLog({ correlationKey, step: 'order.pay', timestamp: minutes(4) }))
    const first = await views.get<Flows>('/api/flows?state=running&limit=2')
    views.time.now += 120_000
    const second = await views.get<Flows>(`/api/flows?state=running&limit=2&cursor=${first.data.nextCursor}`)
    expect([...first.data.items, ...second.data.items]).toHaveLength(3)
    expect(second.data.items).toMatchObject([{ state: 'running' }])
    expect(await keys('state=running')).toEqual([])
    expect(await keys('state=stalled')).toHaveLength(3)
  })

  test('shows none whose entries say otherwise by now', async () => {
    add()
    const { searchFlows } = views.store
    views.store.searchFlows = (filter, page) => searchFlows({ ...filter, state: null }, page)
    expect(await keys('state=failed')).toEqual(['failed'])
  })

  test('sorts by duration and by the worst level', async () => {
    add()
    expect((await keys('sort=longest'))[0]).toBe('finished')
    expect((await keys('sort=worst'))[0]).toBe('failed')
    expect((await keys('sort=latest'))[0]).toBe('finished')
  })

  test('is refused where there are too many Events with Steps to tell', async () => {
    expect(await views.getRaw('/api/flows?state=open')).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'state', message: 'must be running, stalled, failed or finished' }] } },
    })
    for (let index = 0; index < EVENT_ENDS_MAX; index += 1) {
      const step = { kind: 'step', identifier: `step-${index}`, team: 'a', name: '', order: 1 } as const
      views.entities.set(step.identifier, { ...step, event: `event-${index}` })
    }
    for (const path of ['/api/flow-states', '/api/flows?state=failed'])
      expect(await views.getRaw(path)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', details: [{ path: 'state' }] } },
      })
    expect(await views.getRaw('/api/flows')).toMatchObject({ status: 200 })
  })
})

describe('GET /api/flows?correlationKey=', () => {
  test('is the flow of exactly this key, or none', async () => {
    views.store.add(eventLog({ correlationKey: 'order/1' }), eventLog({ correlationKey: 'order/11' }))
    expect(await keys('correlationKey=order%2F1')).toEqual(['order/1'])
    const { data } = await views.get<Flows>('/api/flows?correlationKey=order%2F1')
    expect((await views.get<Flows>('/api/flows?q=order%2F1')).data.items).toContainEqual(data.items[0])
    for (const other of ['order', 'ORDER%2F1', 'order%2F2'])
      expect(await views.get(`/api/flows?correlationKey=${other}`)).toMatchObject({
        status: 200,
        data: { items: [], nextCursor: null },
      })
  })

  test('takes no filter that it would not look at', async () => {
    expect(await views.getRaw('/api/flows?correlationKey=k&limit=1&level=Error&q=k')).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'q' }, { path: 'level' }] } },
    })
  })
})

describe('GET /api/flows/{correlationKey}', () => {
  test('shows the summary, every Step, and the entries of both kinds oldest first', async () => {
    const entries = [
      eventLog({ correlationKey: 'k', step: 'order.pay', timestamp: at(1) }),
      applicationLog({ correlationKey: 'k', level: 'Error', timestamp: at(2) }),
      eventLog({ correlationKey: 'k', event: null, step: 'audit', timestamp: at(3) }),
    ]
    views.store.add(...entries.toReversed(), eventLog({ correlationKey: 'other' }))
    const { data } = await views.get<Flow>('/api/flows/k')
    expect(data.summary).toEqual((await views.get<Flows>('/api/flows?q=k')).data.items[0])
    expect(data.steps.map(({ step, seen }) => [step, seen])).toEqual([
      [{ identifier: 'order.validate', name: 'Validate' }, false],
      [{ identifier: 'order.pay', name: 'Pay' }, true],
      [{ identifier: 'order.ship', name: 'Ship' }, false],
      [{ identifier: 'audit', name: 'Audit' }, true],
    ])
    expect(data.projects).toEqual([{ id: PROJECT, name: 'Checkout' }])
    expect(data.items.map((item) => item.id)).toEqual(entries.map((entry) => entry.id))
    expect(data.nextCursor).toBeNull()
  })

  test('pages its entries', async () => {
    const entries = Array.from({ length: 5 }, (_, index) => eventLog({ correlationKey: 'k', timestamp: at(index) }))
    views.store.add(...entries)
    const first = (await views.get<Flow>('/api/flows/k?limit=3')).data
    const second = (await views.get<Flow>(`/api/flows/k?limit=3&cursor=${first.nextCursor}`)).data
    expect([...first.items, ...second.items].map((item) => item.id)).toEqual(entries.map((entry) => entry.id))
    expect(second).toMatchObject({ summary: { total: 5 }, nextCursor: null })
  })

  test.each([
    'a/b',
    'a//b/',
    '/',
    'tail',
    'a/tail',
    'export',
    '-',
    '...',
    'a/../b',
    '%2e%2e',
    '100%',
    'a?b=c&d#e',
    'a+b c',
    'key:with;params=1',
    'Straße – 東京 🚀',
    'UPPER lower',
    '\u0001\n\t"\'<>\\',
    ' ',
    '__proto__',
    ':correlationKey',
    '*',
    'x'.repeat(512),
  ])('finds the key %j', async (key) => {
    const entry = eventLog({ correlationKey: key })
    views.store.add(entry, eventLog({ correlationKey: `${key.slice(0, -1)}!` }))
    const path = `/api/flows/${encodeURIComponent(key)}`
    const { data } = await views.get<Flow>(path)
    expect(data).toMatchObject({ summary: { correlationKey: key, total: 1 }, items: [{ id: entry.id }] })
    const exported = await views.get(`${path}/export`)
    expect(JSON.parse(exported.text)).toMatchObject({ id: entry.id })
    expect(exported.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+\.ndjson"$/)
  })

  test('finds a key that no store can search as it is', async () => {
    const entry = eventLog({ correlationKey: 'a\0b' })
    views.store.add(entry)
    const { data } = await views.get<Flow>('/api/flows/a%00b')
    expect(data).toMatchObject({ summary: { total: 1 }, items: [{ id: entry.id, correlationKey: 'a\0b' }] })
  })

  test.each(['.', '..'])('finds the key %j, which clients take out of a path, by a parameter', async (key) => {
    const entry = eventLog({ correlationKey: key })
    views.store.add(entry, eventLog({ correlationKey: '-' }))
    const { data } = await views.get<Flow>(`/api/flows/-?key=${key}`)
    expect(data).toMatchObject({ summary: { correlationKey: key }, items: [{ id: entry.id }] })
    expect(await views.getRaw(`/api/flows/${key}`)).toMatchObject({
      body: { data: { summary: { correlationKey: key } } },
    })
    const { text } = await views.get(`/api/flows/-/export?key=${key}`)
    expect(JSON.parse(text)).toMatchObject({ id: entry.id })
  })
})
