const text = { type: 'string', minLength: 1 } as const
const time = { type: 'string', format: 'date-time' } as const

const objectOf = (
  title: string,
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
) => ({
  title,
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
})

/** Archived things refuse new logs; those that are stored keep their names. */
const archivable = {
  archivedAt: { ...time, description: 'Since when new logs are refused; absent while they are taken.' },
}

/** The values of the registry topic. Which of them a record holds, its key says; null is no value but a deletion. */
export const REGISTRY_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'urn:sluice:schema:registry-record:v1',
  title: 'RegistryRecord',
  definitions: {
    team: objectOf('Team', { name: text }),
    event: objectOf('Event', { team: { ...text, description: "The owner's id." }, name: text }, archivable),
    step: objectOf(
      'Step',
      {
        team: { ...text, description: "The owner's id." },
        event: {
          type: ['string', 'null'],
          minLength: 1,
          description: "The Event's identifier; null for a Step alone.",
        },
        name: text,
        order: {
          type: 'integer',
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Its place among the Steps of its Event.',
        },
      },
      archivable,
    ),
    project: objectOf('Project', { team: { ...text, description: "The owner's id." }, name: text }, archivable),
    key: objectOf('Key', {
      prefix: { type: 'string', description: 'The first characters of the key, to tell keys apart.' },
      createdAt: time,
      revokedAt: { type: ['string', 'null'], format: 'date-time', description: 'Null while the key is live.' },
    }),
  },
  anyOf: ['team', 'event', 'step', 'project', 'key'].map((kind) => ({ $ref: `#/definitions/${kind}` })),
} as const
