import { ERRORS } from '../../../shared/contract/errors.ts'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { SERIES_FUNCTIONS } from '../../../shared/log-store/statistics.ts'
import type { ParameterName } from '../../../views/api/parameters.ts'
import { GROUPED_BY } from '../../../views/schemas/list-parameters.ts'
import { TEAMS } from '../material.ts'
import { GUIDS, NUMBERS, TIMES, textOf } from '../values.ts'
import type { Context } from './context.ts'
import { brokenQuery, queryOf } from './query-text.ts'

type Values = Readonly<Record<string, (context: Context, path: string) => string>>

const { reads } = TEAMS

const cursorOf = ({ random, material: { cursors } }: Context, path: string): string => {
  const right = path === '/api/flows' ? cursors.flows : path.startsWith('/api/flows') ? cursors.asc : cursors.desc
  return random.pick(random.oneIn(4) ? Object.values(cursors).flat() : right)
}

const NUMBER_NAMES = ['scope.ms', 'payload.order.id', 'Scope.a b', 'payload.']

const within =
  (least: number, most: number) =>
  ({ random }: Context) =>
    String(random.between(least, most))

/** Valid values of the parameters; a path may still refuse a combination of them. */
const RIGHT = {
  q: ({ random }) => queryOf(random),
  from: ({ random }) => random.pick(['now-7d', 'now-1h', '2026-01-01', '2026-01-31T09:30:00Z', '1970-01-01T00:00:00Z']),
  to: ({ random }) => random.pick(['now', 'now-5m', '2261-12-31T23:59:59Z']),
  level: ({ random }) => random.pick(['trace', 'Information', 'WARNING', 'critical']),
  environment: ({ random }) => random.pick(['Production', 'Development', textOf(random, 2)]),
  correlationKey: ({ random, material }) => random.pick(material.flows),
  event: () => reads.event,
  step: () => reads.step,
  project: () => reads.project,
  category: ({ random }) => random.pick(['Acme', 'Acme.', 'Acme.Orders', textOf(random, 2)]),
  limit: ({ random }) => String(random.oneIn(12) ? 1_000 : random.between(1, 40)),
  cursor: cursorOf,
  levelMax: ({ random }) => random.pick([...LEVELS, 'warning']),
  state: ({ random }) => random.pick(['running', 'stalled', 'failed', 'FINISHED']),
  sort: ({ random }) => random.pick(['latest', 'longest', 'worst']),
  order: ({ random }) => random.pick(['asc', 'desc', 'DESC']),
  buckets: within(1, 100),
  values: within(1, 100),
  before: within(0, 20),
  after: within(0, 20),
  caret: within(0, 40),
  type: ({ random }) => random.pick(['number', 'NUMBER', 'text']),
  columns: ({ random }) =>
    random.pick(['id', 'timestamp,level,scope.ms', 'payload.total,payload', 'message,nothing', ',']),
  with: ({ random }) => random.pick(['level:Error', '-category:Acme.*', 'payload.order.id:4711', 'env:"Test Lab"']),
  without: ({ random }) => random.pick(['level:Error', 'env:x']),
  begin: ({ random }) => random.pick(['2026-01-31 09:30', '2026-01-31', 'now-2h', '31.1.2026']),
  end: ({ random }) => random.pick(['now-1h', '2026-02-01 0:00', 'now']),
  zone: ({ random }) => random.pick(['Europe/Berlin', 'UTC', 'Asia/Kathmandu', '+05:30', 'America/New_York']),
  format: ({ random }) => random.pick(['ndjson', 'csv', 'svg', 'CSV']),
  lastEventId: ({ random, material }) => random.pick(material.cursors.tail),
  code: ({ random }) => random.pick(Object.keys(ERRORS)),
  by: ({ random }) => random.pick([...GROUPED_BY.application, ...GROUPED_BY.event, ...NUMBER_NAMES]),
  groups: within(1, 30),
  fn: ({ random }) => random.pick(SERIES_FUNCTIONS),
  value: ({ random }) => random.pick(NUMBER_NAMES),
  series: within(1, 10),
  fields: ({ random }) => random.pick(['payload.order.id', 'scope.RequestId,scope.tenant', 'scope.a,payload.a,scope.']),
  template: ({ random }) => random.pick(['5f1c0a9be2d47', '0000000000000', 'FFFFFFFFFFFFF']),
  exceptionGroup: ({ random }) => random.pick(['5f1c0a9be2d47', 'fffffffffffff']),
  key: ({ random, material }) => random.pick(['.', '..', ...material.flows]),
  other: ({ random, material }) => random.pick(['.', '..', ...material.flows]),
} as const satisfies Readonly<Record<ParameterName, Values[string]>>

/** A valid value of the parameter; a random text for an unknown one. */
export const rightValue = (name: string, context: Context, path: string): string =>
  (RIGHT as Values)[name]?.(context, path) ?? textOf(context.random, 3)

/** A value that is damaged or of another type. */
export function wrongValue(name: string, context: Context, path: string): string {
  const { random } = context
  const right = rightValue(name, context, path)
  const at = random.int(right.length + 1)
  return random.weighted<() => string>([
    [6, () => (name === 'q' ? brokenQuery(right, random) : damaged(right, context))],
    [2, () => random.pick([...NUMBERS, ...TIMES, ...GUIDS])],
    [2, () => textOf(random)],
    [2, () => right.slice(0, at)],
    [1, () => right.repeat(random.size(200))],
    [1, () => rightValue(random.pick(Object.keys(RIGHT)), context, path)],
    [1, () => ''],
  ])()
}

/** A cursor is JSON in base64, so its content is damaged as well. */
function damaged(text: string, { random }: Context): string {
  if (/^[\w-]{12,}$/.test(text) && random.oneIn(2)) {
    const inside = Buffer.from(text, 'base64url').toString('latin1')
    return Buffer.from(changed(inside, random), 'latin1').toString('base64url')
  }
  return changed(text, random)
}

function changed(text: string, random: Context['random']): string {
  const at = random.int(text.length)
  const put = random.pick(['', '0', '"', ']', '-', '9'.repeat(random.size(30)), '\\u0000', 'null', textOf(random, 2)])
  return text.slice(0, at) + put + text.slice(at + random.int(4))
}
