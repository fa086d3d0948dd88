import { describe, expect, test } from 'vitest'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { flowSvg } from '../../../../views/api/flow-svg.ts'
import { createTextRemoval, epochMs, lineOf, readLogs, SKEW_MIN_MS } from '../../../../views/flow-layout/flow-log.ts'
import type { Entry } from '../../../../views/schemas/answers.ts'
import * as fc from '../../../support/fast-check.ts'
import { applicationEntry, eventEntry, iso, logsOf, START, stepEntry } from '../web/flow/flow-fixture.ts'

const [ofPayload, ofScope] = [
  (payload: string) => logsOf(eventEntry(0, 'order', null, { payload }))[0]!,
  (scopeData: Record<string, unknown> | null) => logsOf(applicationEntry(0, 'A', { scopeData }))[0]!,
]

describe('a log of a flow', () => {
  test('stands in its Step, in its Event, in its category, or among the Steps without an Event', () => {
    const placeOf = (entry: Entry) => {
      const { group, lane, where } = logsOf(entry)[0]!
      return [group, lane, ...where]
    }
    expect(placeOf(eventEntry(0, 'order', 'pay'))).toEqual([
      'event:order',
      'step:order.pay event:order',
      'order',
      'pay',
    ])
    expect(placeOf(eventEntry(0, 'order', null))).toEqual(['event:order', 'event:order', 'order'])
    expect(placeOf(eventEntry(0, null, 'audit'))).toEqual([
      'steps',
      'step:audit steps',
      'Steps without an Event',
      'audit',
    ])
    expect(placeOf(applicationEntry(0, 'Acme.Billing'))).toEqual([
      'project:p',
      'project:p:Acme.Billing',
      'Checkout API',
      'Acme.Billing',
    ])
  })

  test('says what it says on one line, no longer than a line', () => {
    expect(lineOf(ofPayload(' a\r\n\tb ').entry)).toBe('a b')
    expect(lineOf(ofPayload('{"order":{"id":4711}, "note":"no\\nhurry"}').entry)).toBe(
      'order.id=4711 note="no\\nhurry"',
    )
    expect(lineOf(ofPayload('x'.repeat(1_000_000)).entry).length).toBe(300)
  })

  test('is drawn the same without its texts', () => {
    const long = 'x'.repeat(4_000)
    const texts = { environment: long, correlationKey: long }
    const entries = [
      eventEntry(0, 'order', 'pay', { payload: `{"elapsedMs":12.5,"text":"${long}"}`, ...texts }),
      eventEntry(1, 'order', null, { payload: long, ...texts }),
      applicationEntry(2, `Acme.${long}`, {
        ...{ message: long, exception: long, eventName: long, originalLevel: long, ...texts },
        scopeData: { a: { duration_ms: 7 }, long },
      }),
      applicationEntry(3, 'Acme.Billing', texts),
      eventEntry(4, 'order', 'pay', texts),
    ]
    const small = entries.map(createTextRemoval())
    expect(JSON.stringify(small).length).toBeLessThan(2_000)
    const [first, , , , last] = small as { step?: object }[]
    expect(last?.step).toBe(first?.step)
    const drawn = (some: readonly Entry[]): string =>
      flowSvg({ correlationKey: 'k', entries: some, more: false, steps: [], nextSteps: [], now: START })
    expect(drawn(small)).toBe(drawn(entries))
    expect(readLogs(small, 'timestamp').map(({ duration }) => duration)).toEqual([
      12.5,
      undefined,
      7,
      undefined,
      undefined,
    ])
  })

  test('keeps the digits below a millisecond', () => {
    expect(epochMs('2026-01-31T09:30:00.000Z')).toBe(START)
    expect(epochMs('2026-01-31T09:30:00.0005Z') - START).toBeCloseTo(0.5, 3)
    expect(epochMs('2026-01-31T09:30:00.000250001Z') - START).toBeCloseTo(0.25, 3)
  })

  test('tells its distance from the start and from the one before it in its lane', () => {
    const logs = logsOf(stepEntry(0, 'pay'), stepEntry(10, 'ship'), stepEntry(25, 'pay'), stepEntry(26, 'pay'))
    expect(logs.map(({ sinceStart, sincePrevious }) => [sinceStart, sincePrevious])).toEqual([
      [0, undefined],
      [10, undefined],
      [25, 25],
      [26, 1],
    ])
  })
})

