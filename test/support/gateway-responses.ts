import { ERRORS } from '../../shared/contract/errors.ts'

/** JSON Schemas (2020-12) of the gateway's responses; unit tests and the fuzzer validate against them. */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const problem = {
  code: { type: 'string', enum: Object.keys(ERRORS), description: 'What is wrong; stable, for programs.' },
  message: { type: 'string', description: 'What is wrong and what to change; for people.' },
  details: {
    description:
      'More about it, or null. With invalid_request a list of { path, message }, path being a JSON pointer into the entry. With server_error an object whose outcome is not_written, or unknown where the entry may be stored all the same.',
  },
  retryable: {
    type: 'boolean',
    description: 'Whether sending the same again may help; a Retry-After header says when.',
  },
} as const

const count = { type: 'integer', minimum: 0 } as const

/** An entry of a batch that was not accepted. */
export const REFUSED_ENTRY_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:sluice:schema:refused-entry',
  title: 'RefusedEntry',
  type: 'object',
  required: ['index', 'code', 'message', 'details', 'retryable'],
  properties: { index: { ...count, description: 'Its place in logEntries, from 0.' }, ...problem },
  additionalProperties: false,
} as const

/** A failure: of a request, of its single entry, or of a batch without any accepted entry. */
export const FAILURE_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:sluice:schema:failure',
  title: 'Failure',
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'retryable'],
      properties: problem,
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

/** The entry is durable. */
export const CREATED_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:sluice:schema:created',
  title: 'Created',
  type: 'object',
  required: ['success', 'data'],
  properties: {
    success: { const: true },
    data: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', format: 'uuid', description: 'The id of the log entry.' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

/** A batch with at least one durable entry. */
export const PROCESSED_SCHEMA = {
  $schema: DIALECT,
  $id: 'urn:sluice:schema:processed',
  title: 'Processed',
  type: 'object',
  required: ['success', 'data'],
  properties: {
    success: { const: true },
    data: {
      type: 'object',
      required: ['message', 'count'],
      properties: {
        message: { type: 'string' },
        count: { ...count, description: 'How many entries were accepted.' },
        rejected: { ...count, description: 'How many were not; left out where all were accepted.' },
        errors: {
          type: 'array',
          maxItems: 100,
          items: { $ref: REFUSED_ENTRY_SCHEMA.$id },
          description: 'The first 100 of those that were not accepted, in the order of the entries.',
        },
      },
      dependentRequired: { rejected: ['errors'], errors: ['rejected'] },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const
