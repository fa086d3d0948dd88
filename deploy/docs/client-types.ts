import { BATCH_ENTRY_SCHEMA, EXTERNAL_LOG_SCHEMA } from '../../gateway/schemas/requests.ts'
import type { JsonSchema } from '../../shared/contract/json-schema.ts'
import { LEVELS } from '../../shared/contract/levels.ts'

/** The file of the entry types for the TypeScript client, which has nothing else of this repository. */
export const CLIENT_TYPES_FILE = 'clients/typescript/src/entries.ts'

/** The types of entries in TypeScript, made from the schemas of the request bodies. */
export const clientTypes = (): string => `// Written by \`npm run docs\` from gateway/schemas/requests.ts.

/** The log levels, from the least to the most severe. */
export type Level = ${LEVELS.map((level) => `'${level}'`).join(' | ')}

/** One application log. */
${interfaceOf('ApplicationLog', BATCH_ENTRY_SCHEMA)}

/** One event log. */
${interfaceOf('EventLog', EXTERNAL_LOG_SCHEMA)}
`

function interfaceOf(name: string, schema: JsonSchema): string {
  const { properties, required } = schema as {
    properties: Readonly<Record<string, JsonSchema>>
    required: readonly string[]
  }
  const fields = Object.entries(properties).map(([field, type]) => {
    const isRequired = required.includes(field)
    return `  /** ${commentOf(type)} */\n  readonly ${field}${isRequired ? '' : '?'}: ${typeOf(field, type)}${isRequired ? '' : ' | undefined'}`
  })
  return `export interface ${name} {\n${fields.join('\n')}\n}`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  object: 'Readonly<Record<string, unknown>>',
  null: 'null',
}

/** The schema takes any text as a level, as its case does not matter; the type has the two spellings that people use. */
const typeOf = (field: string, { type }: JsonSchema): string =>
  field === 'level'
    ? 'Level | Lowercase<Level>'
    : [type]
        .flat()
        .map((name) => TYPES[String(name)])
        .join(' | ')

const commentOf = ({ description, maxBytes, default: value }: JsonSchema): string =>
  [
    description,
    maxBytes === undefined ? '' : ` At most ${maxBytes} bytes in UTF-8.`,
    value === undefined || value === '' ? '' : ` ${value} where it is left out.`,
  ].join('')
