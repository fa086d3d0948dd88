import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { durationOf } from '../../../../../views/web/flow/duration.ts'
import { epochMs, flowLogOf, sortLogs } from '../../../../../views/web/flow/flow-log.ts'
import { SKEW_MIN_MS, skewOf, skewOfFlow } from '../../../../../views/web/flow/skew.ts'
import { applicationEntry, eventEntry, iso, START } from './flow-fixture.ts'

describe('a log of a flow', () => {
  test('stands in its Step, in its Event, in its category, or among the Steps without an Event', () => {
    const placeOf = (entry: Parameters<typeof flowLogOf>[0]) => {
      const { group, lane } = flowLogOf(entry)
      return [group, lane]
    }
    expect(placeOf(eventEntry(0, 'order', 'pay'))).toEqual(['event:order', 'step:order.pay'])
    expect(placeOf(eventEntry(0, 'order', null))).toEqual(['event:order', 'event:order'])
    expect(placeOf(eventEntry(0, null, 'audit'))).toEqual(['steps', 'step:audit'])
    expect(placeOf(applicationEntry(0, 'Acme.Billing'))).toEqual(['project:p', 'category:p:Acme.Billing'])
  })

  test('says what it says on one line, no longer than a line', () => {
    expect(flowLogOf(eventEntry(0, 'order', null, { payload: ' a\r\n\tb ' })).text).toBe('a b')
    expect(flowLogOf(eventEntry(0, 'order', null, { payload: 'x'.repeat(1_000_000) })).text.length).toBe(300)
  })

  test('keeps the digits below a millisecond', () => {
    expect(epochMs('2026-01-31T09:30:00.000Z')).toBe(START)
    expect(epochMs('2026-01-31T09:30:00.0005Z') - START).toBeCloseTo(0.5, 3)
    expect(epochMs('2026-01-31T09:30:00.000250001Z') - START).toBeCloseTo(0.25, 3)
  })
})

describe('the order of logs', () => {
  test('is by what was written, then by arrival, then by id', () => {
    const logs = [
      eventEntry(5, 'order', null, { id: 'b', receivedAt: iso(9) }),
      eventEntry(5, 'order', null, { id: 'a', receivedAt: iso(9) }),
      eventEntry(5, 'order', null, { id: 'c', receivedAt: iso(8) }),
      eventEntry(1, 'order', null, { id: 'd', receivedAt: iso(10) }),
    ].map(flowLogOf)
    expect(sortLogs(logs, 'written').map(({ entry }) => entry.id)).toEqual(['d', 'c', 'a', 'b'])
    expect(sortLogs(logs, 'received').map(({ entry }) => entry.id)).toEqual(['c', 'a', 'b', 'd'])
  })

  test('is one, whatever the order of arrival at the reader', () => {
    const times = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 20 })
    fc.assert(
      fc.property(times, fc.constantFrom('written' as const, 'received' as const), (pairs, order) => {
        const logs = pairs.map(([ms, late]) => flowLogOf(eventEntry(ms, 'order', null, { receivedAt: iso(ms + late) })))
        expect(sortLogs(logs.toReversed(), order)).toEqual(sortLogs(logs, order))
      }),
    )
  })
})

describe('a duration', () => {
  test('is read from a payload or a scope that names one', () => {
    const ofPayload = (payload: string) => durationOf(eventEntry(0, 'order', null, { payload }))
    expect(ofPayload('{"durationMs":12.5}')).toBe(12.5)
    expect(ofPayload('{"a":1,"elapsed_ms":3}')).toBe(3)
    expect(ofPayload('{"ElapsedMilliseconds":7}')).toBe(7)
    expect(durationOf(applicationEntry(0, 'A', { scopeData: { 'duration-ms': 4 } }))).toBe(4)
  })

  test('is none where there is none, or none that time can have', () => {
    const ofPayload = (payload: string) => durationOf(eventEntry(0, 'order', null, { payload }))
    for (const payload of [
      '',
      'durationMs',
      '{"durationMs":',
      '{"durationMs":"5"}',
      '{"durationMs":-1}',
      '{"durationMs":0}',
    ])
      expect(ofPayload(payload)).toBeUndefined()
    expect(ofPayload('[{"durationMs":5}]')).toBeUndefined()
    expect(ofPayload('{"duration":5}')).toBeUndefined()
    expect(durationOf(applicationEntry(0, 'A'))).toBeUndefined()
  })
})

describe('clock skew', () => {
  const received = (ms: number, receivedMs: number) =>
    flowLogOf(eventEntry(ms, 'order', null, { receivedAt: iso(receivedMs) }))

  test('shows where a log was received before it was written', () => {
    expect(skewOf(received(10_000, 2_000))).toBe(8_000)
    expect(skewOf(received(SKEW_MIN_MS, 0))).toBe(0)
    expect(skewOf(received(SKEW_MIN_MS + 1, 0))).toBe(SKEW_MIN_MS + 1)
    expect(skewOf(received(0, 86_400_000))).toBe(0)
  })

  test('of a flow is how many and how far', () => {
    expect(skewOfFlow([received(9_000, 0), received(0, 4), received(5_000, 0)])).toEqual({ count: 2, most: 9_000 })
    expect(skewOfFlow([])).toEqual({ count: 0, most: 0 })
  })
})
