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
  typed,
} from '../../shared/contract/json-schema.ts'
import { SEARCH_PAGES } from '../../shared/registry/schema.ts'
import { guid, instant, optionalInstant, refused } from './answers.ts'
import { SEARCH_PARAMETERS } from './list-parameters.ts'

/*
 * The answers of the Team's settings: each schema with a type of the same name. The OpenAPI document shows the schemas; the server and the
 * page use the types.
 */

const archivedAt = described(optionalInstant, 'The time from which logs are refused; null while they are accepted.')
const seen = {
  lastSeenAt: described(
    optionalInstant,
    'The latest entry of the last 24 hours; null where there is none, or unknown.',
  ),
  lastDay: { type: ['integer', 'null'], description: 'Entries of the last 24 hours; null where that is unknown.' },
} as const
const event = { identifier: text, name: text, archivedAt }
const step = { identifier: text, name: text, order: { type: 'integer' }, archivedAt } as const
const project = { id: guid, name: text, archivedAt } as const

const team = {
  id: text,
  name: text,
  defaultProject: {
    type: ['string', 'null'],
    format: 'uuid',
    description:
      'The Project for logs without a known Project; null if such logs are refused, unless the Team has only one Project.',
  },
} as const

const number = { type: ['integer', 'null'] } as const
/** A Team's quota, which only an operator changes. */
const limits = described(
  objectOf({
    entriesPerSecond: described(number, 'Null where there is no limit.'),
    bytesPerSecond: described(number, 'Of bodies, after decompression; null where there is no limit.'),
    burstSeconds: {
      type: 'integer',
      description: 'The size of a burst: after a silence, the quota of this many seconds may be sent at once.',
    },
    shadow: described(flag, 'Whether requests beyond the quota are only counted, not refused.'),
  } as const),
  'The quota, which only an operator changes. `refused` counts requests beyond it as `rate_limited`.',
)

export const OwnTeam = component('OwnTeam', team)
export const OwnEvent = component('OwnEvent', event)
export const OwnStep = component('OwnStep', { ...step, event: nullable(text) })
export const OwnProject = component('OwnProject', project)

const TeamStep = component('TeamStep', { ...step, ...seen })
const TeamEvent = component('TeamEvent', { ...event, ...seen, steps: arrayOf(TeamStep) })
const TeamProject = component('TeamProject', { ...project, ...seen })
const TeamKey = component('TeamKey', {
  prefix: described(text, 'The first characters of the key; the key itself is not stored.'),
  createdAt: instant,
  revokedAt: optionalInstant,
})

export type TeamSettings = Static<typeof TeamSettings>
export const TeamSettings = component('TeamSettings', {
  team: objectOf(team),
  limits,
  keys: described(arrayOf(TeamKey), 'The live keys, and the last 50 revoked keys.'),
  events: arrayOf(TeamEvent),
  steps: described(arrayOf(TeamStep), 'The Steps without an Event.'),
  projects: arrayOf(TeamProject),
  refused,
  gateway: objectOf({
    url: described(optionalText, 'The address at which clients reach the gateway; null where it is not known.'),
    here: described(flag, 'Whether this address takes logs as well.'),
  }),
})

/** A change that a person can make to what the Team owns; the page has the texts for each. */
export type ActionKind = Action['kind']
/** A field of a form. */
export type Field = NonNullable<Action['fields']>[number]
export type Action = Static<typeof Action>
const Action = named(
  'TeamAction',
  objectOf(
    {
      kind: {
        type: 'string',
        enum: [
          'newEvent',
          'newStep',
          'newProject',
          'defaultProject',
          'newKey',
          'replaceKeys',
          'rename',
          'archive',
          'restore',
          'revoke',
        ],
      },
      method: { type: 'string', enum: ['POST', 'PATCH', 'DELETE'] },
      path: described(text, 'Below the base path; left out, that of the line.'),
      body: { type: 'object' },
      fields: described(
        arrayOf(
          objectOf(
            {
              name: { type: 'string', enum: ['name', 'identifier', 'id', 'event', 'defaultProject'] },
              from: { enum: ['id', 'name'], description: 'The member of the line that the value begins with.' },
              value: described(text, 'The value to begin with.'),
              required: flag,
            },
            ['from', 'value', 'required'],
          ),
        ),
        'The fields to fill in; an empty field is left out of the body.',
      ),
      isDanger: described(flag, 'Whether it cannot be undone.'),
      isRefused: described(flag, 'Whether it would be refused now.'),
    },
    ['path', 'body', 'fields', 'isDanger', 'isRefused'],
  ),
  'A possible change: the request, and the fields to fill in.',
)

