import { problem } from '../../shared/errors.ts'
import type { JsonSchema } from '../../shared/openapi/document.ts'
import type { DetailsExamples } from '../../shared/openapi/failures.ts'

/** Named examples of a request body and of its success. */
export interface EndpointExamples {
  readonly request: Readonly<Record<string, JsonSchema>>
  readonly answer: Readonly<Record<string, JsonSchema>>
}

const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

const created = { summary: 'Taken', value: { success: true, data: { id: '01981f2e-7c1a-7000-8000-9a3c5b7d1e42' } } }

const { code, message, details, retryable } = problem('invalid_log_level')

const applicationEntry = {
  categoryName: 'Acme.Billing.Invoices',
  eventId: 2001,
  eventName: 'InvoiceSent',
  message: 'Invoice 4711 was sent',
  level: 'Information',
  exception: null,
  scopeData: { tenant: 'acme', attempt: 1 },
  correlationKey: 'order-4711',
  environment: 'Production',
}

export const INGESTION_EXAMPLES = {
  event: {
    request: {
      step: {
        summary: 'A log of a Step',
        value: {
          uniqueIdentifier: 'order-placed.validate',
          payload: '{"order":4711,"valid":true}',
          level: 'Information',
          correlationKey: 'order-4711',
          environment: 'Production',
        },
      },
      least: {
        summary: 'No more than is required',
        value: { uniqueIdentifier: 'order-placed', payload: 'Order 4711 was placed', level: 'information' },
      },
    },
    answer: { created },
  },
  application: {
    request: {
      full: { summary: 'Every field', value: { uniqueIdentifier: PROJECT, ...applicationEntry } },
      least: {
        summary: 'No more than is required',
        value: { uniqueIdentifier: PROJECT, categoryName: 'Acme.Billing', message: 'Started', level: 'Debug' },
      },
    },
    answer: { created },
  },
  batch: {
    request: {
      two: {
        summary: 'Two logs',
        value: {
          uniqueIdentifier: PROJECT,
          logEntries: [
            { ...applicationEntry, timestamp: '2026-01-31T09:30:00.123Z' },
            { categoryName: 'Acme.Billing', message: 'Done', level: 'Debug', timestamp: null },
          ],
        },
      },
    },
    answer: {
      all: {
        summary: 'All taken',
        value: { success: true, data: { message: 'Successfully processed 2 log entries', count: 2 } },
      },
      partial: {
        summary: 'Some refused',
        value: {
          success: true,
          data: {
            message: 'Successfully processed 1 of 2 log entries',
            count: 1,
            rejected: 1,
            errors: [{ index: 1, code, message, details, retryable }],
          },
        },
      },
    },
  },
} as const satisfies Record<string, EndpointExamples>

export const DETAILS: DetailsExamples = {
  invalid_request: [{ path: '/scopeData', message: 'must be a JSON object' }],
}
