import { ERRORS, type Offender } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { LEVELS, parseLevel } from '../../shared/contract/levels.ts'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import { isFingerprint } from '../../shared/fingerprint/fingerprint.ts'
import { FLOW_SORTS, FLOW_STATES } from '../../shared/log-store/log-store.ts'
import { SERIES_FUNCTIONS } from '../../shared/log-store/statistics.ts'
import { parseTime } from '../../shared/query/time.ts'
import { invalidParameters, mustBeOneOf, mustBeWhole } from './problems.ts'
import { parseRowFields, ROW_FIELDS_MAX, ROW_VALUE_CHARACTERS_MAX, type RowField } from './row-values.ts'

/** A query parameter: one definition for parsing and for documentation. */
export interface Parameter<T> {
  readonly description: string
  /** JSON Schema of the text or number, for the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>
  /** The value when the parameter is absent or empty. */
  readonly absent: T
  /** The value of a text, undefined for one that does not fit; `now` is in milliseconds since 1970. */
  readonly parse: (text: string, now: number) => T | undefined
  /** Completes the sentence "the parameter ..." for a text that does not fit. */
  readonly expected: string
}

/** The expectation of a format: only flows can be drawn. */
export const FORMATS = 'must be ndjson or csv, or svg for a flow'

const EXPECTED_LEVEL = `must be one of ${LEVELS.join(', ')}, in any case`

const EXPECTED_FIELDS = `must be at most ${ROW_FIELDS_MAX} names such as payload.order.id or scope.tenant, with commas between them`

/** Maximum number of items per page. */
export const LIMIT_MAX = 1_000

/** Every query parameter of the read API. */
export const PARAMETERS = {
  q: text(
    'A search: words, "phrases", field:value, and so on. Text that does not parse is searched as words.',
    'timeout',
  ),
  from: time('Entries at or after this time.', 'now-1h'),
  to: time('Entries before this time.', 'now'),
  level: optional('Entries of this level and the more severe ones; any case.', 'Warning', EXPECTED_LEVEL, parseLevel),
  levelMax: optional(
    'Entries of this level and the less severe ones; with the same value as `level`, only entries of this level.',
    'Warning',
    EXPECTED_LEVEL,
    parseLevel,
  ),
  environment: text('Entries of exactly this environment.', 'Production'),
  correlationKey: text('Entries with exactly this correlationKey.', 'order-4711'),
  event: text('Entries of the Event with this identifier and of its Steps.', 'order-placed'),
  step: text('Entries of the Step with this identifier.', 'order-placed.validate'),
  project: optional(
    'Entries of the Project with this id, a GUID in any form.',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'must be a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    parseGuid,
  ),
  category: text(
    'Entries of this category and its subcategories: Acme.Billing also finds Acme.Billing.Jobs. A dot at the end is allowed.',
    'Acme',
  ),
  template: group('Application logs of the template with this id, the `value` of a group.'),
  exceptionGroup: group('Application logs with an exception of the group with this id, the `value` of a group.'),
  by: text('The field whose values make the groups, under its name in a search.', 'level'),
  groups: integer('Most groups.', { minimum: 1, maximum: 200, default: 50 }),
  fn: choice(
    'The function: the number of logs, or the number, mean, largest or a percentile of the numbers that `value` names.',
    SERIES_FUNCTIONS,
    'count',
  ),
  value: text('The name of numbers inside the scope data or the payload, as in a search.', 'scope.ms'),
  series: integer('Most series `by` a field.', { minimum: 1, maximum: 10, default: 5 }),
  limit: integer('Most items of a page.', { minimum: 1, maximum: LIMIT_MAX, default: 100 }),
  fields: {
    description:
      `Names of values inside payloads or scope data, with commas between them, ${ROW_FIELDS_MAX} at most. \`fields\` of an item has ` +
      `the values that it holds, by these names, up to ${ROW_VALUE_CHARACTERS_MAX} characters of each.`,
    schema: { type: 'string', examples: ['scope.tenant,scope.RequestId'] },
    absent: [],
    parse: parseRowFields,
    expected: EXPECTED_FIELDS,
  } as Parameter<readonly RowField[]>,
  columns: text(
    `The columns of a CSV file in their order, with commas between them: names of default columns, and at most ${ROW_FIELDS_MAX} names of values inside payloads or scope data.`,
    'timestamp,level,message,scope.ms',
  ),
  cursor: text('The nextCursor of the previous page; all other parameters must be unchanged.'),
  state: choice('Flows in this probable state.', FLOW_STATES, null),
  sort: choice(
    'The first flows: those with the `latest` activity, the `longest` from first to last log, or the `worst` level.',
    FLOW_SORTS,
    'latest',
  ),
  order: choice('By (timestamp, id): `desc` is newest first.', ['desc', 'asc'], null),
  buckets: integer('Most buckets.', { minimum: 1, maximum: 1_000, default: 60 }),
  values: integer('Most values of each facet.', { minimum: 1, maximum: 100, default: 10 }),
  before: integer('Most entries before the requested one.', { minimum: 0, maximum: 100, default: 10 }),
  after: integer('Most entries after the requested one.', { minimum: 0, maximum: 100, default: 10 }),
  caret: integer('The place in `q`, in UTF-16 units from 0.', { minimum: 0, maximum: 1_000_000, default: 0 }),
  type: choice(
    'Only full names of values of this type that begin with `q`; `caret` is then ignored.',
    ['number'],
    null,
    'must be number, or be left out',
  ),
  with: text('A term that is added to the search; its opposite is removed.', 'level:Error'),
  without: text('A term that is removed, if it is one of the conditions joined by AND.', 'level:Error'),
  begin: text('The beginning of a range as people type it.', '2026-01-31 09:30'),
  end: text('The end of a range as people type it.', 'now-1h'),
  zone: text('The time zone of typed times without an offset; UTC by default.', 'Europe/Berlin'),
  format: choice('The format of the export; `svg` draws a flow.', ['ndjson', 'csv', 'svg'], 'ndjson', FORMATS),
  lastEventId: text('The place to resume from, like the header Last-Event-ID, which takes precedence.'),
  code: optional(
    'Refusals with this error code.',
    'entity_not_found',
    'must be one of the error codes, such as entity_not_found; docs/errors.md lists them',
    (code) => (Object.hasOwn(ERRORS, code) ? code : undefined),
  ),
  key: text(
    'The correlationKey, with `-` in its place in the path: for keys that no path can hold, `.` and `..`, and for `statistics`.',
  ),
  other: text('The correlationKey of the flow to compare with, as `key`.'),
} as const

