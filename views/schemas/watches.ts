import {
  arrayOf,
  component,
  described,
  flag,
  named,
  nullable,
  objectOf,
  optionalText,
  type Static,
  text,
} from '../../shared/contract/json-schema.ts'
import { guid, instant, optionalInstant } from './answers.ts'
import { SELECTING } from './list-parameters.ts'

/*
 * The watches of a Team: each schema with a type of the same name. The OpenAPI document shows the schemas; the server and the page use the
 * types, and the journal stores the values.
 */

/** The body formats of a webhook. */
const FORMATS = ['json', 'slack', 'teams'] as const
/** The lists whose logs can be counted, by their names in the API. */
const COUNTED_LISTS = ['event-logs', 'application-logs'] as const
/** The fields of application logs by which a watch detects new groups. */
const GROUPINGS = ['exception', 'template'] as const
/** The flow states that need attention. */
const WATCHED_STATES = ['failed', 'stalled'] as const

const MORE_MAX = 1_000_000_000
const MINUTES_MAX = 1_440

const params = {
  type: 'object',
  propertyNames: { enum: SELECTING },
  additionalProperties: { ...text, minLength: 1 },
  description: 'Parameters of a list that select logs; empty for all logs of the list.',
} as const

const CountCondition = objectOf({
  type: { const: 'count' },
  list: { type: 'string', enum: COUNTED_LISTS },
  params,
  more: {
    type: 'integer',
    minimum: 0,
    maximum: MORE_MAX,
    description: 'The condition is met by more logs than this number.',
  },
  minutes: { type: 'integer', minimum: 1, maximum: MINUTES_MAX, description: 'How far back logs count.' },
})

const FlowsCondition = objectOf({
  type: { const: 'flows' },
  state: { type: 'string', enum: WATCHED_STATES },
  event: described(optionalText, 'Flows that touch this Event alone; null for all.'),
})

const NewGroupCondition = objectOf({
  type: { const: 'newGroup' },
  by: { type: 'string', enum: GROUPINGS },
  params,
})

export type Condition = Static<typeof Condition>
export const Condition = named('WatchCondition', { oneOf: [CountCondition, FlowsCondition, NewGroupCondition] })

export type Format = (typeof FORMATS)[number]

const webhook = {
  url: { ...text, format: 'uri' },
  format: { type: 'string', enum: FORMATS },
} as const

const secret = described(
  text,
  'Signs the messages: `whsec_` and 24 to 64 bytes in Base64. Only the request that creates it returns it.',
)

export type NewWatch = Static<typeof NewWatch>
export const NewWatch = {
  ...objectOf(
    {
      name: text,
      condition: Condition,
      webhook: objectOf(
        {
          ...webhook,
          secret: {
            ...secret,
            type: ['string', 'null'],
            description: `${secret.description} Left out: the present secret stays, or one is created; null creates a new one.`,
          },
        },
        ['secret'],
      ),
      paused: flag,
    },
    ['paused'],
  ),
  additionalProperties: false,
} as const

/** The kinds of lines in a watch's history; the page has the texts for each. */
const OUTCOMES = ['fired', 'delivered', 'failed', 'gave_up', 'error', 'recovered'] as const

export type Outcome = Static<typeof Outcome>
export const Outcome = named(
  'WatchOutcome',
  objectOf({
    at: instant,
    outcome: { type: 'string', enum: OUTCOMES },
    text: described(text, 'The match, the answer of the receiver, or the reason.'),
  }),
)

const watch = {
  id: guid,
  name: text,
  condition: Condition,
  webhook: objectOf(webhook),
  paused: flag,
  state: {
    type: 'string',
    enum: ['new', 'waiting', 'met', 'error', 'paused'],
    description:
      '`new`: not evaluated yet; `waiting` for its condition; `met`: a count is above its number; `error`: the condition could not be evaluated.',
  },
  lastEvaluatedAt: optionalInstant,
  error: described(optionalText, 'The reason why the condition could not be evaluated last time.'),
  delivery: nullable(
    objectOf({
      since: instant,
      attempts: { type: 'integer' },
      nextAt: instant,
      reason: described(optionalText, 'The reason why the last attempt failed.'),
    }),
  ),
  gaveUpAt: described(
    optionalInstant,
    'When the last message was given up; null if a later one was delivered, or if the watch has started over since.',
  ),
} as const

export type Watch = Static<typeof Watch>
export const Watch = component('Watch', watch)

export type MadeWatch = Static<typeof MadeWatch>
export const MadeWatch = component('MadeWatch', { ...watch, secret: nullable(secret) })

export type WatchDetails = Static<typeof WatchDetails>
export const WatchDetails = component('WatchDetails', {
  ...watch,
  history: described(arrayOf(Outcome), 'The last 50, newest first.'),
})

export type Watches = Static<typeof Watches>
export const Watches = component('Watches', { items: arrayOf(Watch) })

export const DeletedWatch = component('DeletedWatch', { id: guid })

export type TestedWatch = Static<typeof TestedWatch>
export const TestedWatch = component('TestedWatch', {
  delivered: flag,
  status: { type: ['integer', 'null'], description: 'The status of the answer; null where there was none.' },
  message: described(text, 'The outcome in words.'),
})
