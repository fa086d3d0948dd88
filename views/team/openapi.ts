import type { ErrorCode } from '../../shared/contract/errors.ts'
import { type JsonSchema, text } from '../../shared/contract/json-schema.ts'
import {
  failureResponses,
  jsonBody,
  type OpenApiPart,
  type Operation,
  successResponse,
} from '../../shared/openapi/document.ts'
import { VIEW_STATUS } from '../api/problems.ts'
import { REFUSED } from '../schemas/answers.ts'
import {
  DeletedSearch,
  NewKey,
  OwnEvent,
  OwnProject,
  OwnStep,
  OwnTeam,
  RevokedKey,
  SampleFlow,
  SavedSearch,
  SavedSearches,
  Snippets,
  TeamLists,
  TeamSettings,
} from '../schemas/team.ts'
import {
  DeletedWatch,
  MadeWatch,
  NewWatch,
  TestedWatch,
  type Watch,
  WatchDetails,
  Watches,
} from '../schemas/watches.ts'
import { bodyOf } from './bodies.ts'
import { type Kind, SEARCH_FIELDS, TAKEN } from './changes.ts'
import { listsOf } from './settings.ts'

const TAG = 'Team'

const EVENT = { identifier: 'order-placed', name: 'Order placed', archivedAt: null }
const STEP = { identifier: 'order-placed.ship', name: 'Ship', event: 'order-placed', order: 3, archivedAt: null }
const PROJECT = { id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', name: 'Checkout API', archivedAt: null }
const ARCHIVED_PROJECT = { ...PROJECT, archivedAt: '2026-01-31T09:30:00.000Z' }
const SEARCH: SavedSearch = {
  id: '0198d5b2-7c1e-4000-8a3b-2f4c6d8e0a1b',
  name: 'Declined cards',
  page: 'event-logs',
  params: { q: 'payload.outcome:declined', from: 'now-7d', columns: 'level,payload.order.id,payload,correlationKey' },
}
const WATCH: Watch = {
  id: '0198d5b2-7c1e-4000-8a3b-2f4c6d8e0a1c',
  name: 'Declined cards',
  condition: { type: 'count', list: 'event-logs', params: { q: 'payload.outcome:declined' }, more: 20, minutes: 5 },
  webhook: { url: 'https://hooks.example.com/sluice', format: 'json' },
  paused: false,
  state: 'met',
  lastEvaluatedAt: '2026-01-31T09:30:00.000Z',
  error: null,
  delivery: null,
  gaveUpAt: null,
}
const FIRED: WatchDetails['history'][number] = {
  at: '2026-01-31T09:29:30.000Z',
  outcome: 'fired',
  text: '37 logs within 5 min, more than 20.',
}
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwB1xNkQ4mXzI='
const SNIPPETS = { snippets: [{ id: 'curl', name: 'cURL', code: "curl '<GATEWAY>/api/ExternalLogs' …" }] }
const SEEN = { lastSeenAt: '2026-01-31T09:30:00.123Z', lastDay: 42 }
const { event: _event, ...LISTED_STEP } = STEP

const SETTINGS: TeamSettings = {
  team: { id: 'payments', name: 'Payments', defaultProject: null },
  keys: [{ prefix: 'sl_3fA', createdAt: '2026-01-01T08:00:00.000Z', revokedAt: null }],
  events: [{ ...EVENT, ...SEEN, steps: [{ ...LISTED_STEP, lastSeenAt: null, lastDay: 0 }] }],
  steps: [],
  projects: [{ ...PROJECT, ...SEEN }],
  limits: { entriesPerSecond: 2_000, bytesPerSecond: null, burstSeconds: 10, shadow: false },
  refused: REFUSED,
  gateway: { url: 'https://logs.example.com', here: false },
}

const DETAILS = {
  invalid_request: [{ path: '/name', message: 'is empty' }],
  payload_too_large: { limit: 16_384 },
  rate_limited: { retryAfterSeconds: 3_600 },
}

const ALL: readonly ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'server_error', 'invalid_request']
const READS: readonly ErrorCode[] = [...ALL, 'rate_limited']
const SENDS: readonly ErrorCode[] = [
  ...ALL,
  'malformed_json',
  'cross_origin',
  'conflict',
  'payload_too_large',
  'unsupported_media_type',
  'request_timeout',
]
const WRITES: readonly ErrorCode[] = [...SENDS, 'rate_limited']

