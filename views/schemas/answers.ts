import {
  arrayOf,
  component,
  described,
  flag,
  type JsonSchema,
  named,
  nullable,
  objectOf,
  optionalText,
  type Static,
  text,
  typed,
} from '../../shared/contract/json-schema.ts'
import { type LevelCounts as Counts, LEVELS } from '../../shared/contract/levels.ts'
import { REFUSAL_FACTS } from '../../shared/contract/refusal-facts.ts'
import { LONG_FIELDS } from '../../shared/contract/rows.ts'
import { PARSED_EXCEPTION } from '../../shared/exception.ts'
import { SERIES_FUNCTIONS } from '../../shared/log-store/statistics.ts'

/*
 * The answers of the read API and of the session: each schema with a type of the same name. The OpenAPI document shows the schemas; the
 * server and the page use the types. docs/http.md describes the answers in prose.
 */

export type { Frame, ParsedException } from '../../shared/exception.ts'

export const guid = { type: 'string', format: 'uuid' } as const
export const instant = { type: 'string', format: 'date-time' } as const
export const optionalInstant = { ...instant, type: ['string', 'null'] } as const
const count = { type: 'integer', minimum: 0 } as const
const cursor = described(optionalText, 'The place where the next page begins; null at the end.')
const time = described(instant, 'UTC; from milliseconds to nanoseconds, as the sender gave them.')
const optionalTime = { ...time, type: ['string', 'null'] } as const

const Level = named('Level', { type: 'string', enum: LEVELS })

const LevelCounts = typed<Counts>(
  named(
    'LevelCounts',
    { type: 'object', propertyNames: { enum: LEVELS }, additionalProperties: count },
    'Entries by level; a level without any is left out.',
  ),
)

export type EntityRef = Static<typeof EntityRef>
export const EntityRef = named(
  'EntityRef',
  objectOf({ identifier: text, name: optionalText }),
  'An Event or a Step; `name` is null where the registry no longer has it.',
)

export type ProjectRef = Static<typeof ProjectRef>
export const ProjectRef = named(
  'ProjectRef',
  objectOf({ id: guid, name: optionalText }),
  'A Project; `name` is null where the registry no longer has it.',
)

const stored = {
  id: guid,
  receivedAt: time,
  timestamp: time,
  level: Level,
  environment: text,
  correlationKey: optionalText,
}
const truncated = described(
  arrayOf({ enum: LONG_FIELDS }),
  'In lists and tails: the names of texts that were cut to their beginning. A single entry is complete.',
)

const fields = {
  type: 'object',
  additionalProperties: text,
  description: 'Those of the values named by the parameter `fields` that the entry has.',
} as const

export type EventLog = Static<typeof EventLog>
export const EventLog = named(
  'EventLog',
  objectOf(
    {
      ...stored,
      kind: { const: 'event' },
      event: nullable(EntityRef),
      step: nullable(EntityRef),
      payload: text,
      fields,
      truncated,
    },
    ['fields', 'truncated'],
  ),
)

export type ApplicationLog = Static<typeof ApplicationLog>
export const ApplicationLog = named(
  'ApplicationLog',
  objectOf(
    {
      ...stored,
      kind: { const: 'application' },
      project: ProjectRef,
      categoryName: text,
      eventId: { type: 'integer' },
      eventName: text,
      message: text,
      exception: optionalText,
      scopeData: { type: ['object', 'null'] },
      originalLevel: described(
        text,
        'The level as the sender wrote it, if it was not recognised and was stored as Information.',
      ),
      fields,
      truncated,
    },
    ['originalLevel', 'fields', 'truncated'],
  ),
)

export type Entry = Static<typeof Entry>
export const Entry = named('Entry', {
  oneOf: [EventLog, ApplicationLog],
  discriminator: {
    propertyName: 'kind',
    mapping: { event: '#/components/schemas/EventLog', application: '#/components/schemas/ApplicationLog' },
  },
})

export type QueryReading = Static<typeof QueryReading>
const QueryReading = named(
  'QueryReading',
  { oneOf: [objectOf({ read: { const: 'query' } }), objectOf({ read: { const: 'text' }, problem: text, at: count })] },
  'The reading of `q`: as a query, or as plain text because of a problem at a character (from 0).',
)

const pageOf = <const Item extends JsonSchema>(item: Item) =>
  objectOf({ items: arrayOf(item), nextCursor: cursor, query: QueryReading })
export type EntryPage = Static<typeof EventLogPage> | Static<typeof ApplicationLogPage>
export const EventLogPage = named('EventLogPage', pageOf(EventLog))
export const ApplicationLogPage = named('ApplicationLogPage', pageOf(ApplicationLog))

const contextOf = <const Item extends JsonSchema>(item: Item) =>
  objectOf({ before: arrayOf(item), entry: item, after: arrayOf(item) })
