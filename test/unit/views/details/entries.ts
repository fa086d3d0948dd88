import { LEVELS } from '../../../../shared/contract/levels.ts'
import type { ApplicationLog, EventLog } from '../../../../views/schemas/answers.ts'

const common = {
  id: '01981f2e-7c1a-7000-8000-9a3c5b7d1e42',
  receivedAt: '2026-01-31T09:30:00.127Z',
  timestamp: '2026-01-31T09:30:00.123Z',
  level: LEVELS[2],
  environment: 'Production',
  correlationKey: 'order-4711',
}

export const eventEntry = (fields: Partial<EventLog> = {}): EventLog => ({
  ...common,
  kind: 'event',
  event: { identifier: 'order-placed', name: 'Order placed' },
  step: { identifier: 'order-placed.validate', name: 'Validate' },
  payload: '{"order":4711}',
  ...fields,
})

export const applicationEntry = (fields: Partial<ApplicationLog> = {}): ApplicationLog => ({
  ...common,
  kind: 'application',
  project: { id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', name: 'Checkout API' },
  categoryName: 'Acme.Billing.Invoices',
  eventId: 2002,
  eventName: 'InvoiceFailed',
  message: 'Invoice 4711 could not be sent',
  exception: null,
  scopeData: { tenant: 'acme' },
  ...fields,
})
