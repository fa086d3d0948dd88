import { expect, test } from 'vitest'
import type { ApplicationLog, EventLog } from '../../../../clients/typescript/src/entries.ts'
import { compileValidators } from '../../../../gateway/schemas/validate.ts'

test('the gateway accepts what has these types', () => {
  const common = { correlationKey: 'order-1', environment: null, timestamp: '2026-01-31T09:30:00.123456789Z' } as const
  const log: Required<ApplicationLog> = {
    categoryName: 'Shop',
    eventId: 7,
    eventName: 'Paid',
    message: 'Paid',
    level: 'warning',
    exception: null,
    scopeData: { order: { id: 1 } },
    ...common,
  }
  const event: Required<EventLog> = { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Critical', ...common }
  const validators = compileValidators()
  expect([validators.batchEntry(log), validators.externalLog(event)]).toEqual([undefined, undefined])
  expect(validators.batchEntry({ ...log, eventId: 'x' })).toHaveLength(1)
})