export type EntryContext = Static<typeof EventLogContext> | Static<typeof ApplicationLogContext>
export const EventLogContext = named('EventLogContext', contextOf(EventLog))
export const ApplicationLogContext = named('ApplicationLogContext', contextOf(ApplicationLog))

const namedValue = {
  name: text,
  text,
  cut: described(flag, 'Whether an ellipsis stands for the end of the name or of the text.'),
  term: described(optionalText, 'The search that finds the entries which share the value.'),
}
export type NamedValue = Static<typeof NamedValue>
const NamedValue = component('NamedValue', namedValue)

const more = described(flag, 'Whether something was cut, which an ellipsis shows, or left out.')
export type EntryDetails = Static<typeof EntryDetails>
export const EntryDetails = component('EntryDetails', {
  fields: arrayOf(NamedValue),
  payload: nullable(objectOf({ text, values: arrayOf(NamedValue), more })),
  scopes: nullable(
    objectOf({
      stack: described(arrayOf(text), 'The sentences of the scopes, the outermost first.'),
      values: arrayOf(
        objectOf({
          ...namedValue,
          hidden: described(arrayOf(text), 'The values of the same name in the scopes around it, the nearest first.'),
        }),
      ),
      more,
    }),
  ),
  exception: nullable(objectOf({ parts: arrayOf(PARSED_EXCEPTION), more })),
  curl: described(
    optionalText,
    'The command that sends it again, with `<GATEWAY>` for the URL of the gateway and `<API_KEY>` for a key; null where the entry is too long for one.',
  ),
})

export type Query = Static<typeof Query>
export const Query = component('Query', { q: text })

export type Completion = Static<typeof Completion>
export const Completion = named(
  'Completion',
  objectOf({
    from: count,
    to: count,
    choices: arrayOf(objectOf({ insert: text, label: text, help: text, count }, ['help', 'count'])),
  }),
  '`insert` replaces the text from `from` up to `to`.',
)

export type Syntax = Static<typeof Syntax>
export const Syntax = component('Syntax', { items: arrayOf(objectOf({ example: text, help: text })) })

export type Histogram = Static<typeof Histogram>
export const Histogram = component('Histogram', {
  interval: { type: 'number', description: 'The width of a bucket in milliseconds.' },
  buckets: arrayOf(objectOf({ from: time, total: count, levels: LevelCounts })),
  total: count,
})

export type FacetValue = Static<typeof facetValue>
const facetValue = objectOf({ value: text, count })
const facet = arrayOf(facetValue)
const namedFacet = arrayOf(objectOf({ value: text, name: optionalText, count }))
// The store returns the counted levels as plain strings.
const levelFacet = typed<readonly FacetValue[]>(arrayOf(objectOf({ value: Level, count })))

export const Facets = component('Facets', {
  facets: objectOf({
    level: levelFacet,
    environment: facet,
    event: namedFacet,
    step: namedFacet,
    project: namedFacet,
    category: facet,
  }),
})

export type Group = Static<typeof Group>
const Group = component('Group', {
  value: described(text, 'The value that its logs share; for a template or an exception, an id.'),
  label: described(
    text,
    'The value to display: the template, the type of the exception, or the current name in the registry.',
  ),
  detail: described(
    optionalText,
    "For exceptions, the first calls of the program's own code, one a line; otherwise null.",
  ),
  count,
  firstAt: time,
  lastAt: time,
  worstLevel: Level,
  counts: described(arrayOf(count), 'The number of its logs in each of the `spans`.'),
  sample: described(
    objectOf({ id: text, message: text }),
    'Its last log: the id, and the beginning of the message or payload.',
  ),
})

export type Groups = Static<typeof Groups>
export const Groups = component('Groups', {
  by: described(text, 'The field whose values make the groups.'),
  interval: { type: 'number', description: 'The width of a span in milliseconds.' },
  spans: described(arrayOf(time), 'The beginning of each span, 24 at most.'),
  items: arrayOf(Group),
  more: described(flag, 'Whether there are further groups.'),
  ungrouped: described(count, 'Matches without a value, which are in no group.'),
})

const series = objectOf({
  value: described(optionalText, 'The value of the field `by` that its logs share; null where it is left out.'),
  label: described(optionalText, 'The value to display, as for a group.'),
  term: described(
    optionalText,
    'The search that finds its logs; null where `by` is left out, or is a group without a name in searches.',
  ),
  count: described(count, 'The number of its logs, or of its numbers.'),
  points: described(
    arrayOf({ type: ['number', 'null'] }),
    'The value of the function in each of the `spans`; null for a span without numbers.',
  ),
})

