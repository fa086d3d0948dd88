import { _, Ajv2020, type ErrorObject, type KeywordDefinition, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Offender } from '../../shared/contract/errors.ts'
import { fitsDepth, numberText } from '../../shared/contract/exact-json.ts'
import { BATCH_ENTRY_SCHEMA, EXTERNAL_LOG_SCHEMA, LOG_ENTRY_SCHEMA } from './requests.ts'

/** Returns every offender of an object; undefined if there is none. */
export type Validate = (entry: object) => readonly Offender[] | undefined

export interface Validators {
  readonly externalLog: Validate
  readonly logEntry: Validate
  readonly batchEntry: Validate
}

let compiled: Validators | undefined

/** The validators of the request bodies, compiled at the first call: that takes tens of milliseconds. */
export function compileValidators(): Validators {
  compiled ??= compile()
  return compiled
}

function compile(): Validators {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true })
  for (const keyword of KEYWORDS) ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword)
  const validatorOf = (schema: object): Validate => {
    const validate: ValidateFunction = ajv.compile(schema)
    return (entry) => (validate(entry) ? undefined : (validate.errors ?? []).map(offenderOf))
  }
  return {
    externalLog: validatorOf(EXTERNAL_LOG_SCHEMA),
    logEntry: validatorOf(LOG_ENTRY_SCHEMA),
    batchEntry: validatorOf(BATCH_ENTRY_SCHEMA),
  }
}

const offenderOf = (error: ErrorObject): Offender => ({ path: error.instancePath, message: messageOf(error) })

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  object: 'a JSON object',
}

function messageOf({ instancePath, keyword, params, schema, data, message }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return wrongType([params['type']].flat() as string[], data) + (instancePath === '/timestamp' ? SUCH_AS : '')
    case 'maxBytes':
      return `must have at most ${schema} bytes in UTF-8, not ${Buffer.byteLength(data as string)}`
    case 'maxDepth':
      return `must be at most ${schema} levels deep`
    case 'minimum':
    case 'maximum':
      return `must be a whole number of 32 bits${notValue(data)}`
    default:
      return message ?? 'is not accepted'
  }
}

const SUCH_AS = '; send a time such as 2026-01-31T09:30:00.123Z'

function wrongType(types: readonly string[], data: unknown): string {
  const expected = types.filter((type) => type !== 'null').map((type) => TYPE_NAMES[type] ?? type)
  const hint = types.includes('string') && typeof data === 'object' ? '; serialise it to JSON text' : ''
  return `must be ${expected.join(' or ')}${notValue(data)}${hint}`
}

/** Longer values are not quoted. */
const QUOTED_CHARACTERS_MAX = 64

/** Names what was sent in place of another value. */
function notValue(data: unknown): string {
  if (Array.isArray(data)) return ', not an array'
  const text = numberText(data) ?? (typeof data === 'object' ? 'an object' : JSON.stringify(data))
  return text.length > QUOTED_CHARACTERS_MAX ? '' : `, not ${text}`
}

/**
 * JSON Schema keywords of our own: `maxBytes` counts a string's bytes in UTF-8, `maxDepth` the levels of objects and arrays.
 * `minLength` replaces the library's, which counts the code points of the whole string; we only ask whether it is empty.
 */
const KEYWORDS: readonly KeywordDefinition[] = [
  {
    keyword: 'minLength',
    type: 'string',
    schemaType: 'number',
    code: (check) => check.fail(_`${check.data}.length < ${check.schema}`),
  },
  {
    keyword: 'maxBytes',
    type: 'string',
    schemaType: 'number',
    // A UTF-16 unit is 1 to 3 bytes in UTF-8, so most texts need not be measured.
    code: (check) => {
      const measure = check.gen.scopeValue('func', { ref: fitsBytes })
      check.fail(_`${check.data}.length * 3 > ${check.schema} && !${measure}(${check.data}, ${check.schema})`)
    },
  },
  {
    keyword: 'maxDepth',
    type: 'object',
    schemaType: 'number',
    code: (check) => {
      const measure = check.gen.scopeValue('func', { ref: fitsDepth })
      check.fail(_`!${measure}(${check.data}, ${check.schema})`)
    },
  },
]

const fitsBytes = (text: string, bytesMax: number): boolean =>
  text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax
