import {
  arrayOf,
  type JsonSchema,
  jsonContent,
  type OpenApiPart,
  objectOf,
  schemaRef,
} from '../../shared/openapi/document.ts'

const TAG = 'Service'

/** These tell nothing about any Team, so they ask for no key. */
const OPEN = { tags: [TAG], security: [] }

const ready = { ready: true, parts: [{ name: 'journal', ready: true }] }
const notReady = { ready: false, parts: [{ name: 'journal', ready: false, reason: 'no broker answers' }] }

const readiness = (description: string, value: JsonSchema): JsonSchema => ({
  description,
  content: jsonContent(schemaRef('Readiness'), { example: { value } }),
})

/** What an operator asks a process. */
export const servicePart: OpenApiPart = {
  tags: [{ name: TAG, description: 'Health, metrics and this document.' }],
  paths: {
    '/health/live': {
      get: {
        ...OPEN,
        operationId: 'isLive',
        summary: 'Whether the process answers',
        responses: {
          200: {
            description: 'It does.',
            content: jsonContent(objectOf({ live: { const: true } }), { example: { value: { live: true } } }),
          },
        },
      },
    },
    '/health/ready': {
      get: {
        ...OPEN,
        operationId: 'isReady',
        summary: 'Whether the process can do its work',
        responses: { 200: readiness('It can.', ready), 503: readiness('It cannot; `parts` say why.', notReady) },
      },
    },
    '/metrics': {
      get: {
        ...OPEN,
        operationId: 'metrics',
        summary: 'Metrics for Prometheus, here unless METRICS_PORT gives them a port of their own',
        responses: {
          200: { description: 'All metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
        },
      },
    },
    '/openapi.json': {
      get: {
        ...OPEN,
        operationId: 'openApi',
        summary: 'This document; /docs shows it',
        responses: {
          200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
    },
  },
  schemas: {
    Readiness: objectOf({
      ready: { type: 'boolean' },
      parts: arrayOf(
        objectOf({ name: { type: 'string' }, ready: { type: 'boolean' }, reason: { type: 'string' } }, ['reason']),
      ),
    }),
  },
}