type SchemaAndExample = readonly [schema: JsonSchema, example: unknown]

interface Details {
  readonly codes?: readonly ErrorCode[]
  readonly status?: 200 | 201
  /** Left out where the operation takes no body. */
  readonly body?: SchemaAndExample
  /** The operation can then find nothing, too. */
  readonly parameters?: readonly JsonSchema[] | undefined
}

const operation = (
  operationId: string,
  summary: string,
  [data, example]: SchemaAndExample,
  { codes = WRITES, status = 200, body, parameters }: Details = {},
): Operation => ({
  operationId,
  tags: [TAG],
  summary,
  ...(parameters && { parameters }),
  ...(body && { requestBody: jsonBody(...body) }),
  responses: {
    [status]: successResponse(status === 201 ? 'Made.' : 'Done.', data, { example }),
    ...failureResponses(parameters ? [...codes, 'not_found'] : codes, VIEW_STATUS, DETAILS),
  },
})
const read = (operationId: string, summary: string, data: SchemaAndExample, parameters?: readonly JsonSchema[]) => ({
  get: operation(operationId, summary, data, { codes: READS, parameters }),
})

const inPath = (name: string, example: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  schema: text,
  example,
})

/** The query parameter for `.` and `..`, which URL parsers remove from a path. */
const elsewhere: JsonSchema = {
  name: 'identifier',
  in: 'query',
  description: 'The identifier, with `-` in its place in the path: for `.` and `..`, which no path can hold.',
  schema: text,
}
const EVENT_IN_PATH = [inPath('identifier', EVENT.identifier), elsewhere]
const STEP_IN_PATH = [inPath('identifier', STEP.identifier), elsewhere]
const PROJECT_IN_PATH = [inPath('id', PROJECT.id)]
const SEARCH_IN_PATH = [inPath('id', SEARCH.id)]
const WATCH_IN_PATH = [inPath('id', WATCH.id)]

const newOf = (kind: Kind): JsonSchema => bodyOf(TAKEN[kind].create, TAKEN[kind].create.slice(0, 1))
const changedOf = (kind: Kind): JsonSchema => bodyOf(TAKEN[kind].change)
const snippetsFor = (operationId: string, owned: string, parameters: readonly JsonSchema[]) => {
  const summary = `Code that sends a log to ${owned}; <GATEWAY> and <API_KEY> stand in it`
  return read(operationId, summary, [Snippets, SNIPPETS], parameters)
}

const { name, condition, webhook } = WATCH

const WATCHES: OpenApiPart['paths'] = {
  '/api/team/watches': {
    ...read('listWatches', 'The watches, by name', [Watches, { items: [WATCH] }]),
    post: operation(
      'createWatch',
      'Creates a watch, and returns the secret that signs its messages; a Team has 50 at most',
      [MadeWatch, { ...WATCH, state: 'new', lastEvaluatedAt: null, secret: SECRET }],
      { status: 201, body: [NewWatch, { name, condition, webhook }] },
    ),
  },
  '/api/team/watches/{id}': {
    ...read('getWatch', 'A watch with its history', [WatchDetails, { ...WATCH, history: [FIRED] }], WATCH_IN_PATH),
    patch: operation(
      'changeWatch',
      'Changes a watch; after a pause or a change of its condition, it starts over',
      [MadeWatch, { ...WATCH, state: 'paused', paused: true, secret: null }],
      { parameters: WATCH_IN_PATH, body: [{ ...NewWatch, required: [] }, { paused: true }] },
    ),
    delete: operation('deleteWatch', 'Deletes a watch with its history', [DeletedWatch, { id: WATCH.id }], {
      parameters: WATCH_IN_PATH,
    }),
  },
  '/api/team/watches/{id}/test': {
    post: operation(
      'testWatch',
      'Posts a test to the webhook of a watch, and returns the result',
      [TestedWatch, { delivered: false, status: 500, message: 'The receiver answered 500.' }],
      { parameters: WATCH_IN_PATH },
    ),
  },
}

