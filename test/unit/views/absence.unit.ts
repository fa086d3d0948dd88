import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applicationLog, at, eventLog, NOW, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

interface Absence {
  readonly kept: boolean
  readonly newestAt: string | null
  readonly conditions: readonly string[]
  readonly ways: readonly { readonly kind: string; readonly params: object; readonly total: number | null }[]
}

const absenceOf = async (path: string): Promise<Absence> => (await views.get<Absence>(path)).data

describe('GET …/absence', () => {
  test('says where there are no logs of this kind at all', async () => {
    views.store.add(applicationLog({}))
    expect(await absenceOf('/api/event-logs/absence')).toEqual({
      kept: false,
      newestAt: null,
      conditions: [],
      ways: [],
    })
    expect(await absenceOf('/api/event-logs/absence?level=Error')).toMatchObject({ kept: false })
  })

  test('leads to the newest log where there are logs of another time', async () => {
    const timestamp = new Date(NOW - 7_200_000).toISOString()
    views.store.add(eventLog({ timestamp }), eventLog({ timestamp: new Date(NOW - 36_000_000).toISOString() }))
    const { kept, newestAt, conditions, ways } = await absenceOf('/api/event-logs/absence?from=now-1h')
    expect({ kept, newestAt, conditions }).toEqual({ kept: true, newestAt: timestamp, conditions: [] })
    expect(ways.map(({ kind }) => kind)).toEqual(['newest', 'since'])
    for (const { params } of ways) {
      const { data } = await views.get<{ total: number }>(
        `/api/event-logs/histogram?${new URLSearchParams({ ...params })}`,
      )
      expect(data.total).toBe(1)
    }
  })

  test('leads to a log of the last hour that there can be, in a range that the lists take', async () => {
    views.store.add(eventLog({ timestamp: '2261-12-31T23:30:00.000Z' }))
    const { ways } = await absenceOf('/api/event-logs/absence?from=now-1h&to=now')
    expect(ways[0]?.params).toEqual({ from: '2261-12-31T22:30:00.000Z', to: '' })
  })

  test('leads to the newest log that matches, where conditions are in use', async () => {
    views.store.add(eventLog({ timestamp: at(0), level: 'Error' }), eventLog({ timestamp: at(60) }))
    const { newestAt, conditions, ways } = await absenceOf(`/api/event-logs/absence?level=Error&from=${at(30)}`)
    expect([newestAt, conditions]).toEqual([at(0), ['level']])
    expect(ways[1]).toMatchObject({ params: { from: new Date(Date.parse(at(0)) - 1).toISOString(), to: '' } })
    // The next log is in the range once the conditions are taken away.
    expect(ways[0]).toMatchObject({ params: { from: at(-3_600), to: at(3_600) } })
  })

  test('takes the conditions away, one by one in the same time, or all of them', async () => {
    views.store.add(
      eventLog({ timestamp: at(0), environment: 'Test' }),
      eventLog({ timestamp: at(0), level: 'Error' }),
      eventLog({ timestamp: at(0), level: 'Error' }),
      eventLog({ timestamp: at(60), level: 'Error' }),
    )
    const path = `/api/event-logs/absence?q=*&environment=Test&level=error&to=${at(30)}`
    expect(await absenceOf(path)).toEqual({
      kept: true,
      newestAt: null,
      conditions: ['q', 'level', 'environment'],
      ways: [
        { kind: 'without', value: null, params: { q: '', level: '', environment: '' }, total: null },
        { kind: 'without', value: '*', params: { q: '' }, total: 0 },
        { kind: 'without', value: 'Error', params: { level: '' }, total: 1 },
        { kind: 'without', value: 'Test', params: { environment: '' }, total: 2 },
      ],
    })
  })

  test('leads to words that begin with those of the search', async () => {
    views.store.add(
      applicationLog({ message: 'NullReferenceException', level: 'Error', environment: 'Test' }),
      applicationLog({ message: 'NullReferenceException', timestamp: at(60) }),
    )
    const q = 'NullRef env:Te level:err -x'
    const { ways } = await absenceOf(`/api/application-logs/absence?q=${encodeURIComponent(q)}`)
    expect(ways).toEqual([
      {
        kind: 'beginning',
        value: 'NullRef* env:Te* level:err -x',
        params: { q: 'NullRef* env:Te* level:err -x' },
        total: 1,
      },
      { kind: 'without', value: q, params: { q: '' }, total: 2 },
    ])
    expect((await absenceOf('/api/application-logs/absence?q=Nulref')).ways.map(({ kind }) => kind)).toEqual([
      'without',
    ])
  })

  test('the id of an entry leads to the entry', async () => {
    const entry = eventLog({})
    views.store.add(entry)
    const q = `id:${entry.id}`
    const { ways } = await absenceOf(`/api/event-logs/absence?q=${entry.id.toUpperCase()}`)
    expect(ways[0]).toEqual({ kind: 'beginning', value: q, params: { q }, total: 1 })
  })

  test('a range of levels is one condition', async () => {
    views.store.add(eventLog({ level: 'Error' }))
    const { conditions, ways } = await absenceOf('/api/event-logs/absence?level=warning&levelMax=warning')
    expect(conditions).toEqual(['level', 'levelMax'])
    expect(ways).toEqual([{ kind: 'without', value: 'Warning', params: { level: '', levelMax: '' }, total: 1 }])
  })

  test('one condition is taken away by one way', async () => {
    views.store.add(eventLog({}))
    const { conditions, ways } = await absenceOf('/api/event-logs/absence?step=none')
    expect(conditions).toEqual(['step'])
    expect(ways).toEqual([{ kind: 'without', value: 'none', params: { step: '' }, total: 1 }])
  })

  test('leaves no failure behind where the store fails half-way', async () => {
    const left: unknown[] = []
    const note = (reason: unknown): void => void left.push(reason)
    process.on('unhandledRejection', note)
    views.store.failAfter(1)
    const { status } = await views.get('/api/event-logs/absence?level=Error&environment=Test')
    // Told once the queue of microtasks is empty.
    await nextTurn()
    process.off('unhandledRejection', note)
    expect([status, left]).toEqual([503, []])
  })
})
