import type { ErrorCode } from '../../shared/errors.ts'
import {
  arrayOf,
  type JsonSchema,
  jsonContent,
  nullable,
  type OpenApiPart,
  type Operation,
  objectOf,
  schemaRef,
  successOf,
} from '../../shared/openapi/document.ts'
import { failureResponses } from '../../shared/openapi/failures.ts'
import { VIEW_STATUS } from '../api/problems.ts'
import { listsOf } from './settings.ts'

const TAG = 'Team'

const text: JsonSchema = { type: 'string' }
const time: JsonSchema = { type: 'string', format: 'date-time' }
const optionalTime: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

const archivedAt: JsonSchema = {
  ...optionalTime,
  description: 'Since when logs are refused; null while they are taken.',
}
const seen = {
  lastSeenAt: {
    ...optionalTime,
    description: 'The latest entry of the last 24 hours; null where there is none, or unknown.',
  },
  lastDay: { type: ['integer', 'null'], description: 'Entries of the last 24 hours; null where that is unknown.' },
}
const event = { identifier: text, name: text, archivedAt }
const step = { identifier: text, name: text, order: { type: 'integer' }, archivedAt }
const project = { id: { type: 'string', format: 'uuid' }, name: text, archivedAt }

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  TeamStep: objectOf({ ...step, ...seen }),
  TeamEvent: objectOf({ ...event, ...seen, steps: arrayOf(schemaRef('TeamStep')) }),
  TeamProject: objectOf({ ...project, ...seen }),
  TeamKey: objectOf({
    prefix: { type: 'string', description: 'The first characters of the key; the key itself is kept nowhere.' },
    createdAt: time,
    revokedAt: optionalTime,
  }),
  TeamSettings: objectOf({
    team: objectOf({ id: text, name: text }),
    keys: { ...arrayOf(schemaRef('TeamKey')), description: 'The live ones, and the 50 that were revoked last.' },
    events: arrayOf(schemaRef('TeamEvent')),
    steps: { ...arrayOf(schemaRef('TeamStep')), description: 'Those that stand without an Event.' },
    projects: arrayOf(schemaRef('TeamProject')),
    gateway: objectOf({
      url: { type: ['string', 'null'], description: 'Where clients reach the gateway; null where nothing says so.' },
      here: { type: 'boolean', description: 'Whether this address takes logs as well.' },
    }),
  }),
  TeamLists: objectOf({
    lists: arrayOf(schemaRef('TeamList')),
    targets: {
      ...objectOf({ event: nullable(text), application: nullable(text), flow: nullable(text) }),
      description: 'Where code is that sends a first log of each kind; null where there is nothing to send to.',
    },
  }),
  TeamList: objectOf({
    kind: { type: 'string', enum: ['entities', 'projects', 'keys'] },
    lines: arrayOf(schemaRef('TeamLine')),
    changes: {
      type: 'object',
      additionalProperties: schemaRef('TeamAction'),
      description: 'The changes that can be made to lines, by their kinds.',
    },
    actions: { ...arrayOf(schemaRef('TeamAction')), description: 'The changes that need no line, such as a new one.' },
    options: {
      type: 'object',
      additionalProperties: arrayOf(arrayOf(text)),
      description: 'The values of fields, each with its name, by the names of the fields; any other field is typed.',
    },
  }),
  TeamLine: objectOf({
    kind: { type: 'string', enum: ['event', 'step', 'project', 'key'] },
    id: text,
    name: { type: ['string', 'null'], description: 'Null for a key.' },
    path: { ...text, description: 'Where the API has it, below the base path.' },
    below: { type: 'boolean', description: 'Whether it belongs to the Event above.' },
    state: { type: 'string', enum: ['live', 'archived', 'revoked'] },
    at: { ...optionalTime, description: 'When it was last seen, or made; null where that is not known.' },
    lastDay: seen.lastDay,
    snippets: {
      type: 'boolean',
      description: 'Whether there is code that sends to it, which `/snippets` below its path gives.',
    },
    changes: { ...arrayOf(text), description: "The kinds of those of its list's changes that can be made to it." },
  }),
  TeamAction: {
    ...objectOf(
      {
        kind: {
          type: 'string',
          enum: [
            'newEvent',
            'newStep',
            'newProject',
            'newKey',
            'replaceKeys',
            'rename',
            'archive',
            'restore',
            'revoke',
          ],
        },
        method: { type: 'string', enum: ['POST', 'PATCH', 'DELETE'] },
        path: { ...text, description: 'Below the base path; left out, that of the line.' },
        body: { type: 'object' },
        fields: {
          ...arrayOf(
            objectOf(
              {
                name: { type: 'string', enum: ['name', 'identifier', 'id', 'event'] },
                from: { enum: ['id', 'name'], description: 'The member of the line that the value begins with.' },
                required: { type: 'boolean' },
              },
              ['from', 'required'],
            ),
          ),
          description: 'The fields to ask a person for; one that is left empty is left out of the body.',
        },
        isDanger: { type: 'boolean', description: 'Whether it cannot be undone.' },
        isRefused: { type: 'boolean', description: 'Whether it would be refused now.' },
      },
      ['path', 'body', 'fields', 'isDanger', 'isRefused'],
    ),
    description: 'A change that can be made: the request, and the fields to ask a person for.',
  },
  NewKey: objectOf({
    key: { type: 'string', description: 'Given here once.' },
    prefix: text,
    revoked: { ...arrayOf(text), description: 'The first characters of the keys that ended with it.' },
  }),
  RevokedKey: objectOf({ prefix: text, liveKeys: { type: 'integer', description: 'How many are left.' } }),
  OwnEvent: objectOf(event),
  OwnStep: objectOf({ ...step, event: nullable(text) }),
  OwnProject: objectOf(project),
  Snippets: objectOf({ snippets: arrayOf(objectOf({ id: text, name: text, code: text })) }),
  SampleFlow: objectOf({ correlationKey: text, sent: { type: 'integer', description: 'Entries sent.' } }),
}

