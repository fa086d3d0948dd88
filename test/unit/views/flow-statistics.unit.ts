import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FLOW_PLACES_MAX } from '../../../shared/log-store/log-store.ts'
import { FLOWS_SAMPLED_MAX, sampleFlows } from '../../../views/api/flow-sample.ts'
import { FLOWS_KNOWN_MIN } from '../../../views/api/flow-waits.ts'
import type { FlowComparison, FlowPage, FlowStateCounts, FlowStatistics } from '../../../views/schemas/answers.ts'
import { applicationLog, eventLog, NOW, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const MINUTE = 60_000
const ago = (ms: number): string => new Date(NOW - ms).toISOString()
const log = (correlationKey: string, step: string | null, msAgo: number, more: Parameters<typeof eventLog>[0] = {}) =>
  eventLog({ correlationKey, step: step && `order.${step}`, timestamp: ago(msAgo), ...more })
const statistics = async (query = ''): Promise<FlowStatistics> =>
  (await views.get<FlowStatistics>(`/api/flows/statistics?${query}`)).data

describe('GET /api/flows/statistics', () => {
  test('tells for each Event how its flows go, and for each Step how many reached it and how long they took to it', async () => {
    views.store.add(
      ...[log('a', null, 90_000), log('a', 'validate', 89_000), log('a', 'pay', 80_000), log('a', 'ship', 60_000)],
      ...[log('b', null, 50_000), log('b', 'validate', 47_000), log('b', 'ship', 40_000)],
      ...[log('c', null, 9 * MINUTE), log('c', 'validate', 8 * MINUTE)],
      ...[log('d', 'validate', 1_000, { level: 'Error' })],
      ...[eventLog({ correlationKey: 'e', event: 'refund', timestamp: ago(1_000) })],
      applicationLog({ correlationKey: 'f' }),
      eventLog({ correlationKey: 'g', team: 'b' }),
    )
    const step = (identifier: string, name: string) => ({ step: { identifier: `order.${identifier}`, name } })
    expect(await statistics()).toEqual({
      sampled: 6,
      complete: true,
      items: [
        {
          event: { identifier: 'order', name: 'Order placed' },
          started: 4,
          running: 0,
          stalled: 1,
          failed: 1,
          finished: 2,
          duration: { count: 2, p50: 10_000, p95: 30_000 },
          steps: [
            {
              ...step('validate', 'Validate'),
              reached: 4,
              share: 1,
              duration: { count: 3, p50: 3_000, p95: MINUTE },
              stalled: 0,
            },
            {
              ...step('pay', 'Pay'),
              reached: 1,
              share: 0.25,
              duration: { count: 1, p50: 9_000, p95: 9_000 },
              stalled: 1,
            },
            {
              ...step('ship', 'Ship'),
              reached: 2,
              share: 0.5,
              duration: { count: 2, p50: 7_000, p95: 20_000 },
              stalled: 0,
            },
          ],
        },
        {
          event: { identifier: 'refund', name: null },
          ...{ started: 1, running: 1, stalled: 0, failed: 0, finished: 0, duration: null, steps: [] },
        },
      ],
      more: false,
    })
  })

  test('is of one Event and of flows with activity in a range', async () => {
    views.store.add(
      ...[log('a', 'pay', 1_000), eventLog({ correlationKey: 'a', event: 'refund', timestamp: ago(500) })],
      log('b', 'pay', 2_000),
    )
    const one = await statistics('event=order')
    expect(one).toMatchObject({ sampled: 2, items: [{ event: { identifier: 'order' }, started: 2 }] })
    expect(one.items).toHaveLength(1)
    expect(await statistics('event=nothing')).toEqual({ sampled: 0, complete: true, items: [], more: false })
    expect(await views.getRaw('/api/flows/statistics?from=now&to=now-1h&q=a')).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'q' }, { path: 'to' }] } },
    })
  })

  test('counts all flows, and takes the times of a bounded number of them', async () => {
    const count = FLOWS_SAMPLED_MAX + 5
    views.store.add(...Array.from({ length: count }, (_, index) => log(`k${index}`, 'pay', 9 * MINUTE + index)))
    const { items, ...rest } = await statistics('event=order')
    expect(rest).toEqual({ sampled: FLOWS_SAMPLED_MAX, complete: false, more: false })
    const steps = [{}, { reached: count, share: 1 }, { reached: 0, stalled: count }]
    expect(items).toMatchObject([{ started: count, stalled: count, steps }])
  })

  test('takes these times from flows of the whole range, as many from each part as it has', async () => {
    const [early, late] = [FLOWS_SAMPLED_MAX / 2, FLOWS_SAMPLED_MAX]
    const shipped = (name: string, count: number, end: number, took: number) =>
      Array.from({ length: count }, (_, index) => [
        log(`${name}${index}`, 'pay', end + index + took),
        log(`${name}${index}`, 'ship', end + index),
      ]).flat()
    views.store.add(...shipped('early', early, 95 * MINUTE, 5_000), ...shipped('late', late, MINUTE, 1_000))
    const [item] = (await statistics('event=order&from=now-100m')).items
    expect(item).toMatchObject({ started: early + late, finished: early + late })
    const { count = 0, p50, p95 } = item?.duration ?? {}
    expect({ count, p50, p95 }).toEqual({ count: FLOWS_SAMPLED_MAX, p50: 1_000, p95: 5_000 })
    // All flows without a range: the latest ones.
    expect((await statistics('event=order')).items[0]?.duration).toMatchObject({ p95: 1_000 })
  })

  test('looks for stalled flows at each flow once, however few there are', async () => {
    const count = FLOWS_SAMPLED_MAX + 5
    const spread = (index: number): number => MINUTE + (index * 90 * MINUTE) / count
    views.store.add(...Array.from({ length: count }, (_, index) => log(`k${index}`, 'ship', spread(index))))
    const { searchFlows } = views.store
    let looked = 0
    views.store.searchFlows = async (filter, page) => {
      if (filter.state !== null)
        looked += (await searchFlows({ ...filter, state: null }, { ...page, limit: count })).flows.length
      return searchFlows(filter, page)
    }
    expect(await statistics('event=order&from=now-100m')).toMatchObject({
      complete: false,
      items: [{ finished: count }],
    })
    expect(looked).toBe(count)
  })

  test('looks at no more flows once these have very many groups', async () => {
    const { searchFlows } = views.store
    const group = {
      event: 'order',
      project: null,
      level: 'Information',
      count: 1,
      firstAt: ago(9),
      lastAt: ago(1),
    } as const
    const groups = Array.from({ length: 60_000 }, (_, index) => ({ ...group, step: `step-${index}` }))
    let pages = 0
    views.store.searchFlows = async (filter, page) => {
      pages += 1
      const next = { rank: 0, lastAt: ago(1), correlationKey: `k${pages}` }
      const { flows } = await searchFlows(filter, page)
      return { flows: [...flows, { ...next, firstAt: ago(9), groups }], next }
    }
    const { sampled, items, more } = await statistics()
    expect({ sampled, steps: items[0]?.steps.length, more }).toEqual({ sampled: 2, steps: 200, more: true })
  })

  test('is no flow; the one with this key is read by a parameter', async () => {
    views.store.add(log('statistics', 'pay', 1_000))
    expect(await views.getRaw('/api/flows/-?key=statistics')).toMatchObject({
      body: { data: { summary: { correlationKey: 'statistics' } } },
    })
  })

  test('tell nothing of an Event whose first flow comes while they are counted', async () => {
    const pack = { kind: 'step', identifier: 'pack', team: 'a', name: 'Pack', event: 'rare', order: 1 } as const
    views.entities.set('pack', pack)
    views.store.add(...Array.from({ length: FLOWS_SAMPLED_MAX + 1 }, (_, index) => log(`k${index}`, 'ship', index)))
    const { tallyFlows } = views.store
    views.store.tallyFlows = async (...request) => {
      const counted = await tallyFlows(...request)
      views.store.add(eventLog({ correlationKey: 'first', event: 'rare', timestamp: ago(60 * MINUTE) }))
      return counted
    }
    const { items } = await statistics()
    expect(items.map(({ event, started }) => [event.identifier, started])).toEqual([['order', FLOWS_SAMPLED_MAX + 1]])
  })
})