/** An Event, Step, Project or key of the Team. */
export type Line = Static<typeof Line>
const Line = named(
  'TeamLine',
  objectOf(
    {
      kind: { type: 'string', enum: ['event', 'step', 'project', 'key'] },
      id: described(text, "The identifier, the Project's id, or the first characters of the key."),
      name: described(optionalText, 'Null for a key.'),
      path: described(text, 'Its path in the API, below the base path.'),
      below: described(flag, 'Whether it belongs to the Event above.'),
      state: { type: 'string', enum: ['live', 'archived', 'revoked'] },
      at: described(optionalInstant, 'The time at which it was last seen, or created; null if unknown.'),
      lastDay: seen.lastDay,
      snippets: described(flag, 'Whether `/snippets` below its path has code that sends to it.'),
      changes: described(arrayOf(typed<ActionKind>(text)), 'The kinds of changes of its list that apply to it.'),
      isDefault: described(flag, 'Whether logs of unknown services go there.'),
    },
    ['isDefault'],
  ),
)

export type List = Static<typeof List>
const List = component('TeamList', {
  kind: { type: 'string', enum: ['entities', 'projects', 'keys'] },
  lines: arrayOf(Line),
  // Listed once for all lines, as there may be thousands of them.
  changes: typed<Readonly<Partial<Record<ActionKind, Action>>>>({
    type: 'object',
    additionalProperties: Action,
    description: 'The changes that can be made to lines, by their kinds.',
  }),
  actions: described(arrayOf(Action), 'The changes that need no line, such as a new one.'),
  options: {
    type: 'object',
    additionalProperties: arrayOf(typed<readonly [value: string, name: string]>(arrayOf(text))),
    description: 'The values of fields, each with its name, by the names of the fields; any other field is typed.',
  },
})

export type TeamLists = Static<typeof TeamLists>
export const TeamLists = component('TeamLists', {
  lists: arrayOf(List),
  limits,
  refused,
  targets: described(
    objectOf({ event: nullable(text), application: nullable(text), flow: nullable(text) }),
    'The paths of code that sends a first log of each kind; null where there is nothing to send to.',
  ),
})

export type NewKey = Static<typeof NewKey>
export const NewKey = component('NewKey', {
  key: described(text, 'Only this answer has it.'),
  prefix: text,
  revoked: described(arrayOf(text), 'The first characters of the keys that were revoked with it.'),
})

export const RevokedKey = component('RevokedKey', {
  prefix: text,
  liveKeys: { type: 'integer', description: 'The number of live keys that are left.' },
})

export type Snippets = Static<typeof Snippets>
export const Snippets = component('Snippets', { snippets: arrayOf(objectOf({ id: text, name: text, code: text })) })

export type SampleFlow = Static<typeof SampleFlow>
export const SampleFlow = component('SampleFlow', {
  correlationKey: text,
  sent: { type: 'integer', description: 'Entries sent.' },
})

export const SearchParams = {
  type: 'object',
  propertyNames: { enum: SEARCH_PARAMETERS },
  additionalProperties: { ...text, minLength: 1 },
  description: "Parameters of the list's address, as the page has them.",
} as const

export type SavedSearch = Static<typeof SavedSearch>
export const SavedSearch = component('SavedSearch', {
  id: guid,
  name: text,
  page: { type: 'string', enum: SEARCH_PAGES, description: 'The list that it searches.' },
  params: SearchParams,
})

export type SavedSearches = Static<typeof SavedSearches>
export const SavedSearches = component('SavedSearches', { items: arrayOf(SavedSearch) })

export const DeletedSearch = component('DeletedSearch', { id: guid })
