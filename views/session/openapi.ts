import { type JsonSchema, objectOf, text } from '../../shared/contract/json-schema.ts'
import { failureResponses, jsonBody, type OpenApiPart, successResponse } from '../../shared/openapi/document.ts'
import { VIEW_STATUS } from '../api/problems.ts'
import { REFUSED, Session } from '../schemas/answers.ts'
import { SESSION_COOKIE } from './cookie.ts'

const TAG = 'Session'

/** These operations need no session. */
const OPEN = { tags: [TAG], security: [] }

const signedIn: Session = { team: { id: 'payments', name: 'Payments' }, keyPrefix: 'sl_3fA', refused: REFUSED }
const nobody: Session = { team: null, keyPrefix: null, refused: null }

const DETAILS = {
  invalid_request: [{ path: '/apiKey', message: 'must be a key of the Team, a string' }],
  too_many_attempts: { retryAfterSeconds: 6 },
}

const session = (description: string, examples: Readonly<Record<string, Session>>): JsonSchema =>
  successResponse(description, Session, examples)

/** The page signs in and out with these operations. Programs send their key with each request and do not need them. */
export const sessionPart: OpenApiPart = {
  tags: [
    {
      name: TAG,
      description: `The page signs in with a key once, and from then on with the cookie \`${SESSION_COOKIE}\`.`,
    },
  ],
  paths: {
    '/api/session': {
      get: {
        ...OPEN,
        operationId: 'getSession',
        summary: 'The Team of the session',
        responses: {
          200: session('The Team that is signed in; `team` is null where none is.', { signedIn, nobody }),
          ...failureResponses(['server_error'], VIEW_STATUS, DETAILS),
        },
      },
      post: {
        ...OPEN,
        operationId: 'signIn',
        summary: 'Signs in with a key of the Team',
        description:
          'Only for pages of the same origin. After ten failures in a row a client has to wait before it may fail again.',
        requestBody: jsonBody(objectOf({ apiKey: { ...text, writeOnly: true } }), { apiKey: 'sl_…' }),
        responses: {
          200: session('Signed in; the answer sets the cookie.', { signedIn }),
          ...failureResponses(
            [
              'invalid_request',
              'malformed_json',
              'invalid_api_key',
              'cross_origin',
              'payload_too_large',
              'unsupported_media_type',
              'request_timeout',
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
          200: session('Signed out; the answer removes the cookie.', { nobody }),
          ...failureResponses(['cross_origin'], VIEW_STATUS, DETAILS),
        },
      },
    },
  },
}
