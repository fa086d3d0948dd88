import { beforeAll, describe, expect, test } from 'vitest'
import { flowFact } from '../../consumers/projections/flows.ts'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import { type Level, levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps, fromNanos, toNanos } from '../../shared/contract/timestamp.ts'
import {
  EVENT_ENDS_MAX,
  FLOW_PLACES_MAX,
  FLOW_SORTS,
  FLOW_STATES,
  type Flow,
  type FlowCursor,
  type FlowFilter,
  type FlowSort,
  type FlowState,
  type FlowStates,
} from '../../shared/log-store/log-store.ts'
import { applicationDocument, entriesOf, eventDocument, NOON, PROJECT, recordOf } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { flowsOf, newTeam, type Rig } from './log-store-rig.ts'

const at = (seconds: number): string => fromNanos(toNanos(NOON) + BigInt(seconds) * 1_000_000_000n)
const keysOf = (flows: readonly Flow[]): readonly string[] => flows.map(({ correlationKey }) => correlationKey)

/** The facts that documents tell of their flows, one delta each. */
export const deltasOf = (documents: readonly EntryDocument[]): readonly FlowDelta[] =>
  documents.map((document) => flowFact(recordOf(document))).filter((delta) => delta !== null)

export function flowContract(rig: Rig): void {
  const store = async (...documents: readonly EntryDocument[]): Promise<void> => {
    await rig.put(...documents)
    await rig.mergeFlows(...deltasOf(documents))
    const withKey = documents.filter(({ correlationKey }) => correlationKey !== null)
    const flows = Map.groupBy(withKey, ({ team, correlationKey }) => JSON.stringify([team, correlationKey]))
    await rig.settled(async () => {
      for (const [{ team, correlationKey } = documents[0]!, ...more] of flows.values()) {
        const page = { limit: 1_000, sort: 'latest', after: null } as const
        const { flows } = await rig.store.searchFlows(flowsOf(team, { keyPart: correlationKey }), page)
        const flow = flows.find((one) => one.correlationKey === correlationKey)
        expect(flow?.groups.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(1 + more.length)
      }
    })
  }
  const list = async (filter: FlowFilter, limit = 100, sort: FlowSort = 'latest'): Promise<readonly Flow[]> => {
    const flows: Flow[] = []
    for (let after: FlowCursor | null = null, pages = 0; pages < 1_000; pages += 1) {
      const page = await rig.store.searchFlows(filter, { limit, sort, after })
      flows.push(...page.flows)
      if (page.next === null) return flows
      after = page.next
    }
    throw new Error('the pages do not end')
  }

  describe('flows', () => {
    test('a flow counts its entries by where they belong and how severe they are, over both kinds', async () => {
      const team = newTeam()
      const entry = { team, correlationKey: 'order-1' }
      await store(
        eventDocument({ ...entry, timestamp: at(5), step: 'pay' }),
        eventDocument({ ...entry, timestamp: at(1), step: 'pay' }),
        eventDocument({ ...entry, timestamp: at(3), step: 'pay', level: 'Error' }),
        eventDocument({ ...entry, timestamp: at(2), event: null, step: 'lone' }),
        applicationDocument({ ...entry, timestamp: at(9) }),
        applicationDocument({ team, timestamp: at(20) }),
      )
      const flow = await rig.store.flow(team, 'order-1')
      const group = { event: 'order-placed', step: 'pay', project: null, level: 'Information' } as const
      expect(flow).toMatchObject({ correlationKey: 'order-1', firstAt: at(1), lastAt: at(9) })
      expect(byPlace(flow?.groups ?? [])).toEqual(
        byPlace([
          { ...group, count: 2, firstAt: at(1), lastAt: at(5) },
          { ...group, level: 'Error' as const, count: 1, firstAt: at(3), lastAt: at(3) },
          { ...group, event: null, step: 'lone', count: 1, firstAt: at(2), lastAt: at(2) },
          { ...group, event: null, step: null, project: PROJECT, count: 1, firstAt: at(9), lastAt: at(9) },
        ]),
      )
      expect((await list(flowsOf(team)))[0]).toEqual({ ...flow, groups: expect.any(Array), rank: 0 })
      expect(byPlace((await list(flowsOf(team)))[0]?.groups ?? [])).toEqual(byPlace(flow?.groups ?? []))
    })

    test('flows are listed by latest activity in any century, page by page', async () => {
      const team = newTeam()
      const times = ['1970-01-01T00:00:01.000Z', '1999-12-31T23:59:59.000Z', NOON, '2200-01-01T00:00:00.000Z']
      await store(
        ...times.map((timestamp, index) => eventDocument({ team, timestamp, correlationKey: `order-${index}` })),
      )
      for (const limit of [1, 3, 100]) {
        expect(keysOf(await list(flowsOf(team), limit))).toEqual(['order-3', 'order-2', 'order-1', 'order-0'])
      }
    })

    test('a flow becomes visible without a refresh', async () => {
      const team = newTeam()
      const documents = [eventDocument({ team, correlationKey: 'order-1' })]
      await rig.store.write(documents, new AbortController().signal)
      await rig.mergeFlows(...deltasOf(documents))
      await eventually(async () => expect(keysOf(await list(flowsOf(team)))).toEqual(['order-1']))
    })

    test('a key that no entry of the Team has is no flow', async () => {
      const [team, other] = [newTeam(), newTeam()]
      await store(eventDocument({ team: other, correlationKey: 'order-1' }))
      expect(await rig.store.flow(team, 'order-1')).toBeUndefined()
      expect(await rig.store.flow(other, 'order')).toBeUndefined()
      expect(await rig.store.flow(other, 'ORDER-1')).toBeUndefined()
      expect(await list(flowsOf(team))).toEqual([])
      expect(keysOf(await list(flowsOf(other)))).toEqual(['order-1'])
    })

    test.each([1, 2, 3, 100])(
      'the latest come first, in pages of %i, also where the last entries are at one time',
      async (limit) => {
        const team = newTeam()
        const flow = (correlationKey: string, seconds: number) =>
          eventDocument({ team, correlationKey, timestamp: at(seconds) })
        await store(flow('a', 1), flow('b', 5), flow('c', 3), flow('c', 2), flow('d', 5), flow('e', 5), flow('a', 4))
        const flows = await list(flowsOf(team), limit)
        expect(keysOf(flows).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
        expect(flows.map(({ lastAt }) => lastAt)).toEqual([at(5), at(5), at(5), at(4), at(3)])
        expect(keysOf(flows).slice(3)).toEqual(['a', 'c'])
      },
    )

    test('telling the same twice, or in another order, changes nothing', async () => {
      const team = newTeam()
      const documents = [
        eventDocument({ team, correlationKey: 'k', timestamp: at(3), step: 'pay', level: 'Critical' }),
        eventDocument({ team, correlationKey: 'k', timestamp: at(1), environment: 'Test' }),
        applicationDocument({ team, correlationKey: 'k', timestamp: at(2) }),
      ]
      await store(...documents)
      const before = await list(flowsOf(team))
      const deltas = deltasOf(documents)
      await rig.mergeFlows(...deltas.toReversed())
      await Promise.all([rig.mergeFlows(...deltas), rig.mergeFlows(deltas[1]!), rig.mergeFlows(...deltas, ...deltas)])
      const after = await list(flowsOf(team))
      expect(after.map(sorted)).toEqual(before.map(sorted))
      for (const filter of [
        { levelMin: 'Critical' as const },
        { environment: 'Test' },
        { step: 'pay' },
        { project: PROJECT },
      ]) {
        expect(keysOf(await list(flowsOf(team, filter)))).toEqual(['k'])
      }
    })

    test('entries of a flow that come later are counted at once', async () => {
      const team = newTeam()
      const entry = { team, correlationKey: 'k' }
      await store(eventDocument({ ...entry, timestamp: at(1) }))
      await store(eventDocument({ ...entry, timestamp: at(7) }), eventDocument({ ...entry, timestamp: at(0) }))
      const flow = await rig.store.flow(team, 'k')
      expect(flow).toMatchObject({ firstAt: at(0), lastAt: at(7) })
      expect(flow?.groups).toMatchObject([{ count: 3, firstAt: at(0), lastAt: at(7) }])
    })
  })

  describe('filters of flows', () => {
    const team = newTeam()
    const documents = [
      eventDocument({ team, correlationKey: 'Order-1', timestamp: at(10), step: 'pay', level: 'Warning' }),
      eventDocument({ team, correlationKey: 'Order-1', timestamp: at(20), environment: 'Test' }),
      eventDocument({ team, correlationKey: 'order-20', timestamp: at(30), event: 'refund', level: 'Error' }),
      applicationDocument({ team, correlationKey: 'ЗАКАЗ%', timestamp: at(40) }),
    ]
    const CASES: readonly (readonly [string, Partial<FlowFilter>, readonly string[]])[] = [
      ['nothing', {}, ['ЗАКАЗ%', 'order-20', 'Order-1']],
      ['a part of the key, in any case', { keyPart: 'ORDER-' }, ['order-20', 'Order-1']],
      ['a part of a key that is not Latin', { keyPart: 'заказ' }, ['ЗАКАЗ%']],
      ['a part that means something elsewhere', { keyPart: '%' }, ['ЗАКАЗ%']],
      ['activity from a time on, inclusive', { from: at(20) }, ['ЗАКАЗ%', 'order-20', 'Order-1']],
      ['activity after all of a flow', { from: at(21) }, ['ЗАКАЗ%', 'order-20']],
      ['activity up to a time, exclusive', { to: at(10) }, []],
      ['activity that reaches into the range', { from: at(15), to: at(16) }, ['Order-1']],
      ['a level at least', { levelMin: 'Warning' }, ['order-20', 'Order-1']],
      ['the environment', { environment: 'Test' }, ['Order-1']],
      ['the Event', { event: 'refund' }, ['order-20']],
      ['the Step', { step: 'pay' }, ['Order-1']],
      ['the Project', { project: PROJECT }, ['ЗАКАЗ%']],
      ['no part of an Event', { event: 'ref' }, []],
      ['all together', { keyPart: '1', levelMin: 'Warning', step: 'pay', environment: 'Test' }, ['Order-1']],
    ]

    beforeAll(() => store(...documents), 60_000)

    test('by parts with the signs that patterns are made of, or that repeat themselves', async () => {
      const team = newTeam()
      const signs = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`
      const long = 'xy'.repeat(256)
      await store(
        eventDocument({ team, correlationKey: signs, timestamp: at(1) }),
        eventDocument({ team, correlationKey: long, timestamp: at(2) }),
      )
      for (const keyPart of [...signs, signs]) expect(keysOf(await list(flowsOf(team, { keyPart })))).toEqual([signs])
      expect(keysOf(await list(flowsOf(team, { keyPart: long.slice(1) })))).toEqual([long])
      expect(keysOf(await list(flowsOf(team, { keyPart: 'x'.repeat(512) })))).toEqual([])
    })

    test.each(CASES)('by %s', async (_, fields, keys) => {
      expect(keysOf(await list(flowsOf(team, fields)))).toEqual(keys)
      expect(keysOf(await list(flowsOf(team, fields), 1))).toEqual(keys)
    })
  })

  describe('states of flows', () => {
    const team = newTeam()
    const event = { team, event: 'order' }
    const step = (correlationKey: string, seconds: number, name: string) =>
      eventDocument({ ...event, correlationKey, timestamp: at(seconds), step: name })
    const error = (correlationKey: string, seconds: number) =>
      eventDocument({ ...event, correlationKey, timestamp: at(seconds), level: 'Error' })
    const job = (correlationKey: string, seconds: number) =>
      applicationDocument({ team, correlationKey, timestamp: at(seconds) })
    const documents = [
      ...[step('shipped', 1, 'pay'), step('shipped', 60, 'ship')],
      ...[step('closed', 2, 'closed, archived since')],
      ...[step('paid long ago', 3, 'pay'), job('paid long ago', 50)],
      ...[step('paid lately', 4, 'pay'), job('paid lately', 51)],
      ...[step('broken', 5, 'ship'), error('broken', 6), job('broken', 70)],
      ...[error('mended', 7), step('mended', 8, 'pay')],
      ...[error('mended and shipped', 7), step('mended and shipped', 8, 'ship')],
      ...[error('at the same time', 9), step('at the same time', 9, 'ship')],
      ...[applicationDocument({ team, correlationKey: 'job failed', timestamp: at(61), level: 'Critical' })],
      ...[
        applicationDocument({ team, correlationKey: 'job went on', timestamp: at(9), level: 'Error' }),
        job('job went on', 11),
      ],
      ...[job('job of now', 61)],
      ...[eventDocument({ team, correlationKey: 'lone Step', event: null, step: 'pay', timestamp: at(62) })],
      ...[eventDocument({ team, correlationKey: 'two Events', event: 'refund', step: 'paid', timestamp: at(10) })],
      ...[
        step('two Events', 9, 'ship'),
        eventDocument({ team, correlationKey: 'no Steps', event: 'note', timestamp: at(52) }),
      ],
    ]
    const states = {
      lately: at(50),
      ends: [
        { event: 'order', steps: ['ship', 'closed, archived since'] },
        { event: 'refund', steps: ['refunded'] },
        { event: 'or', steps: ['paid'] },
      ],
      waits: [],
    }
    const CASES: readonly (readonly [FlowState, readonly string[]])[] = [
      ['running', ['lone Step', 'job of now', 'no Steps', 'paid lately']],
      ['stalled', ['paid long ago', 'two Events', 'mended']],
      ['failed', ['broken', 'job failed', 'at the same time']],
      ['finished', ['shipped', 'job went on', 'mended and shipped', 'closed']],
    ]

    beforeAll(() => store(...documents), 60_000)

    test.each(CASES)('%s', async (is, keys) => {
      const filter = flowsOf(team, { state: { ...states, is } })
      expect(keysOf(await list(filter))).toEqual(keys)
      expect(keysOf(await list(filter, 1))).toEqual(keys)
    })

    test('are counted, of the flows that a filter selects', async () => {
      expect(await rig.store.countFlows(flowsOf(team), states)).toEqual({
        running: 4,
        stalled: 3,
        failed: 3,
        finished: 4,
      })
      const some = flowsOf(team, { levelMin: 'Critical' })
      expect(await rig.store.countFlows(some, states)).toEqual({ running: 0, stalled: 0, failed: 1, finished: 0 })
      expect(await rig.store.countFlows(flowsOf(newTeam()), states)).toEqual({
        running: 0,
        stalled: 0,
        failed: 0,
        finished: 0,
      })
    })

    test('are told by the times that flows wait at their places', async () => {
      const order = (seconds: number, ...places: readonly (readonly [string, number])[]) => ({
        ...{ event: 'order', lately: at(seconds) },
        places: places.map(([step, after]) => ({ step, lately: at(after) })),
      })
      const stalled = async (...waits: FlowStates['waits']): Promise<readonly string[]> => {
        const { running, ...counts } = await rig.store.countFlows(flowsOf(team), { ...states, waits })
        const keys = keysOf(await list(flowsOf(team, { state: { ...states, waits, is: 'stalled' } })))
        expect(keysOf(await list(flowsOf(team, { state: { ...states, waits, is: 'running' } })))).toHaveLength(running)
        expect({ ...counts, running }).toEqual({
          running: 7 - keys.length,
          stalled: keys.length,
          failed: 3,
          finished: 4,
        })
        return keys.toSorted()
      }
      const usual = ['mended', 'paid long ago', 'two Events']
      expect(await stalled()).toEqual(usual)
      // The last place that was seen counts, and the Event's own time where none was.
      expect(await stalled(order(90, ['pay', 49]))).toEqual(['mended', 'two Events'])
      expect(await stalled(order(0, ['pay', 51]))).toEqual(['mended', 'paid lately', 'paid long ago', 'two Events'])
      expect(await stalled(order(90, ['pay', 0], ['pack', 90]))).toEqual(['two Events'])
      expect(await stalled(order(90, ['validate', 90], ['pay', 0]))).toEqual(['two Events'])
      expect(await stalled(order(0, ['pack', 90]))).toEqual(['two Events'])
      expect(await stalled({ ...order(0), event: 'refund' })).toEqual(['mended', 'paid long ago'])
      expect(await stalled({ ...order(0, ['paid', 10]), event: 'refund' })).toEqual(usual)
      // Waits of an Event that expects nothing, or is not there, tell nothing.
      expect(await stalled({ ...order(90), event: 'note' })).toEqual(usual)
    })

    test('are told of a flow in several Events by those of which the waits are known', async () => {
      const [mine, entry] = [newTeam(), { correlationKey: 'k', timestamp: at(10) }]
      await store(
        eventDocument({ ...entry, team: mine, event: 'a' }),
        eventDocument({ ...entry, team: mine, event: 'b' }),
      )
      const ends = [
        { event: 'a', steps: ['a.end'] },
        { event: 'b', steps: ['b.end'] },
      ]
      const isRunning = async (...waits: readonly (readonly [string, number])[]): Promise<boolean> => {
        const told = waits.map(([event, seconds]) => ({ event, lately: at(seconds), places: [] }))
        return (await rig.store.countFlows(flowsOf(mine), { lately: at(20), ends, waits: told })).running === 1
      }
      expect(await isRunning()).toBe(false)
      expect(await isRunning(['a', 9])).toBe(true)
      expect(await isRunning(['a', 10])).toBe(false)
      expect(await isRunning(['a', 9], ['b', 9])).toBe(true)
      expect(await isRunning(['a', 9], ['b', 10])).toBe(false)
    })

    test('without Steps that are expected are told by errors and time', async () => {
      const count = await rig.store.countFlows(flowsOf(team), { lately: at(60), ends: [], waits: [] })
      expect(count).toEqual({ running: 2, stalled: 0, failed: 3, finished: 9 })
      const ends = Array.from({ length: EVENT_ENDS_MAX }, (_, index) => ({
        event: `event-${index}`,
        steps: ['a', 'b'],
      }))
      const places = Array.from({ length: FLOW_PLACES_MAX }, (_, index) => ({ step: `step-${index}`, lately: at(0) }))
      const waits = [{ event: 'event-0', lately: at(0), places }]
      expect(await rig.store.countFlows(flowsOf(team), { lately: at(60), ends, waits })).toEqual(count)
      for (const is of FLOW_STATES)
        expect(await list(flowsOf(team, { state: { lately: at(60), ends, waits, is } }))).toHaveLength(count[is])
    })
  })

  test.each(FLOW_SORTS)('flows sorted by %s, in pages of any size', async (sort) => {
    const team = newTeam()
    const entry = (correlationKey: string, seconds: number, level: Level = 'Information') =>
      eventDocument({ team, correlationKey, timestamp: at(seconds), level })
    await store(
      ...[entry('short', 10), entry('short', 11, 'Critical')],
      ...[entry('long', 1, 'Error'), entry('long', 9)],
      ...[entry('as long', 4), entry('as long', 12)],
      ...[entry('a point', 8, 'Error')],
    )
    const ORDER = {
      latest: ['as long', 'short', 'long', 'a point'],
      longest: ['as long', 'long', 'short', 'a point'],
      worst: ['short', 'long', 'a point', 'as long'],
    }
    for (const limit of [1, 2, 3, 100]) expect(keysOf(await list(flowsOf(team), limit, sort))).toEqual(ORDER[sort])
  })

  test('retention removes a flow with its last entry, also after a stop has ended it early', async () => {
    const team = newTeam()
    const old = { team, receivedAt: '2002-01-01T12:00:00.000Z', timestamp: at(1) }
    await store(
      eventDocument({ ...old, correlationKey: 'gone' }),
      eventDocument({ ...old, correlationKey: 'kept' }),
      eventDocument({ team, correlationKey: 'kept', timestamp: at(2) }),
    )
    const stopping = AbortSignal.abort(new Error('the process stops'))
    await expect(rig.store.removeBefore('2002-01-02', stopping)).rejects.toThrow('the process stops')
    await rig.store.removeBefore('2002-01-02')
    await rig.settled(async () => (await rig.store.count(entriesOf(team))) === 1)
    await rig.settled(async () => expect(keysOf(await list(flowsOf(team)))).toEqual(['kept']))
    expect(await rig.store.flow(team, 'gone')).toBeUndefined()
    expect((await rig.store.flow(team, 'kept'))?.groups).toMatchObject([{ count: 1 }])
  })
}

const byPlace = (groups: Flow['groups']): Flow['groups'] =>
  groups.toSorted(
    (a, b) => levelRank(a.level) - levelRank(b.level) || compareTimestamps(a.firstAt, b.firstAt) || a.count - b.count,
  )

const sorted = (flow: Flow): Flow => ({ ...flow, groups: byPlace(flow.groups) })
