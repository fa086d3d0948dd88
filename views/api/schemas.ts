import { LEVELS } from '../../shared/contract/levels.ts'
import { LONG_FIELDS } from '../../shared/contract/rows.ts'
import { arrayOf, type JsonSchema, nullable, objectOf, schemaRef } from '../../shared/openapi/document.ts'
import { FLOW_STATES } from './flow-state.ts'

const text: JsonSchema = { type: 'string' }
const optionalText: JsonSchema = { type: ['string', 'null'] }
const guid: JsonSchema = { type: 'string', format: 'uuid' }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const cursor: JsonSchema = { type: ['string', 'null'], description: 'Where the next page begins; null at the end.' }
const time: JsonSchema = {
  type: 'string',
  format: 'date-time',
  description: 'UTC; from milliseconds to nanoseconds, as the sender gave them.',
}
const optionalTime: JsonSchema = { ...time, type: ['string', 'null'] }

const common = {
  id: guid,
  receivedAt: time,
  timestamp: time,
  level: schemaRef('Level'),
  environment: text,
  correlationKey: optionalText,
}

const facet = (value: JsonSchema = text): JsonSchema => arrayOf(objectOf({ value, count }))
const namedFacet = arrayOf(objectOf({ value: text, name: optionalText, count }))

const flowSummary = {
  correlationKey: text,
  firstAt: time,
  lastAt: time,
  total: count,
  levels: schemaRef('LevelCounts'),
  worstLevel: nullable(schemaRef('Level')),
  events: arrayOf(schemaRef('EntityRef')),
  steps: arrayOf(schemaRef('EntityRef')),
  projects: arrayOf(schemaRef('ProjectRef')),
  nextSteps: {
    ...arrayOf(schemaRef('EntityRef')),
    description: 'Of every Event touched, the Step after the furthest one seen; an Event at its last Step has none.',
  },
  lastErrorAt: { ...optionalTime, description: 'The latest entry of Error or Critical.' },
  lastProgressAt: { ...optionalTime, description: 'The latest entry of an Event or Step below Error.' },
  state: {
    enum: FLOW_STATES,
    description: 'What it seems to be doing: a guess, as logs never say that nothing more will come.',
  },
  reason: { type: 'string', description: 'Why one may think so.' },
}

const pageOf = (item: string): JsonSchema =>
  objectOf({ items: arrayOf(schemaRef(item)), nextCursor: cursor, query: schemaRef('QueryReading') })

const contextOf = (item: string): JsonSchema =>
  objectOf({ before: arrayOf(schemaRef(item)), entry: schemaRef(item), after: arrayOf(schemaRef(item)) })

const namedValue = {
  name: text,
  text,
  cut: { type: 'boolean', description: 'Whether an ellipsis stands for the end of the name or of the text.' },
  term: { ...optionalText, description: 'The search that finds the entries which share the value.' },
}

const truncated = {
  ...arrayOf({ enum: LONG_FIELDS }),
  description:
    'Of an item of a list or a tail: its long texts of which only the beginning is there. The entry by its id is whole.',
}

const more: JsonSchema = {
  type: 'boolean',
  description: 'Whether something was cut, which an ellipsis shows, or left out.',
}

