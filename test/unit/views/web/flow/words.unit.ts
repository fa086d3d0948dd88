import { expect, test } from '@jest/globals'
import { createMatcher } from '../../../../../views/web/flow/words.ts'
import { applicationEntry, eventEntry, logsOf } from './flow-fixture.ts'

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