const anEvent = { identifier: 'order-placed', name: 'Order placed', archivedAt: null }
const aStep = { identifier: 'order-placed.ship', name: 'Ship', event: 'order-placed', order: 3, archivedAt: null }
const aProject = { id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', name: 'Checkout API', archivedAt: null }
const day = { lastSeenAt: '2026-01-31T09:30:00.123Z', lastDay: 42 }
const { event: _event, ...listedStep } = aStep

const SETTINGS = {
  team: { id: 'payments', name: 'Payments' },
  keys: [{ prefix: 'sl_3fA', createdAt: '2026-01-01T08:00:00.000Z', revokedAt: null }],
  events: [{ ...anEvent, ...day, steps: [{ ...listedStep, lastSeenAt: null, lastDay: 0 }] }],
  steps: [],
  projects: [{ ...aProject, ...day }],
  gateway: { url: 'https://logs.example.com', here: false },
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  TeamSettings: SETTINGS,
  TeamLists: listsOf(SETTINGS),
  NewKey: { key: 'sl_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4', prefix: 'sl_Zm9', revoked: [] },
  RevokedKey: { prefix: 'sl_3fA', liveKeys: 1 },
  OwnEvent: anEvent,
  OwnStep: aStep,
  OwnProject: { ...aProject, archivedAt: '2026-01-31T09:30:00.000Z' },
  Snippets: { snippets: [{ id: 'curl', name: 'cURL', code: "curl '<GATEWAY>/api/ExternalLogs' …" }] },
  SampleFlow: { correlationKey: 'sample-2026-01-31-3fa94c', sent: 8 },
}

const DETAILS = {
  invalid_request: [{ path: '/name', message: 'is empty' }],
  payload_too_large: { limit: 16_384 },
  rate_limited: { retryAfterSeconds: 3_600 },
}

const READS: readonly ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'server_error']
const WRITES: readonly ErrorCode[] = [
  ...READS,
  'invalid_request',
  'malformed_json',
  'cross_origin',
  'conflict',
  'payload_too_large',
  'unsupported_media_type',
]

interface Purpose {
  readonly operationId: string
  readonly summary: string
  readonly result: string
  readonly status?: 200 | 201
  readonly codes?: readonly ErrorCode[]
  /** The fields of the body, and an example of it; without them it takes none. */
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown }
  readonly parameters?: readonly JsonSchema[]
}

const operation = ({
  operationId,
  summary,
  result,
  status = 200,
  codes = WRITES,
  body,
  parameters,
}: Purpose): Operation => ({
  operationId,
  tags: [TAG],
  summary,
  ...(parameters && { parameters }),
  ...(body && {
    requestBody: { required: true, content: jsonContent(body.schema, { example: { value: body.example } }) },
  }),
  responses: {
    [status]: {
      description: status === 201 ? 'Made.' : 'Done.',
      content: jsonContent(successOf(schemaRef(result)), {
        example: { value: { success: true, data: EXAMPLES[result] } },
      }),
    },
    ...failureResponses(codes, VIEW_STATUS, DETAILS),
  },
})

const inPath = (name: string, example: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  example,
})

/** Not in a path: `.` and `..`, which clients take out of it. */
const elsewhere: JsonSchema = {
  name: 'identifier',
  in: 'query',
  description: 'The identifier, with `-` in its place in the path: for `.` and `..`, which no path can hold.',
  schema: text,
}

const fieldsOf = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const archived: JsonSchema = {
  type: 'boolean',
  description: 'Archived things refuse logs; stored ones keep their names.',
}
/** Code that sends a log to one of what the Team owns. */
const snippetsFor = (operationId: string, what: string, parameters: readonly JsonSchema[]) => ({
  get: operation({
    operationId,
    summary: `Code that sends a log to ${what}; <GATEWAY> and <API_KEY> stand in it`,
    result: 'Snippets',
    codes: [...READS, 'invalid_request', 'not_found'],
    parameters,
  }),
})