/** The operations of the Team's own settings: keys, Events, Steps, Projects, saved searches and watches. */
export const teamPart: OpenApiPart = {
  tags: [
    {
      name: TAG,
      description: 'The settings of the Team: its keys, Events, Steps, Projects, saved searches and watches.',
    },
  ],
  paths: {
    '/api/team': {
      ...read('getTeam', 'The Team and all that it owns', [TeamSettings, SETTINGS]),
      patch: operation(
        'changeTeam',
        'Names the Project for logs of unknown services',
        [OwnTeam, { ...SETTINGS.team, defaultProject: PROJECT.id }],
        { body: [bodyOf(['defaultProject'], ['defaultProject']), { defaultProject: PROJECT.id }] },
      ),
    },
    '/api/team/lists': {
      ...read('getTeamLists', 'All that the Team owns as lists, each line with the changes that can be made to it', [
        TeamLists,
        listsOf(SETTINGS),
      ]),
    },
    '/api/team/keys': {
      post: operation(
        'createKey',
        'Creates a key, shown once; a third live key is refused, and more than 20 within 24 hours',
        [NewKey, { key: 'sl_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4', prefix: 'sl_Zm9', revoked: [] }],
        { status: 201, body: [bodyOf(['revokeOld']), { revokeOld: false }] },
      ),
    },
    '/api/team/keys/{prefix}': {
      delete: operation(
        'revokeKey',
        'Revokes a key; the last live key cannot be revoked',
        [RevokedKey, { prefix: 'sl_3fA', liveKeys: 1 }],
        { parameters: [inPath('prefix', 'sl_3fA')] },
      ),
    },
    '/api/team/events': {
      post: operation('createEvent', 'A new Event', [OwnEvent, EVENT], {
        status: 201,
        body: [newOf('event'), { identifier: EVENT.identifier, name: EVENT.name }],
      }),
    },
    '/api/team/events/{identifier}': {
      patch: operation(
        'changeEvent',
        'Renames, archives or restores an Event, and its Steps with it',
        [OwnEvent, EVENT],
        { parameters: EVENT_IN_PATH, body: [changedOf('event'), { name: EVENT.name }] },
      ),
    },
    '/api/team/steps': {
      post: operation('createStep', 'A new Step', [OwnStep, STEP], {
        status: 201,
        body: [newOf('step'), { identifier: STEP.identifier, event: STEP.event, name: STEP.name }],
      }),
    },
    '/api/team/steps/{identifier}': {
      patch: operation('changeStep', 'Renames, moves, archives or restores a Step', [OwnStep, STEP], {
        parameters: STEP_IN_PATH,
        body: [changedOf('step'), { order: STEP.order }],
      }),
    },
    '/api/team/projects': {
      post: operation(
        'createProject',
        'A new Project; its id is made where none is given',
        [OwnProject, ARCHIVED_PROJECT],
        { status: 201, body: [newOf('project'), { name: PROJECT.name }] },
      ),
    },
    '/api/team/projects/{id}': {
      patch: operation('changeProject', 'Renames, archives or restores a Project', [OwnProject, ARCHIVED_PROJECT], {
        parameters: PROJECT_IN_PATH,
        body: [changedOf('project'), { archived: true }],
      }),
    },
    '/api/team/events/{identifier}/snippets': snippetsFor('eventSnippets', 'an Event', EVENT_IN_PATH),
    '/api/team/steps/{identifier}/snippets': snippetsFor('stepSnippets', 'a Step', STEP_IN_PATH),
    '/api/team/projects/{id}/snippets': snippetsFor('projectSnippets', 'a Project', PROJECT_IN_PATH),
    '/api/team/searches': {
      ...read('listSearches', 'The saved searches, by name', [SavedSearches, { items: [SEARCH] }]),
      post: operation('createSearch', 'Saves a search for all members; a Team has 100 at most', [SavedSearch, SEARCH], {
        status: 201,
        body: [bodyOf(SEARCH_FIELDS, SEARCH_FIELDS), { name: SEARCH.name, page: SEARCH.page, params: SEARCH.params }],
      }),
    },
    '/api/team/searches/{id}': {
      patch: operation('renameSearch', 'Renames a saved search', [SavedSearch, SEARCH], {
        parameters: SEARCH_IN_PATH,
        body: [bodyOf(['name'], ['name']), { name: SEARCH.name }],
      }),
      delete: operation('deleteSearch', 'Deletes a saved search, for all members', [DeletedSearch, { id: SEARCH.id }], {
        parameters: SEARCH_IN_PATH,
      }),
    },
    ...WATCHES,
    '/api/team/sample-flow': {
      post: operation(
        'sendSampleFlow',
        'Sends a sample flow through the gateway',
        [SampleFlow, { correlationKey: 'sample-2026-01-31-3fa94c', sent: 8 }],
        { codes: SENDS },
      ),
    },
  },
}