export type ParameterName = keyof typeof PARAMETERS

/** The values of all parameters; those that a path does not take have their `absent` value. */
export type Values = {
  readonly [Name in ParameterName]: (typeof PARAMETERS)[Name] extends Parameter<infer T> ? T : never
}

/**
 * Reads the parameters that a path takes. Throws an `invalid_request` that names each unknown, repeated or invalid one: ignoring a misspelt
 * filter would show more than was asked for.
 */
export function readParameters(search: URLSearchParams, taken: readonly ParameterName[], now: number): Values {
  const problems = unknownNames(search, taken)
  const values = Object.fromEntries(
    Object.entries<Parameter<unknown>>(PARAMETERS).map(([name, parameter]) => {
      const texts = taken.includes(name as ParameterName) ? search.getAll(name) : []
      return [name, readOne(name, parameter, texts, now, problems)]
    }),
  ) as Values
  if (values.from !== null && values.to !== null && compareTimestamps(values.from, values.to) >= 0)
    problems.push({ path: 'to', message: `must be later than from (${values.from})` })
  if (problems.length > 0) throw invalidParameters(problems)
  return values
}

/** A `%` that begins no encoded byte stands for itself. */
const LONE_PERCENT = /%(?![\da-f]{2})/gi

/**
 * Throws an `invalid_request` that names each parameter of a request's target with bytes that are not UTF-8. They would be read as U+FFFD,
 * which finds nothing.
 */
export function refuseOtherEncodings(target: string): void {
  const pairs = target.includes('?') ? target.slice(target.indexOf('?') + 1).split('&') : []
  const problems = pairs.filter((pair) => !isUtf8(pair)).map(problemOfPair)
  if (problems.length > 0) throw invalidParameters(problems)
}

const problemOfPair = (pair: string): Offender => ({
  path: [...new URLSearchParams(pair).keys()].join(),
  message: 'must be percent-encoded UTF-8',
})

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded.replace(LONE_PERCENT, '%25'))
    return true
  } catch {
    return false
  }
}

function unknownNames(search: URLSearchParams, taken: readonly ParameterName[]): Offender[] {
  const known = taken.length === 0 ? 'this path takes none' : `this path takes ${taken.join(', ')}`
  return [...new Set(search.keys())]
    .filter((name) => !taken.includes(name as ParameterName))
    .map((path) => ({ path, message: `is not a parameter; ${known}` }))
}

function readOne<T>(
  path: string,
  parameter: Parameter<T>,
  texts: readonly string[],
  now: number,
  problems: Offender[],
): T {
  if (texts.length > 1) problems.push({ path, message: 'is given more than once' })
  const [first = ''] = texts
  if (first === '') return parameter.absent
  const value = parameter.parse(first, now)
  if (value !== undefined) return value
  problems.push({ path, message: parameter.expected })
  return parameter.absent
}

function text(description: string, example?: string): Parameter<string | null> {
  const examples = example === undefined ? {} : { examples: [example] }
  return { description, schema: { type: 'string', ...examples }, absent: null, parse: (value) => value, expected: '' }
}

function group(description: string): Parameter<string | null> {
  const expected = 'must be 13 hexadecimal digits such as 5f1c0a9be2d47'
  return optional(description, '5f1c0a9be2d47', expected, (id) =>
    isFingerprint(id.toLowerCase()) ? id.toLowerCase() : undefined,
  )
}

function time(description: string, example: string): Parameter<string | null> {
  const expected =
    'must be ISO 8601 from 1970 to 2261 (write the + of an offset as %2B) or relative such as now-1h (s, m, h, d, w)'
  const forms = 'ISO 8601, or relative such as now, now-15m, now-1h, now-7d (s, m, h, d, w).'
  return optional(`${description} ${forms}`, example, expected, parseTime)
}

/** A text that `parse` accepts. */
function optional<T>(
  description: string,
  example: string,
  expected: string,
  parse: (value: string, now: number) => T | undefined,
): Parameter<T | null> {
  return { description, schema: { type: 'string', examples: [example] }, absent: null, parse, expected }
}

function integer(
  description: string,
  bounds: { minimum: number; maximum: number; default: number },
): Parameter<number> {
  const { minimum, maximum } = bounds
  return {
    description,
    schema: { type: 'integer', ...bounds },
    absent: bounds.default,
    parse: (value) => {
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      return number >= minimum && number <= maximum ? number : undefined
    },
    expected: mustBeWhole(minimum, maximum),
  }
}

function choice<const Choice extends string, Absent extends Choice | null>(
  description: string,
  choices: readonly Choice[],
  absent: Absent,
  expected = mustBeOneOf(choices),
): Parameter<Choice | Absent> {
  return {
    description,
    schema: { type: 'string', enum: choices, ...(absent === null ? {} : { default: absent }) },
    absent,
    parse: (value) => choices.find((one) => one === value.toLowerCase()),
    expected,
  }
}