describe('the waits that tell whether a flow is stalled', () => {
  const stateOf = async (key: string) =>
    (await views.get<FlowPage>(`/api/flows?correlationKey=${key}`)).data.items[0]?.state
  /** Flows that took so long from their payment to their shipping, finished hours ago. */
  const shipped = (count: number, tookMs: number, name = 'done') =>
    Array.from({ length: count }, (_, index) => {
      const end = 300 * MINUTE + index
      return [log(`${name}-${index}`, 'pay', end + tookMs), log(`${name}-${index}`, 'ship', end)]
    }).flat()

  test('are three times as long as 95 of 100 flows take, for the list, its filter and the counts alike', async () => {
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE))
    views.store.add(
      log('patient', 'pay', 3 * 29 * MINUTE - 1),
      log('late', 'pay', 3 * 29 * MINUTE),
      log('new', 'validate', 6 * MINUTE),
    )
    expect(await stateOf('patient')).toBe('running')
    expect(await stateOf('late')).toBe('stalled')
    // Of the Step after this one nothing is known.
    expect(await stateOf('new')).toBe('stalled')
    const listed = async (state: string) =>
      (await views.get<FlowPage>(`/api/flows?state=${state}`)).data.items.map(({ correlationKey }) => correlationKey)
    expect(await listed('running')).toEqual(['patient'])
    expect(await listed('stalled')).toEqual(['new', 'late'])
    expect((await views.get<FlowStateCounts>('/api/flow-states')).data.states).toMatchObject({ running: 1, stalled: 2 })
    const [order] = (await statistics()).items
    expect(order).toMatchObject({ running: 1, stalled: 2 })
    expect(order?.steps.map(({ stalled }) => stalled)).toEqual([0, 1, 1])
    expect((await views.get<{ summary: object }>('/api/flows/patient')).data.summary).toMatchObject({
      state: 'running',
      reason: 'The last log is less than 1 h 27 m old.',
    })
  })

  test('are five minutes while fewer flows are known', async () => {
    views.store.add(
      ...shipped(FLOWS_KNOWN_MIN - 1, 29 * MINUTE),
      log('k', 'pay', 5 * MINUTE),
      log('l', 'pay', 5 * MINUTE - 1),
    )
    expect([await stateOf('k'), await stateOf('l')]).toEqual(['stalled', 'running'])
  })

  test('are a minute at least', async () => {
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 10), log('k', 'pay', MINUTE), log('l', 'pay', MINUTE - 1))
    expect([await stateOf('k'), await stateOf('l')]).toEqual(['stalled', 'running'])
  })

  test('are of the last week, and of the own Team', async () => {
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE).map((one) => ({ ...one, team: 'b' })))
    views.store.add(log('k', 'pay', 6 * MINUTE))
    expect(await stateOf('k')).toBe('stalled')
    views.time.now += 8 * 24 * 60 * MINUTE
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE), log('l', 'pay', 6 * MINUTE - 8 * 24 * 60 * MINUTE))
    expect(await stateOf('l')).toBe('stalled')
  })

  test('are learnt at most once a minute', async () => {
    const reads = () => views.store.calls.filter((name) => name === 'searchFlows').length
    views.store.add(log('k', 'pay', 6 * MINUTE))
    await Promise.all([stateOf('k'), stateOf('k')])
    expect([await stateOf('k'), reads()]).toEqual(['stalled', 1])
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE))
    views.time.now += MINUTE - 1
    expect([await stateOf('k'), reads()]).toEqual(['stalled', 1])
    views.time.now += 1
    expect([await stateOf('k'), reads()]).toEqual(['running', 2])
    // A clock that is set back.
    views.time.now -= 60 * MINUTE
    await stateOf('k')
    expect(reads()).toBe(3)
  })

  test('are learnt of a rare Event from flows of its own', async () => {
    const pack = { kind: 'step', identifier: 'pack', team: 'a', name: 'Pack', event: 'rare', order: 1 } as const
    views.entities.set('pack', pack)
    const rare = (correlationKey: string, step: string | null, msAgo: number) =>
      eventLog({ correlationKey, event: 'rare', step, timestamp: ago(msAgo) })
    const done = Array.from({ length: FLOWS_KNOWN_MIN }, (_, index) => `rare-${index}`)
    views.store.add(...done.flatMap((key) => [rare(key, null, 500 * MINUTE), rare(key, 'pack', 480 * MINUTE)]))
    views.store.add(rare('k', null, 59 * MINUTE), rare('l', null, 60 * MINUTE))
    views.store.add(...Array.from({ length: FLOWS_SAMPLED_MAX }, (_, index) => log(`k${index}`, 'ship', index)))
    expect([await stateOf('k'), await stateOf('l')]).toEqual(['running', 'stalled'])
  })

  test('are not of Events with more Steps than the log store takes, for the list and the counts alike', async () => {
    for (let order = 4; order <= FLOW_PLACES_MAX + 2; order += 1) {
      const step = { kind: 'step', identifier: `order.${order}`, team: 'a', name: '', event: 'order', order } as const
      views.entities.set(step.identifier, step)
    }
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE), log('k', 'pay', 6 * MINUTE))
    expect(await stateOf('k')).toBe('stalled')
    expect((await views.get<FlowStateCounts>('/api/flow-states')).data.states).toMatchObject({ running: 0 })
  })

  test('are five minutes where they cannot be learnt', async () => {
    views.store.add(...shipped(FLOWS_KNOWN_MIN, 29 * MINUTE), log('k', 'pay', 6 * MINUTE))
    views.store.searchFlows = async () => {
      throw new Error('the store is busy')
    }
    expect(await stateOf('k')).toBe('stalled')
  })
})