/** What the read API answers, by name; docs/http.md says the same in words. */
export const VIEW_SCHEMAS = {
  Level: { type: 'string', enum: LEVELS },
  LevelCounts: {
    type: 'object',
    description: 'Entries by level; a level without any is left out.',
    propertyNames: { enum: LEVELS },
    additionalProperties: count,
  },
  EntityRef: {
    ...objectOf({ identifier: text, name: optionalText }),
    description: 'An Event or a Step; `name` is null where the registry no longer has it.',
  },
  ProjectRef: {
    ...objectOf({ id: guid, name: optionalText }),
    description: 'A Project; `name` is null where the registry no longer has it.',
  },
  EventLog: objectOf(
    {
      ...common,
      kind: { const: 'event' },
      event: nullable(schemaRef('EntityRef')),
      step: nullable(schemaRef('EntityRef')),
      payload: text,
      truncated,
    },
    ['truncated'],
  ),
  ApplicationLog: objectOf(
    {
      ...common,
      kind: { const: 'application' },
      project: schemaRef('ProjectRef'),
      categoryName: text,
      eventId: { type: 'integer' },
      eventName: text,
      message: text,
      exception: optionalText,
      scopeData: { type: ['object', 'null'] },
      originalLevel: {
        type: 'string',
        description: 'What the sender wrote as level, where it was none and was stored as Information.',
      },
      truncated,
    },
    ['originalLevel', 'truncated'],
  ),
  Entry: {
    oneOf: [schemaRef('EventLog'), schemaRef('ApplicationLog')],
    discriminator: {
      propertyName: 'kind',
      mapping: { event: '#/components/schemas/EventLog', application: '#/components/schemas/ApplicationLog' },
    },
  },
  QueryReading: {
    description: 'How `q` was read: as a query, or as plain text because of a problem at a character (from 0).',
    oneOf: [objectOf({ read: { const: 'query' } }), objectOf({ read: { const: 'text' }, problem: text, at: count })],
  },
  EventLogPage: pageOf('EventLog'),
  ApplicationLogPage: pageOf('ApplicationLog'),
  EventLogContext: contextOf('EventLog'),
  ApplicationLogContext: contextOf('ApplicationLog'),
  NamedValue: objectOf(namedValue),
  ParsedException: objectOf({
    depth: { ...count, description: 'How far inside other exceptions it stands.' },
    type: text,
    message: text,
    frames: arrayOf(
      objectOf({
        call: text,
        place: text,
        note: text,
        framework: { type: 'boolean', description: 'Of a runtime, a framework or a library.' },
        firstOwn: { type: 'boolean', description: "The exception's first frame of the program itself." },
      }),
    ),
    omitted: text,
  }),
  EntryDetails: objectOf({
    fields: arrayOf(schemaRef('NamedValue')),
    payload: nullable(objectOf({ text, values: arrayOf(schemaRef('NamedValue')), more })),
    scopes: nullable(
      objectOf({
        stack: arrayOf(text),
        values: arrayOf(
          objectOf({
            ...namedValue,
            hidden: { ...arrayOf(text), description: 'What the scopes around it gave for the same name.' },
          }),
        ),
        more,
      }),
    ),
    exception: nullable(objectOf({ parts: arrayOf(schemaRef('ParsedException')), more })),
    curl: {
      ...optionalText,
      description:
        'The command that sends it again, with `<GATEWAY>` for the URL of the gateway and `<API_KEY>` for a key; null where the entry is too long for one.',
    },
  }),
  Query: objectOf({ q: text }),
  Completion: {
    ...objectOf({
      from: count,
      to: count,
      choices: arrayOf(objectOf({ insert: text, label: text, help: text, count }, ['help', 'count'])),
    }),
    description: '`insert` takes the place of what stands from `from` up to `to`.',
  },
  Syntax: objectOf({ items: arrayOf(objectOf({ example: text, help: text })) }),
  Histogram: objectOf({
    interval: { type: 'number', description: 'The width of a bucket in milliseconds.' },
    buckets: arrayOf(objectOf({ from: time, total: count, levels: schemaRef('LevelCounts') })),
    total: count,
  }),
  Facets: objectOf({
    facets: objectOf({
      level: facet(schemaRef('Level')),
      environment: facet(),
      event: namedFacet,
      step: namedFacet,
      project: namedFacet,
      category: facet(),
    }),
  }),
  Choice: objectOf({
    name: { enum: ['event', 'step', 'project', 'category'], description: 'The parameter that selects it.' },
    value: text,
    label: text,
    count,
    children: arrayOf(schemaRef('Choice')),
  }),
  Choices: objectOf({
    total: count,
    level: facet(schemaRef('Level')),
    environment: facet(),
    sections: arrayOf(
      objectOf({
        name: text,
        size: { ...count, description: 'How many values have logs; 100 are counted at most.' },
        choices: arrayOf(schemaRef('Choice')),
      }),
    ),
    chosen: arrayOf(objectOf({ name: text, value: text, label: text })),
  }),
  Absence: objectOf({
    kept: { type: 'boolean', description: 'Whether the Team has any logs of this kind.' },
    newestAt: { ...optionalText, description: 'The newest log of any time that matches; null where none does.' },
    conditions: { ...arrayOf(text), description: 'The parameters in use that select by more than time.' },
    ways: arrayOf(
      objectOf({
        kind: { type: 'string', enum: ['newest', 'since', 'without'] },
        value: { ...optionalText, description: 'The value of the one condition that it takes away; else null.' },
        params: {
          type: 'object',
          additionalProperties: text,
          description: 'The parameters to set; empty ones are taken away.',
        },
        total: {
          type: ['integer', 'null'],
          minimum: 0,
          description: 'How many logs that would show, where it is known.',
        },
      }),
    ),
  }),
  TypedRange: {
    ...objectOf({ from: optionalText, to: optionalText }),
    description: 'As the parameters `from` and `to` take them; null for an end that is open.',
  },
  FlowSummary: objectOf(flowSummary),
  FlowPage: objectOf({ items: arrayOf(schemaRef('FlowSummary')), nextCursor: cursor }),
  FlowStep: objectOf({
    event: nullable(schemaRef('EntityRef')),
    step: schemaRef('EntityRef'),
    seen: { type: 'boolean' },
    firstAt: optionalTime,
    lastAt: optionalTime,
    count,
    worstLevel: nullable(schemaRef('Level')),
  }),
  Refusal: objectOf({
    id: text,
    at: time,
    endpoint: { type: 'string', description: 'The path that was posted to.' },
    code: text,
    message: text,
    details: { description: 'As in the answer to the sender.' },
    index: {
      type: ['integer', 'null'],
      description: 'The place in the batch, from 0; null where the request was refused, or its only entry.',
    },
    identifier: { ...optionalText, description: 'What was addressed, from its beginning.' },
    keyPrefix: { ...optionalText, description: 'The first characters of the key that was presented, 6 at most.' },
    userAgent: optionalText,
    body: {
      ...optionalText,
      description: 'The body, or the entry of a batch: its first 8 KiB. Null where it was not read.',
    },
    bodyCut: { type: 'boolean' },
    nearest: nullable(schemaRef('EntityRef')),
    unnoted: { ...count, description: 'How many with the same code followed that were not noted.' },
    curl: {
      ...optionalText,
      description:
        'The command that tries again, the nearest identifier in it; null where not all of the body was kept, or it makes no command.',
    },
  }),
  Refusals: objectOf({ items: arrayOf(schemaRef('Refusal')) }),
  Flow: objectOf({
    summary: schemaRef('FlowSummary'),
    steps: arrayOf(schemaRef('FlowStep')),
    projects: arrayOf(schemaRef('ProjectRef')),
    items: arrayOf(schemaRef('Entry')),
    nextCursor: cursor,
  }),
} as const satisfies Record<string, JsonSchema>

export type ViewSchemaName = keyof typeof VIEW_SCHEMAS
