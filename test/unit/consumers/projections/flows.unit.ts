import { describe, expect, test, vi } from 'vitest'
import { flowFact, foldFlows } from '../../../../consumers/projections/flows.ts'
import type { FlowDelta } from '../../../../shared/contract/documents.ts'
import { LEVELS } from '../../../../shared/contract/levels.ts'
import type { EntryRecord } from '../../../../shared/contract/records.ts'
import { applicationLog, eventLog } from '../../../support/consumers-records.ts'
import * as fc from '../../../support/fast-check.ts'

const factsOf = (entries: readonly EntryRecord[]): readonly FlowDelta[] =>
  entries.map(flowFact).filter((fact) => fact !== null)

const inOrder = (flows: readonly FlowDelta[]): readonly FlowDelta[] =>
  flows.toSorted((a, b) => `${a.team} ${a.correlationKey}`.localeCompare(`${b.team} ${b.correlationKey}`))

const minute = fc.integer({ min: 10, max: 59 }).map((each) => `2026-03-01T10:${each}:00.000Z`)
const entries: fc.Arbitrary<EntryRecord> = fc
  .record({
    isEvent: fc.boolean(),
    changes: fc.record({
      team: fc.constantFrom('payments', 'shipping'),
      correlationKey: fc.constantFrom('order-1', 'order-2', null),
      timestamp: minute,
      receivedAt: fc.constantFrom('2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z'),
      level: fc.constantFrom(...LEVELS),
      environment: fc.constantFrom('Production', 'Test'),
    }),
    place: fc.constantFrom('a', 'b', null),
  })
  .map(({ isEvent, changes, place }) =>
    isEvent ? eventLog(1, { ...changes, event: place, step: place }) : applicationLog(1, changes),
  )

describe('the flows', () => {
  test('are told what their entries have in common and apart', () => {
    const flows = foldFlows(
      factsOf([
        eventLog(1, { timestamp: '2026-03-01T10:00:00.500Z', receivedAt: '2026-03-02T00:00:00.000Z' }),
        eventLog(2, { timestamp: '2026-03-01T09:00:00.000Z', step: null, level: 'Error', environment: 'Test' }),
        applicationLog(3, { timestamp: '2026-03-01T11:00:00.000Z' }),
      ]),
    )
    expect(flows).toEqual([
      {
        team: 'payments',
        correlationKey: 'order-1',
        firstAt: '2026-03-01T09:00:00.000Z',
        lastAt: '2026-03-01T11:00:00.000Z',
        days: ['2026-03-01', '2026-03-02'],
        lastReceivedAt: '2026-03-02T00:00:00.000Z',
        worstLevel: 'Error',
        lastErrorAt: '2026-03-01T09:00:00.000Z',
        lastProgressAt: '2026-03-01T10:00:00.500Z',
        environments: ['Production', 'Test'],
        events: ['order-placed'],
        steps: ['order-placed.validate'],
        projects: ['3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
      },
    ])
  })

  test('have no part in entries without a correlationKey', () => {
    expect(flowFact(eventLog(1, { correlationKey: null }))).toBeNull()
    expect(flowFact(applicationLog(1, { correlationKey: '' }))).toBeNull()
  })

  test('have their environments in order, which are not sorted anew for each that a sender makes up', () => {
    const sort = vi.spyOn(Array.prototype, 'sort')
    const names = Array.from({ length: 1_000 }, (_, index) => `e${(index * 7) % 1_000}`)
    const [flow] = foldFlows(factsOf(names.map((environment, index) => eventLog(index, { environment }))))
    const sorts = sort.mock.calls.length
    sort.mockRestore()
    expect(sorts).toBeLessThan(10)
    expect(flow?.environments).toEqual(names.toSorted())
  })

  test('of two Teams are two, though the key is the same', () => {
    expect(foldFlows(factsOf([eventLog(1), eventLog(2, { team: 'shipping' })]))).toHaveLength(2)
  })

  test('come out the same in any order, cut in any way and told any number of times', () => {
    const tellings = fc.array(entries, { minLength: 1, maxLength: 20 }).chain((all) =>
      fc.record({
        all: fc.constant(all),
        shuffled: fc.shuffledSubarray(all, { minLength: all.length }),
        repeated: fc.subarray(all),
        cut: fc.nat(all.length),
      }),
    )
    fc.assert(
      fc.property(tellings, ({ all, shuffled, repeated, cut }) => {
        const told = factsOf([...shuffled, ...repeated])
        const inParts = foldFlows([...foldFlows(told.slice(cut)), ...foldFlows(told.slice(0, cut))])
        expect(inOrder(inParts)).toEqual(inOrder(foldFlows(factsOf(all))))
      }),
    )
  })
})
