import { problem } from '../../shared/errors.ts'
import type { DetailsExamples } from '../../shared/openapi/failures.ts'

export const OTLP_EXAMPLES = {
  request: {
    one: {
      summary: 'One log record',
      value: {
        resourceLogs: [
          {
            resource: {
              attributes: [
                { key: 'service.name', value: { stringValue: 'Checkout API' } },
                { key: 'deployment.environment.name', value: { stringValue: 'Production' } },
              ],
            },
            scopeLogs: [
              {
                scope: { name: 'checkout.payments' },
                logRecords: [
                  {
                    timeUnixNano: '1769851800123000000',
                    severityNumber: 9,
                    severityText: 'INFO',
                    body: { stringValue: 'Payment accepted' },
                    attributes: [{ key: 'order', value: { intValue: '4711' } }],
                    traceId: '5b8efff798038103d269b633813fc60c',
                    spanId: 'eee19b7ec3c1b174',
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  },
  answer: {
    all: { summary: 'All taken', value: {} },
    partial: {
      summary: 'Some rejected',
      value: {
        partialSuccess: {
          rejectedLogRecords: '2',
          errorMessage: `2 with invalid_timestamp: ${problem('invalid_timestamp').message}`,
        },
      },
    },
  },
  failure: {
    refused: {
      summary: 'Refused',
      value: {
        code: 16,
        message: problem('missing_api_key').message,
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'missing_api_key', domain: 'sluice' }],
      },
    },
  },
} as const

export const CLEF_EXAMPLE = {
  two: {
    summary: 'Two events',
    value:
      '{"@t":"2026-01-31T09:30:00.1230000Z","@mt":"Order {Order} was placed","Order":4711,"SourceContext":"Shop.Checkout"}\n' +
      '{"@t":"2026-01-31T09:30:01.0000000Z","@m":"Payment failed","@l":"Error","@x":"System.TimeoutException: no answer"}\n',
  },
} as const

export const DETAILS: DetailsExamples = {
  invalid_request: [{ path: '/correlationKey', message: 'must have at most 512 bytes in UTF-8' }],
}
