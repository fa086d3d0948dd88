import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { applicationLog, at, eventLog, NOW, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

interface Absence {
  readonly kept: boolean
  readonly title: string
  readonly reason: string
  readonly ways: readonly { readonly name: string; readonly params: object; readonly total: number | null }[]
}

const absenceOf = async (path: string): Promise<Absence> => (await views.get<Absence>(path)).data

describe('GET …/absence', () => {
  test('says where there are no logs of this kind at all', async () => {
    views.store.add(applicationLog({}))
    expect(await absenceOf('/api/event-logs/absence')).toMatchObject({ kept: false, ways: [] })
    expect(await absenceOf('/api/event-logs/absence?level=Error')).toMatchObject({ kept: false })
  })

  test('leads to the newest log where there are logs of another time', async () => {
    const timestamp = new Date(NOW - 7_200_000).toISOString()
    views.store.add(eventLog({ timestamp }), eventLog({ timestamp: new Date(NOW - 36_000_000).toISOString() }))
    const { kept, title, reason, ways } = await absenceOf('/api/event-logs/absence?from=now-1h')
    expect([kept, title]).toEqual([true, 'Nothing in this time'])
    expect(reason).toBe('The newest log is from 2 h ago.')
    expect(ways.map(({ name }) => name)).toEqual(['Go to the newest log', 'Everything since then'])
    for (const { params } of ways) {
      const { data } = await views.get<{ total: number }>(
        `/api/event-logs/histogram?${new URLSearchParams({ ...params })}`,
      )
      expect(data.total).toBe(1)
    }
  })

  test.each([
    [40_500, '40 s ago'],
    [3 * 86_400_000, '3 d ago'],
    [-90_000, '1 m ahead'],
  ])('tells how old it is: %d ms is %s', async (age, text) => {
    views.store.add(eventLog({ timestamp: new Date(NOW - age).toISOString() }))
    expect((await absenceOf('/api/event-logs/absence')).reason).toBe(`The newest log is from ${text}.`)
  })

  test('leads to the newest log that matches, where conditions are in use', async () => {
    views.store.add(eventLog({ timestamp: at(0), level: 'Error' }), eventLog({ timestamp: at(60) }))
    const { reason, ways } = await absenceOf(`/api/event-logs/absence?level=Error&from=${at(30)}`)
    expect(reason).toMatch(/^The newest log that matches is from /)
    expect(ways[1]).toMatchObject({ params: { from: new Date(Date.parse(at(0)) - 1).toISOString(), to: '' } })
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
      title: 'Nothing matches',
      reason: 'No log of any time matches all of these.',
      ways: [
        { name: 'Remove all', value: null, params: { q: '', level: '', environment: '' }, total: null },
        { name: 'Remove the search', value: '*', params: { q: '' }, total: 0 },
        { name: 'Remove level', value: 'Error', params: { level: '' }, total: 1 },
        { name: 'Remove environment', value: 'Test', params: { environment: '' }, total: 2 },
      ],
    })
  })

  test('one condition is taken away by one way', async () => {
    views.store.add(eventLog({}))
    const { reason, ways } = await absenceOf('/api/event-logs/absence?step=none')
    expect(reason).toBe('No log of any time matches this.')
    expect(ways).toEqual([{ name: 'Remove step', value: 'none', params: { step: '' }, total: 1 }])
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
