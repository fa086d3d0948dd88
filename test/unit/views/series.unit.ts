import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Series } from '../../../views/schemas/answers.ts'
import { applicationLog, eventLog, PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const LOGS = '/api/application-logs/series'
const EVENTS = '/api/event-logs/series'
const RANGE = 'from=2026-01-31T12:00:00Z&to=2026-01-31T12:03:00Z&buckets=3'
const at = (minute: number): string => `2026-01-31T12:0${minute}:30.000Z`
const seriesOf = async (path: string): Promise<Series> => (await views.get<Series>(path)).data

describe('GET …/series', () => {
  test('has a number over time', async () => {
    const log = (minute: number, ms: unknown) => applicationLog({ timestamp: at(minute), scopeData: { ms } })
    views.store.add(log(0, 10), log(0, 30), log(2, 7), log(2, 'x'))
    expect(await seriesOf(`${LOGS}?value=scope.ms&fn=avg&${RANGE}`)).toEqual({
      fn: 'avg',
      value: 'scope.ms',
      by: null,
      interval: 60_000,
      spans: ['2026-01-31T12:00:00.000Z', '2026-01-31T12:01:00.000Z', '2026-01-31T12:02:00.000Z'],
      items: [{ value: null, label: null, term: null, count: 3, points: [20, null, 7] }],
      more: false,
    })
  })

  test('counts logs by itself, and takes the filters of the list', async () => {
    views.store.add(
      eventLog({ timestamp: at(1) }),
      eventLog({ timestamp: at(1), payload: '{"total":5}' }),
      eventLog({ timestamp: at(2), environment: 'Test' }),
    )
    const points = async (query: string) => (await seriesOf(`${EVENTS}?${RANGE}&${query}`)).items[0]?.points
    expect(await points('')).toEqual([0, 2, 1])
    expect(await points('environment=Test')).toEqual([0, 0, 1])
    expect(await points('q=payload.total:>4')).toEqual([0, 1, 0])
    expect(await points('value=payload.total&fn=MAX')).toEqual([null, 5, null])
  })

  test('has a series for each value of a field, under the names of the registry', async () => {
    const log = (tenant: string, ms: number) =>
      applicationLog({ project: PROJECT, timestamp: at(0), scopeData: { tenant, ms } })
    views.store.add(log('a', 1), log('a', 3), log('b', 9))
    const ofTenants = await seriesOf(`${LOGS}?by=Scope.tenant&value=scope.ms&fn=p50&series=1&${RANGE}`)
    expect(ofTenants).toMatchObject({ by: 'scope.tenant', more: true })
    expect(ofTenants.items).toEqual([
      { value: 'a', label: 'a', term: 'scope.tenant:a', count: 2, points: [1, null, null] },
    ])
    const ofProjects = await seriesOf(`${LOGS}?by=projectId&${RANGE}`)
    expect(ofProjects).toMatchObject({
      by: 'project',
      items: [{ value: PROJECT, label: 'Checkout', term: `project:${PROJECT}`, count: 3 }],
    })
  })

  test('has a term for the logs of one trace alone, whatever its id is', async () => {
    const ids = ['ab12', 'AB12', 'order-7']
    views.store.add(...ids.map((traceId) => applicationLog({ timestamp: at(0), scopeData: { traceId } })))
    for (const { term, count } of (await seriesOf(`${LOGS}?by=trace&${RANGE}`)).items) {
      const { items } = await seriesOf(`${LOGS}?${RANGE}&q=${encodeURIComponent(term ?? '')}`)
      expect([term, items.map((one) => one.count)]).toEqual([expect.stringContaining('scope.traceId:'), [count]])
    }
  })

  test('names groups by their text, as their values are hashes', async () => {
    const log = (message: string, exception: string | null) => applicationLog({ timestamp: at(0), message, exception })
    views.store.add(log('order 1 paid', null), log('order 2 paid', 'System.TimeoutException: gone'))
    const labels = async (by: string) =>
      (await seriesOf(`${LOGS}?by=${by}&${RANGE}`)).items.map(({ label, term }) => [label, term])
    expect(await labels('template')).toEqual([['order <*> paid', null]])
    expect(await labels('exception')).toEqual([['System.TimeoutException', null]])
  })

  test.each([
    [`${LOGS}?fn=avg`, 'value', 'must name the numbers that avg is of, such as scope.ms'],
    [`${EVENTS}?fn=p95`, 'value', 'must name the numbers that p95 is of, such as payload.total'],
    [`${LOGS}?value=ms`, 'value', 'must be scope.<key>, in 256 characters at most'],
    [`${LOGS}?value=eventId`, 'value', 'must be scope.<key>, in 256 characters at most'],
    [`${LOGS}?value=payload.total`, 'value', 'must be scope.<key>, in 256 characters at most'],
    [`${EVENTS}?value=payload.`, 'value', 'must be payload.<key>, in 256 characters at most'],
    [`${LOGS}?value=scope.${'x'.repeat(251)}`, 'value', 'must be scope.<key>, in 256 characters at most'],
    [`${LOGS}?fn=sum`, 'fn', 'must be count, avg, max, p50, p95 or p99'],
    [`${LOGS}?series=11`, 'series', 'must be a whole number from 1 to 10'],
    [
      `${EVENTS}?by=message`,
      'by',
      'must be event, step, project, environment, level, correlationKey or payload.<key>, in 256 characters at most',
    ],
  ])('%s is refused', async (path, parameter, message) => {
    const { status, error } = await views.get(path)
    expect(status).toBe(400)
    expect(error.details).toEqual([{ path: parameter, message }])
  })
})
