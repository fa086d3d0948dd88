import {
  type JsonSchema,
  jsonContent,
  nullable,
  type OpenApiPart,
  objectOf,
  schemaRef,
  successOf,
} from '../../shared/openapi/document.ts'
import { failureResponses } from '../../shared/openapi/failures.ts'
import { VIEW_STATUS } from '../api/problems.ts'
import { SESSION_COOKIE } from './cookie.ts'

const TAG = 'Session'

/** They are for whoever has no session yet, or none any more. */
const OPEN = { tags: [TAG], security: [] }

const signedIn = { team: { id: 'payments', name: 'Payments' }, keyPrefix: 'sl_3fA' }
const nobody = { team: null, keyPrefix: null }

const DETAILS = {
  invalid_request: [{ path: '/apiKey', message: 'must be a key of the Team, a string' }],
  too_many_attempts: { retryAfterSeconds: 6 },
}

const session = (description: string, examples: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  description,
  content: jsonContent(successOf(schemaRef('Session')), examples),
})

const example = (data: unknown): JsonSchema => ({ value: { success: true, data } })

/** How the page signs in and out. Programs send their key with each request and need none of this. */
export const sessionPart: OpenApiPart = {
  tags: [
    { name: TAG, description: `How the page signs in: a key once, and from then on the cookie \`${SESSION_COOKIE}\`.` },
  ],
  paths: {
    '/api/session': {
      get: {
        ...OPEN,
        operationId: 'getSession',
        summary: 'Whose session it is',
        responses: {
          200: session('The Team that is signed in; `team` is null where none is.', {
            signedIn: example(signedIn),
            nobody: example(nobody),
          }),
          ...failureResponses(['server_error'], VIEW_STATUS, DETAILS),
        },
      },
      post: {
        ...OPEN,
        operationId: 'signIn',
        summary: 'Signs in with a key of the Team',
        description:
          'Only for pages of the same origin. After ten failures in a row a client has to wait before it may fail again.',
        requestBody: {
          required: true,
          content: jsonContent(objectOf({ apiKey: { type: 'string', writeOnly: true } }), {
            example: { value: { apiKey: 'sl_…' } },
          }),
        },
        responses: {
          200: session('Signed in; the answer sets the cookie.', { signedIn: example(signedIn) }),
          ...failureResponses(
            [
              'invalid_request',
              'malformed_json',
              'invalid_api_key',
              'cross_origin',
              'payload_too_large',
              'unsupported_media_type',
              'too_many_attempts',
              'server_error',
            ],
            VIEW_STATUS,
            DETAILS,
          ),
        },
      },
      delete: {
        ...OPEN,
        operationId: 'signOut',
        summary: 'Signs out',
        responses: {
          200: session('Signed out; the answer takes the cookie away.', { nobody: example(nobody) }),
          ...failureResponses(['cross_origin'], VIEW_STATUS, DETAILS),
        },
      },
    },
  },
  schemas: {
    Session: objectOf({
      team: nullable(objectOf({ id: { type: 'string' }, name: { type: 'string' } })),
      keyPrefix: { type: ['string', 'null'], description: 'The first characters of the key that was signed in with.' },
    }),
  },
}