describe('GET /api/flows/{correlationKey}/compare/{other}', () => {
  const compare = async (path: string): Promise<FlowComparison> => (await views.get<FlowComparison>(path)).data

  test('tells Step by Step what is different', async () => {
    views.store.add(
      ...[
        log('good', null, 90_000),
        log('good', 'validate', 89_000),
        log('good', 'pay', 80_000),
        log('good', 'ship', 60_000),
      ],
      ...[log('bad', null, 50_000), log('bad', 'validate', 48_000), log('bad', 'pay', 40_000, { level: 'Error' })],
      eventLog({ correlationKey: 'bad', event: 'refund', step: 'refund.pay', timestamp: ago(1_000) }),
    )
    const data = await compare('/api/flows/bad/compare/good')
    expect(data).toMatchObject({ flow: { correlationKey: 'bad' }, other: { correlationKey: 'good' }, more: false })
    expect(data.steps.map(({ step, slowerBy, differences }) => [step.identifier, slowerBy, differences])).toEqual([
      ['order.validate', 1_000, ['slower']],
      ['order.pay', -1_000, ['failed']],
      ['order.ship', null, ['missing']],
      ['refund.pay', null, ['added']],
    ])
    const visit = { firstAt: ago(48_000), lastAt: ago(48_000), duration: 2_000, count: 1, worstLevel: 'Information' }
    expect(data.steps[0]).toMatchObject({ flow: visit, other: { duration: 1_000 } })
    expect(data.steps[2]).toMatchObject({ flow: null, other: { duration: 20_000 } })
    const same = await compare('/api/flows/good/compare/good')
    expect(same.steps.flatMap(({ differences }) => differences)).toEqual([])
    expect((await compare('/api/flows/good/compare/bad')).steps.map(({ differences }) => differences)).toEqual([
      [],
      [],
      ['added'],
      ['missing'],
    ])
  })

  test('takes twice as long and 100 ms for slower', async () => {
    const flow = (key: string, ms: number) => [log(key, null, 60_000), log(key, 'validate', 60_000 - ms)]
    views.store.add(
      ...flow('a', 100),
      ...flow('b', 199),
      ...flow('c', 200),
      ...flow('d', 10),
      ...flow('e', 109),
      ...flow('f', 110),
    )
    const differences = async (keys: string) => (await compare(`/api/flows/${keys}`)).steps[0]?.differences
    expect(await differences('b/compare/a')).toEqual([])
    expect(await differences('c/compare/a')).toEqual(['slower'])
    expect(await differences('e/compare/d')).toEqual([])
    expect(await differences('f/compare/d')).toEqual(['slower'])
  })

  test('takes any two keys, and says which one is unknown', async () => {
    views.store.add(log('..', 'pay', 1), log('a/b', 'pay', 1))
    expect((await compare('/api/flows/-/compare/a%2Fb?key=..')).flow.correlationKey).toBe('..')
    expect((await compare('/api/flows/a%2Fb/compare/-?other=..')).other.correlationKey).toBe('..')
    expect(await views.get('/api/flows/a%2Fb/compare/x')).toMatchObject({
      status: 404,
      error: { message: expect.stringMatching(/^There is no entry with the correlationKey x\./) },
    })
    const { length } = views.store.calls
    expect(await views.getRaw('/api/flows/a%2Fb/compare/x?other=..')).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'other' }] } },
    })
    // A read that nobody waits for would end the process when it fails.
    expect(views.store.calls.slice(length)).toEqual([])
    for (const [path, status] of [
      ['a%2Fb/compare/a%2Fb', 200],
      ['a%2Fb/compare/x', 404],
      ['x/compare/a%2Fb', 404],
    ] as const)
      expect(
        (await fetch(`${views.url}/api/flows/${path}`, { method: 'HEAD', headers: { 'x-api-key': 'key-of-a' } }))
          .status,
      ).toBe(status)
  })

  test('has a bounded number of Steps', async () => {
    views.store.add(...Array.from({ length: 1_001 }, (_, index) => log('k', `gone-${index}`, index)))
    const { steps, more } = await compare('/api/flows/k/compare/k')
    expect([steps.length, more]).toEqual([1_000, true])
  })
})

describe('a sample of flows', () => {
  test('holds no page while it waits for the next', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const pages: WeakRef<object>[] = []
    const held: number[] = []
    const searchFlows = async () => {
      // A new reference holds its object until the end of the turn.
      await nextTurn()
      collect()
      held.push(pages.filter((page) => page.deref() !== undefined).length)
      const place = { rank: 0, lastAt: '2026-02-01T12:00:00.000Z', correlationKey: `k${pages.length}` }
      const flow = { ...place, firstAt: '2026-02-01T12:00:00.000Z', groups: [] }
      pages.push(new WeakRef(flow))
      return { flows: [flow], next: pages.length < 5 ? place : null }
    }
    const { signal } = new AbortController()
    await sampleFlows({ searchFlows } as never, {} as never, 100, signal, () => undefined)
    expect(held).toEqual([0, 0, 0, 0, 0])
  })
})