describe('the order of logs', () => {
  test('is by the time that counts, then by arrival, then by id', () => {
    const entries = [
      eventEntry(5, 'order', null, { id: 'b', receivedAt: iso(9) }),
      eventEntry(5, 'order', null, { id: 'a', receivedAt: iso(9) }),
      eventEntry(5, 'order', null, { id: 'c', receivedAt: iso(8) }),
      eventEntry(1, 'order', null, { id: 'd', receivedAt: iso(10) }),
    ]
    const idsBy = (order: 'timestamp' | 'receivedAt') => readLogs(entries, order).map(({ entry }) => entry.id)
    expect(idsBy('timestamp')).toEqual(['d', 'c', 'a', 'b'])
    expect(idsBy('receivedAt')).toEqual(['c', 'a', 'b', 'd'])
  })

  test('is one, whatever the order of arrival at the reader', () => {
    const times = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 20 })
    fc.assert(
      fc.property(times, fc.constantFrom('timestamp' as const, 'receivedAt' as const), (pairs, order) => {
        const entries = pairs.map(([ms, late]) => eventEntry(ms, 'order', null, { receivedAt: iso(ms + late) }))
        expect(readLogs(entries.toReversed(), order)).toEqual(readLogs(entries, order))
      }),
    )
  })
})

describe('a duration', () => {
  test('is read from a payload or a scope that names one', () => {
    expect(ofPayload('{"durationMs":12.5}').duration).toBe(12.5)
    expect(ofPayload('{"a":1,"elapsed_ms": 3}').duration).toBe(3)
    expect(ofPayload('{"ElapsedMilliseconds":7}').duration).toBe(7)
    expect(ofScope({ 'duration-ms': 4 }).duration).toBe(4)
    expect(ofPayload('{"elapsed_ms":9.5e-05}').duration).toBe(9.5e-5)
    expect(ofScope({ elapsedMs: 5e-7 }).duration).toBe(5e-7)
    // Read beside a number of many digits, others keep theirs as well.
    expect(ofScope(parseExactly('{"durationMs":12.0}') as Record<string, unknown>).duration).toBe(12)
  })

  test('is none where there is none, or none that time can have', () => {
    for (const payload of [
      '',
      'durationMs',
      '{"durationMs":',
      '{"durationMs":"5"}',
      '{"durationMs":-1}',
      '{"durationMs":0}',
      '{"durationMs":1e999}',
    ])
      expect(ofPayload(payload).duration).toBeUndefined()
    expect(ofPayload('[{"durationMs":5}]').duration).toBeUndefined()
    expect(ofPayload('{"duration":5}').duration).toBeUndefined()
    expect(ofPayload('said "durationMs":5').duration).toBeUndefined()
    expect(ofScope(null).duration).toBeUndefined()
    expect(ofScope({ durationMs: '5', a: { durationMs: -1 } }).duration).toBeUndefined()
  })

  test('is read from wherever in the scope it stands, the first one', () => {
    expect(ofScope({ Scopes: ['x', { http: { elapsedMs: 7 } }, { durationMs: 8 }] }).duration).toBe(7)
  })

  test('is looked for at the beginning of a payload', () => {
    const payload = (blanks: number, digits: string) => `{"a":"${'x'.repeat(blanks)}","durationMs":${digits}}`
    expect(ofPayload(payload(3_000, '12')).duration).toBe(12)
    expect(ofPayload(payload(5_000, '12')).duration).toBeUndefined()
    // One whose digits go on after that is not taken for a smaller one.
    expect(ofPayload(payload(4_070, '1234567890')).duration).toBeUndefined()
  })

  test('is looked for among a bounded number of names, whatever the scopes of all logs hold', () => {
    let looks = 0
    const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, { a: 1 }]))
    const scopeData = new Proxy(members, {
      ownKeys: (target) => {
        looks += 1
        return Reflect.ownKeys(target)
      },
    })
    logsOf(...Array.from({ length: 5_000 }, (_, index) => applicationEntry(index, 'A', { scopeData })))
    expect(looks).toBeLessThanOrEqual(100)
  })
})

describe('clock skew', () => {
  const skewOf = (ms: number, receivedMs: number) =>
    logsOf(eventEntry(ms, 'order', null, { receivedAt: iso(receivedMs) }))[0]!.skew

  test('shows where a log was received well before it was written', () => {
    expect(skewOf(10_000, 2_000)).toBe(8_000)
    expect(skewOf(SKEW_MIN_MS, 0)).toBe(0)
    expect(skewOf(SKEW_MIN_MS + 1, 0)).toBe(SKEW_MIN_MS + 1)
    expect(skewOf(0, 86_400_000)).toBe(0)
  })
})