export type Series = Static<typeof Series>
export const Series = component('Series', {
  fn: { type: 'string', enum: SERIES_FUNCTIONS },
  value: described(optionalText, 'The name of the numbers; null where logs are counted.'),
  by: described(optionalText, 'The field whose values make the series.'),
  interval: { type: 'number', description: 'The width of a span in milliseconds.' },
  spans: described(arrayOf(time), 'The beginning of each span.'),
  items: arrayOf(series),
  more: described(flag, 'Whether `by` has further values.'),
})

const choice = objectOf({
  name: { enum: ['event', 'step', 'project', 'category'], description: 'The parameter that selects it.' },
  value: text,
  label: text,
  count,
})
export type Choice = Static<typeof choice> & { readonly children: readonly Choice[] }
const Choice = typed<Choice>(
  component('Choice', { ...choice.properties, children: arrayOf({ $ref: '#/components/schemas/Choice' }) }),
)

export type Choices = Static<typeof Choices>
export const Choices = component('Choices', {
  total: count,
  level: levelFacet,
  environment: facet,
  sections: arrayOf(
    objectOf({
      name: text,
      size: described(count, 'The number of values that have logs; 1,000 are counted at most.'),
      choices: arrayOf(Choice),
    }),
  ),
  chosen: arrayOf(
    objectOf({
      name: { enum: [...choice.properties.name.enum, 'template', 'exceptionGroup'] },
      value: text,
      label: text,
    }),
  ),
})

export type Absence = Static<typeof Absence>
export const Absence = component('Absence', {
  kept: described(flag, 'Whether the Team has any logs of this kind.'),
  newestAt: described(optionalText, 'The newest log of any time that matches; null where none does.'),
  conditions: described(arrayOf(text), 'The parameters in use that select by more than time.'),
  ways: arrayOf(
    objectOf({
      kind: { type: 'string', enum: ['newest', 'since', 'beginning', 'without'] },
      value: described(
        optionalText,
        'The value of the one condition that it removes, or the search for beginnings of words; otherwise null.',
      ),
      params: {
        type: 'object',
        additionalProperties: text,
        description: 'The parameters to set; empty ones are to be removed.',
      },
      total: {
        type: ['integer', 'null'],
        minimum: 0,
        description: 'The number of logs that would show, where it is known.',
      },
    }),
  ),
})

export type TypedRange = Static<typeof TypedRange>
export const TypedRange = named(
  'TypedRange',
  objectOf({ from: optionalText, to: optionalText }),
  'As the parameters `from` and `to` take them; null for an end that is open.',
)

export type FlowSummary = Static<typeof FlowSummary>
const FlowSummary = component('FlowSummary', {
  correlationKey: text,
  firstAt: time,
  lastAt: time,
  total: count,
  levels: LevelCounts,
  worstLevel: nullable(Level),
  events: arrayOf(EntityRef),
  steps: arrayOf(EntityRef),
  projects: arrayOf(ProjectRef),
  nextSteps: described(
    arrayOf(EntityRef),
    'For every Event of the flow, the Step after the furthest one seen; an Event at its last Step has none.',
  ),
  lastErrorAt: described(optionalTime, 'The latest entry of Error or Critical.'),
  lastProgressAt: described(optionalTime, 'The latest entry of an Event or Step below Error.'),
  state: {
    enum: ['running', 'finished', 'stalled', 'failed'],
    description: 'The probable state: a guess, as logs never say that nothing more will come.',
  },
  reason: described(text, 'The reason for the guess.'),
})

export type NameList = Static<typeof NameList>
export const NameList = component('NameList', { events: arrayOf(EntityRef), projects: arrayOf(ProjectRef) })

export type FlowStateCounts = Static<typeof FlowStateCounts>
export const FlowStateCounts = component('FlowStateCounts', {
  states: objectOf({ running: count, stalled: count, failed: count, finished: count }),
})

export type FlowPage = Static<typeof FlowPage>
export const FlowPage = component('FlowPage', { items: arrayOf(FlowSummary), nextCursor: cursor })

export type FlowStep = Static<typeof FlowStep>
const stepDuration = {
  type: ['integer', 'null'],
  minimum: 0,
  description:
    "Milliseconds from the first log of its predecessor, the Event itself or another of its Steps, to the Step's first log; null without a predecessor.",
} as const
const FlowStep = component('FlowStep', {
  event: nullable(EntityRef),
  step: EntityRef,
  seen: flag,
  firstAt: optionalTime,
  lastAt: optionalTime,
  duration: stepDuration,
  count,
  worstLevel: nullable(Level),
})

const milliseconds = described(count, 'Milliseconds.')
export type Durations = Static<typeof Durations>
const Durations = named(
  'Durations',
  objectOf({ count, p50: milliseconds, p95: milliseconds }),
  'The times of `count` flows: half of them took at most `p50`, and 95 of 100 at most `p95` (nearest rank).',
)

