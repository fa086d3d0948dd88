import { describe, expect, test } from 'vitest'
import { readLogs } from '../../../../../views/flow-layout/flow-log.ts'
import { createMatcher, failingLog, failureText } from '../../../../../views/web/flow/words.ts'
import { applicationEntry, eventEntry, iso, logsOf } from './flow-fixture.ts'

const LOGS = logsOf(
  eventEntry(0, 'order', 'pay', { payload: '{"card":"Visa","amount":12}' }),
  applicationEntry(1, 'Acme.Billing', {
    message: 'Charge refused',
    exception: 'TimeoutException: no answer',
    scopeData: { tenant: 'acme' },
    level: 'Error',
  }),
)

const found = (text: string): readonly number[] =>
  LOGS.flatMap((log, index) => (createMatcher(text)(log) ? [index] : []))

test('finds every word anywhere in what a log shows, in any case', () => {
  expect(found('visa')).toEqual([0])
  expect(found('REFUSED timeout')).toEqual([1])
  expect(found('refused visa')).toEqual([])
  expect(found('order.pay')).toEqual([0])
  expect(found('tenant')).toEqual([1])
  expect(found('error')).toEqual([1])
})

test('finds a phrase in one text only', () => {
  expect(found('"charge refused"')).toEqual([1])
  expect(found('"refused charge"')).toEqual([])
  expect(found('"refused timeoutexception"')).toEqual([])
  expect(found('"no answer')).toEqual([1])
})

describe('the failure of a flow', () => {
  const at = (ms: number) => Date.parse('2026-01-31T09:30:00.000Z') + ms
  const logs = logsOf(
    applicationEntry(0, 'A', { message: 'early', level: 'Error', exception: 'Early: gone' }),
    eventEntry(10, 'order', 'pay', { payload: 'declined', level: 'Error' }),
    applicationEntry(20, 'A', { message: 'thrown', level: 'Error', exception: 'Late: gone' }),
    applicationEntry(30, 'A', { message: 'gave up', level: 'Critical' }),
    applicationEntry(40, 'A', { message: 'slow', level: 'Warning', exception: 'Slow: no error' }),
  )

  test('is the last exception since it last went on, or else the last error', () => {
    expect(failingLog(logs, at(5))?.entry).toMatchObject({ message: 'thrown' })
    expect(failingLog(logs, at(25))?.entry).toMatchObject({ message: 'gave up' })
    expect(failingLog(logs, at(35))).toBeUndefined()
  })

  test('is told by the time of its log, also where logs are ordered by receipt', () => {
    const early = { receivedAt: iso(0), level: 'Error', payload: 'clock ahead' } as const
    const [log] = readLogs([eventEntry(20_000, 'order', 'pay', early)], 'receivedAt')
    expect(failingLog([log!], at(10_000))).toBe(log)
  })

  const frame = (call: string, place: string, firstOwn: boolean) => ({
    ...{ call, place, note: '', framework: !firstOwn, firstOwn },
  })
  const part = { depth: 0, type: 'Acme.PaymentFailedException', message: 'insufficient_funds\nmore', omitted: '' }

  test.each([
    [[], 'outcome=declined', 'pay'],
    [
      [
        {
          ...part,
          frames: [frame('Run()', '/host.cs:1', false), frame('Handle()', '/src/CaptureHandler.cs:87', true)],
        },
      ],
      'PaymentFailedException: insufficient_funds',
      'CaptureHandler.cs:87',
    ],
    [
      [{ ...part, frames: [frame('Acme.Handle()', '', true)] }],
      'PaymentFailedException: insufficient_funds',
      'Acme.Handle()',
    ],
    [
      [{ ...part, frames: [frame('Handle()', 'C:\\src\\A.cs:7', true)] }],
      'PaymentFailedException: insufficient_funds',
      'A.cs:7',
    ],
    [[{ ...part, type: '', message: '', frames: [] }], 'outcome=declined', 'pay'],
  ])('%j is %j at %j', (parts, what, where) => {
    const [log] = logsOf(eventEntry(0, 'order', 'pay', { payload: '{"outcome":"declined"}' }))
    expect(failureText(log!, parts)).toEqual({ what, where })
  })
})