const stepFields = {
  name: text,
  event: { type: ['string', 'null'], description: 'An Event of the Team; null for a Step that stands alone.' },
  order: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Left out: after the last one.' },
}

/** The Team's own settings: what it owns, and its keys. */
export const teamPart: OpenApiPart = {
  tags: [{ name: TAG, description: 'The settings of the Team: its keys, Events, Steps and Projects.' }],
  schemas: SCHEMAS,
  paths: {
    '/api/team': {
      get: operation({
        operationId: 'getTeam',
        summary: 'The Team and all that it owns',
        result: 'TeamSettings',
        codes: [...READS, 'invalid_request'],
      }),
    },
    '/api/team/lists': {
      get: operation({
        operationId: 'getTeamLists',
        summary: 'All that the Team owns as lists, each line with the changes that can be made to it',
        result: 'TeamLists',
        codes: [...READS, 'invalid_request'],
      }),
    },
    '/api/team/keys': {
      post: operation({
        operationId: 'createKey',
        summary: 'A new key, shown once; a third live one is refused, and more than 20 within 24 hours',
        result: 'NewKey',
        status: 201,
        codes: [...WRITES, 'rate_limited'],
        body: {
          schema: fieldsOf({ revokeOld: { type: 'boolean', description: 'End all other keys at once.' } }),
          example: { revokeOld: false },
        },
      }),
    },
    '/api/team/keys/{prefix}': {
      delete: operation({
        operationId: 'revokeKey',
        summary: 'Ends a key for good; the last live one is refused',
        result: 'RevokedKey',
        codes: [...WRITES, 'not_found'],
        parameters: [inPath('prefix', 'sl_3fA')],
      }),
    },
    '/api/team/events': {
      post: operation({
        operationId: 'createEvent',
        summary: 'A new Event',
        result: 'OwnEvent',
        status: 201,
        body: {
          schema: fieldsOf({ identifier: text, name: text }, ['identifier']),
          example: { identifier: 'order-placed', name: 'Order placed' },
        },
      }),
    },
    '/api/team/events/{identifier}': {
      patch: operation({
        operationId: 'changeEvent',
        summary: 'Renames, archives or restores an Event, and its Steps with it',
        result: 'OwnEvent',
        codes: [...WRITES, 'not_found'],
        parameters: [inPath('identifier', anEvent.identifier), elsewhere],
        body: { schema: fieldsOf({ name: text, archived }), example: { name: 'Order placed' } },
      }),
    },
    '/api/team/steps': {
      post: operation({
        operationId: 'createStep',
        summary: 'A new Step',
        result: 'OwnStep',
        status: 201,
        body: {
          schema: fieldsOf({ identifier: text, ...stepFields }, ['identifier']),
          example: { identifier: aStep.identifier, event: aStep.event, name: aStep.name },
        },
      }),
    },
    '/api/team/steps/{identifier}': {
      patch: operation({
        operationId: 'changeStep',
        summary: 'Renames, moves, archives or restores a Step',
        result: 'OwnStep',
        codes: [...WRITES, 'not_found'],
        parameters: [inPath('identifier', aStep.identifier), elsewhere],
        body: { schema: fieldsOf({ ...stepFields, archived }), example: { order: 3 } },
      }),
    },
    '/api/team/projects': {
      post: operation({
        operationId: 'createProject',
        summary: 'A new Project; its id is made where none is given',
        result: 'OwnProject',
        status: 201,
        body: {
          schema: fieldsOf({ name: text, id: { type: 'string', description: 'A GUID in any form.' } }, ['name']),
          example: { name: 'Checkout API' },
        },
      }),
    },
    '/api/team/projects/{id}': {
      patch: operation({
        operationId: 'changeProject',
        summary: 'Renames, archives or restores a Project',
        result: 'OwnProject',
        codes: [...WRITES, 'not_found'],
        parameters: [inPath('id', aProject.id)],
        body: { schema: fieldsOf({ name: text, archived }), example: { archived: true } },
      }),
    },
    '/api/team/events/{identifier}/snippets': snippetsFor('eventSnippets', 'an Event', [
      inPath('identifier', anEvent.identifier),
      elsewhere,
    ]),
    '/api/team/steps/{identifier}/snippets': snippetsFor('stepSnippets', 'a Step', [
      inPath('identifier', aStep.identifier),
      elsewhere,
    ]),
    '/api/team/projects/{id}/snippets': snippetsFor('projectSnippets', 'a Project', [inPath('id', aProject.id)]),
    '/api/team/sample-flow': {
      post: operation({
        operationId: 'sendSampleFlow',
        summary: 'Sends a flow to look at through the gateway',
        result: 'SampleFlow',
      }),
    },
  },
}
