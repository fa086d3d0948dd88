import { DRAFT, described, filledText, type Static, time, titled } from '../contract/json-schema.ts'
import { GUID_PATTERN } from '../contract/records.ts'

/**
 * The records of the compacted registry topic. A record's key is `<kind>/<id>`: `team/payments`, `event/order-placed`,
 * `step/order-placed.validate`, `project/<guid>`, `key/<team>/<sha256>`, `search/<team>/<guid>`; its value is the JSON of everything that
 * the key does not say, or null for a deletion. Compaction keeps only the last record of a key, so the registry must never depend on an
 * earlier one.
 */
export type RegistryValues = { readonly [Kind in keyof Definitions]: Static<Definitions[Kind]> }

type Definitions = (typeof REGISTRY_SCHEMA)['definitions']

/** An archived object takes no logs; its stored logs keep its name. A Step is marked only where it was archived itself. */
export type Archivable = Pick<RegistryValues['event'], 'archivedAt'>

/** The lists of the page whose searches can be saved, named as at the beginning of their paths. */
export const SEARCH_PAGES = ['event-logs', 'application-logs', 'flows'] as const

/** Archived targets refuse new logs; stored logs keep their names. */
const archivable = {
  archivedAt: described(time, 'Since when new logs are refused; absent while they are taken.'),
}

/** The schema of the values, as it is published. A record's key says which kind of value it holds; null is a deletion. */
export const REGISTRY_SCHEMA = {
  $schema: DRAFT,
  $id: 'urn:sluice:schema:registry-record:v1',
  title: 'RegistryRecord',
  definitions: {
    team: titled(
      'Team',
      { name: filledText },
      {
        defaultProject: {
          type: 'string',
          pattern: GUID_PATTERN,
          description: 'Its Project for logs of unknown services; absent where it names none.',
        },
        limits: {
          type: 'object',
          properties: {
            entriesPerSecond: { type: 'integer', minimum: 0 },
            bytesPerSecond: { type: 'integer', minimum: 0, description: 'Of bodies, after decompression.' },
            burstSeconds: { type: 'integer', minimum: 0 },
            shadow: { type: 'boolean', description: 'Whether the quota is only counted.' },
          },
          description: 'Its quota; a field that is absent, and all of it, is that of the settings.',
        },
      },
    ),
    event: titled('Event', { team: described(filledText, "The owner's id."), name: filledText }, archivable),
    step: titled(
      'Step',
      {
        team: described(filledText, "The owner's id."),
        event: {
          type: ['string', 'null'],
          minLength: 1,
          description: "The Event's identifier; null for a Step alone.",
        },
        name: filledText,
        order: {
          type: 'integer',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Its place among the Steps of its Event.',
        },
      },
      archivable,
    ),
    project: titled('Project', { team: described(filledText, "The owner's id."), name: filledText }, archivable),
    key: titled('Key', {
      prefix: { type: 'string', description: 'The first characters of the key, to tell keys apart.' },
      createdAt: time,
      revokedAt: { type: ['string', 'null'], format: 'date-time', description: 'Null while the key is live.' },
    }),
    search: titled('Search', {
      name: filledText,
      page: { type: 'string', enum: SEARCH_PAGES, description: 'The list of the page that it searches.' },
      params: {
        type: 'object',
        additionalProperties: filledText,
        description: "The parameters of the list's address.",
      },
    }),
  },
  // Kept as published: a saved search matches too, as it has the name that a Team requires.
  anyOf: ['team', 'event', 'step', 'project', 'key'].map((kind) => ({ $ref: `#/definitions/${kind}` })),
} as const
