import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EntryRecord } from '../../../shared/contract/records.ts'
import { eventually } from '../../support/eventually.ts'
import {
  applicationLog,
  at,
  eventLog,
  KEY_A,
  KEY_B,
  OTHER_PROJECT,
  openTail,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

/** Stands in every field of Team b's entries that can hold text. */
const MARK = 'only-for-b'

let views: ViewsFixture
let own: EntryRecord[]
let others: EntryRecord[]
beforeEach(async () => {
  views = await startViews()
  own = [0, 1, 2].flatMap((second) => [
    eventLog({ correlationKey: 'shared', timestamp: at(second) }),
    applicationLog({ correlationKey: 'shared', timestamp: at(second) }),
  ])
  const foreign = { team: 'b', environment: MARK, level: 'Critical' } as const
  others = [0, 1, 2].flatMap((second) =>
    ['shared', MARK].flatMap((correlationKey) => [
      eventLog({ ...foreign, correlationKey, timestamp: at(second), event: 'secret', step: MARK, payload: MARK }),
      applicationLog({
        ...foreign,
        correlationKey,
        timestamp: at(second),
        project: OTHER_PROJECT,
        categoryName: MARK,
        message: MARK,
      }),
    ]),
  )
  views.store.add(...own, ...others)
})
afterEach(() => views.close())

const seesNothing = (text: string): void => {
  expect(text).not.toContain(MARK)
  expect(text).not.toContain('secret')
  expect(text).not.toContain('Critical')
  expect(text).not.toContain('of b')
  for (const { id } of others) expect(text).not.toContain(id)
}

describe('a Team sees its own data only', () => {
  test.each([
    '/api/event-logs',
    '/api/application-logs',
    '/api/event-logs?environment=only-for-b',
    '/api/application-logs?project=3f2504e0-4f89-11d3-9a0c-0305e82c3302',
    '/api/event-logs?event=secret',
    '/api/event-logs?q=only',
    '/api/event-logs/histogram',
    '/api/application-logs/histogram?buckets=1',
    '/api/event-logs/facets',
    '/api/application-logs/facets',
    '/api/event-logs/groups?by=correlationKey',
    '/api/application-logs/groups?by=environment',
    '/api/event-logs/series?by=environment',
    '/api/application-logs/series?by=category',
    '/api/event-logs/absence?step=none',
    '/api/application-logs/absence?level=error',
    '/api/event-logs/export',
    '/api/application-logs/export?format=csv',
    '/api/flows',
    '/api/flows?q=b',
    '/api/flows?correlationKey=shared',
    '/api/flows/shared',
    '/api/flows/shared/export',
    '/api/flows/shared/export?format=svg',
  ])('in %s', async (path) => {
    const answer = await views.get(path)
    expect(answer.status).toBe(200)
    seesNothing(answer.text)
  })

  test('in counts', async () => {
    const histogram = await views.get<{ total: number }>('/api/event-logs/histogram')
    expect(histogram.data.total).toBe(3)
    const series = await views.get<{ items: { count: number }[] }>('/api/event-logs/series')
    expect(series.data.items).toMatchObject([{ count: 3 }])
    const flow = await views.get<{ summary: { total: number } }>('/api/flows/shared')
    expect(flow.data.summary.total).toBe(6)
    const ofB = await views.get<{ summary: { total: number } }>('/api/flows/shared', { 'x-api-key': KEY_B })
    expect(ofB.data.summary.total).toBe(6)
  })

  test('in what an empty list says', async () => {
    const { data } = await views.get<{ kept: boolean; ways: { total: number }[] }>(
      '/api/event-logs/absence?q=nothing&level=error',
    )
    expect(data).toMatchObject({ kept: true, ways: [{}, { total: 0 }, { total: 0 }] })
  })

  test('by id: what belongs to another Team is not found', async () => {
    for (const { id, kind } of others) {
      const path = `/api/${kind}-logs/${id}`
      expect(await views.get(path, { 'x-api-key': KEY_B })).toMatchObject({ status: 200 })
      const hidden = await views.get(path)
      const absent = await views.get(`/api/${kind}-logs/01981f2e-ffff-7000-8000-000000000000`)
      expect([hidden.status, hidden.text]).toEqual([404, absent.text])
      expect(await views.get(`${path}/context`)).toMatchObject({ status: 404 })
    }
  })

  test('by key: a flow of another Team is not found', async () => {
    expect(await views.get(`/api/flows/${MARK}`, { 'x-api-key': KEY_B })).toMatchObject({ status: 200 })
    expect(await views.get(`/api/flows/${MARK}`)).toMatchObject({ status: 404 })
    expect(await views.get(`/api/flows/${MARK}/export`)).toMatchObject({ status: 404 })
    expect(await views.get(`/api/flows/${MARK}/export?format=svg`)).toMatchObject({ status: 404 })
  })

  test('in the context of an entry', async () => {
    for (const { id, kind } of own) seesNothing((await views.get(`/api/${kind}-logs/${id}/context`)).text)
  })

  test('by a cursor that another Team was given', async () => {
    const { data } = await views.get<{ nextCursor: string }>('/api/event-logs?limit=1', { 'x-api-key': KEY_B })
    seesNothing((await views.get(`/api/event-logs?cursor=${data.nextCursor}`)).text)
  })

  test.each(['/api/event-logs/tail', '/api/flows/shared/tail'])('in %s', async (path) => {
    const tail = await openTail(views.url + path)
    const ofB = await openTail(views.url + path, { 'x-api-key': KEY_B })
    await eventually(() => tail.blocks.length > 0 && ofB.blocks.length > 0)
    views.store.add(eventLog({ team: 'b', correlationKey: 'shared', payload: MARK }))
    const sentinel = eventLog({ correlationKey: 'shared' })
    views.store.add(sentinel)
    await eventually(() => tail.of('entry').length > 0 && ofB.of('entry').length > 0)
    expect(tail.of('entry').map(({ data }) => data?.id)).toEqual([sentinel.id])
    expect(ofB.of('entry').map(({ data }) => data?.payload)).toEqual([MARK])
    tail.close()
    ofB.close()
  })

  test('by a resumed tail whose place another Team was given', async () => {
    const ofB = await openTail(`${views.url}/api/event-logs/tail`, { 'x-api-key': KEY_B })
    await eventually(() => ofB.blocks.length > 0)
    const place = ofB.blocks[0]?.id ?? ''
    views.store.add(eventLog({ team: 'b', payload: MARK }), eventLog({ payload: 'mine' }))
    const tail = await openTail(`${views.url}/api/event-logs/tail`, { 'x-api-key': KEY_A, 'last-event-id': place })
    await eventually(() => tail.of('entry').length > 0)
    expect(tail.of('entry').map(({ data }) => data?.payload)).toEqual(['mine'])
    tail.close()
    ofB.close()
  })
})