export type StepStatistics = Static<typeof StepStatistics>
const StepStatistics = component('StepStatistics', {
  step: EntityRef,
  reached: described(count, 'The flows that have a log of it.'),
  share: { type: 'number', minimum: 0, maximum: 1, description: "The share of the Event's flows that reached it." },
  duration: described(nullable(Durations), 'As `duration` of a Step of a flow; null where no flow has one.'),
  stalled: described(
    count,
    'The stalled flows of which it is the next Step: an estimate from 1,000 of them if more are stalled.',
  ),
})

export type EventStatistics = Static<typeof EventStatistics>
const EventStatistics = component('EventStatistics', {
  event: EntityRef,
  started: described(count, 'Flows with a log of the Event or one of its Steps; each is in one of the states.'),
  running: count,
  stalled: count,
  failed: count,
  finished: count,
  duration: described(
    nullable(Durations),
    'Of finished flows, from the first to the last log of the Event; null if there are none.',
  ),
  steps: described(arrayOf(StepStatistics), "The Event's Steps, as in a flow."),
})

export type FlowStatistics = Static<typeof FlowStatistics>
export const FlowStatistics = component('FlowStatistics', {
  sampled: described(
    count,
    'The flows whose durations were measured, 1,000 at most, spread over the range of time. The counts are those of all flows.',
  ),
  complete: described(flag, 'Whether these are all flows that the parameters select.'),
  items: described(arrayOf(EventStatistics), 'The Events of the flows, those with most flows first.'),
  more: described(flag, 'Whether Events or Steps were left out: there are 50 Events at most, and 200 Steps of each.'),
})

const stepVisit = nullable(
  objectOf({ firstAt: time, lastAt: time, duration: stepDuration, count, worstLevel: nullable(Level) }),
)
export type ComparedStep = Static<typeof ComparedStep>
const ComparedStep = component('ComparedStep', {
  event: nullable(EntityRef),
  step: EntityRef,
  flow: stepVisit,
  other: stepVisit,
  slowerBy: {
    type: ['integer', 'null'],
    description: 'Milliseconds that the flow took longer than the other one; below zero where it was faster.',
  },
  differences: described(
    arrayOf({ enum: ['missing', 'added', 'failed', 'slower'] }),
    'The differences of the flow: the Step is missing, or only in this flow; it logged an error; it took twice as long and 100 ms longer.',
  ),
})

export type FlowComparison = Static<typeof FlowComparison>
export const FlowComparison = component('FlowComparison', {
  flow: FlowSummary,
  other: FlowSummary,
  steps: described(arrayOf(ComparedStep), 'The Steps of both as in a flow, 1,000 at most.'),
  more: described(flag, 'Whether there are further Steps.'),
})

export type Flow = Static<typeof Flow>
export const Flow = component('Flow', {
  summary: FlowSummary,
  steps: arrayOf(FlowStep),
  projects: arrayOf(ProjectRef),
  items: arrayOf(Entry),
  nextCursor: cursor,
})

export type Refusal = Static<typeof Refusal>
const Refusal = component('Refusal', {
  id: text,
  ...REFUSAL_FACTS,
  at: time,
  nearest: nullable(EntityRef),
  unnoted: described(count, 'The number of refusals with the same code that followed and were not kept.'),
  curl: described(
    optionalText,
    'A command that sends the entry again, with the nearest identifier; null if not all of the body was kept, or no command can hold it.',
  ),
})
export type Refusals = Static<typeof Refusals>
export const Refusals = component('Refusals', { items: arrayOf(Refusal) })

export type RefusedCount = Static<typeof RefusedCount>
const RefusedCount = component('RefusedCount', {
  userAgent: described(optionalText, 'The name that the client gives itself; null if it gives none.'),
  keyPrefix: described(optionalText, 'The first characters of the key that it presented.'),
  endpoint: text,
  code: text,
  count: described(
    count,
    'The least number in the last 24 hours. Refusals that were not kept count with the one before them.',
  ),
  lastAt: time,
})

/** Shows a Team its refusals without a separate request. */
export const refused = described(
  nullable(arrayOf(RefusedCount)),
  "The Team's refusals of the last 24 hours by client and code, the most frequent first, 20 at most; null while that is unknown.",
)

/** The counted refusals of examples. */
export const REFUSED: readonly RefusedCount[] = [
  {
    userAgent: 'okhttp/4.12.0',
    keyPrefix: 'sl_3fA',
    endpoint: '/v1/logs',
    code: 'project_not_found',
    count: 42,
    lastAt: '2026-01-31T09:30:00.000Z',
  },
]

export type Session = Static<typeof Session>
export const Session = component('Session', {
  team: nullable(objectOf({ id: text, name: text })),
  keyPrefix: described(optionalText, 'The first characters of the key that was signed in with.'),
  refused,
})
