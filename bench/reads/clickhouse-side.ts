import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LEVELS, levelRank } from '../../shared/contract/levels.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { FACET_VALUES, KEY_PART, LIST_ENTRIES, LIST_FLOWS, last, spanMs } from './reads.ts'
import { DAYS, middleFlow, projectId, TEAM, WORDS } from './records.ts'
import type { Side } from './side.ts'

/** Laid out as its users lay out logs: sorted by service and time, texts with an index of tokens, and attributes as a map. */
const TABLE = `
CREATE TABLE IF NOT EXISTS bench.logs (
  team LowCardinality(String),
  project LowCardinality(String),
  timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  id UUID,
  kind LowCardinality(String),
  level UInt8,
  environment LowCardinality(String),
  event LowCardinality(String),
  step LowCardinality(String),
  category LowCardinality(String),
  eventId Int32,
  eventName LowCardinality(String),
  correlationKey String CODEC(ZSTD(1)),
  message String CODEC(ZSTD(1)),
  exception String CODEC(ZSTD(1)),
  payload String CODEC(ZSTD(1)),
  scope Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  INDEX tokens message TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 4,
  INDEX keys correlationKey TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = MergeTree PARTITION BY toDate(timestamp) ORDER BY (team, project, timestamp)`

const INSERT_ROWS = 20_000

interface Answer {
  readonly ms: number
  readonly cpuSeconds: number
  readonly data: readonly (readonly unknown[])[]
}

/** ClickHouse within a process of Python, as the package chdb has it. `python` is a Python 3 with that package. */
export async function openClickHouseSide(python: string, directory: string, entries: number): Promise<Side> {
  mkdirSync(directory, { recursive: true })
  const child = spawn(python, [join(import.meta.dirname, 'clickhouse.py'), directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const query = async (statement: string): Promise<Answer> => {
    if (!child.stdin.write(`${JSON.stringify(statement)}\n`)) await once(child.stdin, 'drain')
    const { done, value } = await answers.next()
    if (done) throw new Error('the process of ClickHouse has ended')
    const answer = JSON.parse(value) as Answer & { readonly error?: string }
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }
  const number = async (statement: string): Promise<number> => Number((await query(statement)).data[0]?.[0] ?? 0)
  await query('CREATE DATABASE IF NOT EXISTS bench')
  await query(TABLE)
  const queries = queriesOf(entries)
  let rows: string[] = []
  const insert = async (): Promise<number> => {
    if (rows.length === 0) return 0
    const { cpuSeconds } = await query(`INSERT INTO bench.logs FORMAT JSONEachRow\n${rows.join('\n')}`)
    rows = []
    return cpuSeconds
  }
  return {
    name: 'ClickHouse',
    held: () => number('SELECT count() FROM bench.logs'),
    async fill(batch) {
      rows.push(...batch.map(rowOf))
      return rows.length < INSERT_ROWS ? 0 : insert()
    },
    async settle() {
      await insert()
      await query('OPTIMIZE TABLE bench.logs')
    },
    async read({ name }) {
      const statement = queries[name]
      if (statement === undefined) return null
      const { ms, data } = await query(statement)
      return { ms, size: SIZES.some((prefix) => name.startsWith(prefix)) ? sumOfCounts(data) : data.length }
    },
    bytes: () => number("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'logs'"),
    async close() {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

/** A row of the table as JSON; what an entry does not have is empty. */
const rowOf = (entry: EntryRecord): string =>
  JSON.stringify({
    team: entry.team,
    timestamp: timeOf(entry.timestamp),
    id: entry.id,
    kind: entry.kind,
    level: levelRank(entry.level),
    environment: entry.environment,
    correlationKey: entry.correlationKey ?? '',
    ...(entry.kind === 'event'
      ? { event: entry.event ?? '', step: entry.step ?? '', payload: entry.payload }
      : {
          project: entry.project,
          category: entry.categoryName,
          eventId: entry.eventId,
          eventName: entry.eventName,
          message: entry.message,
          exception: entry.exception ?? '',
          scope: Object.fromEntries(Object.entries(entry.scopeData ?? {}).map(([key, value]) => [key, String(value)])),
        }),
  })

/** Reads whose answer counts entries: the first column of each row is how many. */
const SIZES = ['histogram', 'facets', 'groups', 'p95', 'one flow']

const sumOfCounts = (data: Answer['data']): number => data.reduce((total, [count]) => total + Number(count), 0)

const timeOf = (time: string): string => time.replace('T', ' ').replace('Z', '')
const during = (days: number): string => {
  const { from, to } = last(days)
  return `timestamp >= toDateTime64('${timeOf(from)}', 9, 'UTC') AND timestamp < toDateTime64('${timeOf(to)}', 9, 'UTC')`
}
const word = (sought: string): string => `hasToken(message, '${sought}')`
const where = (...conditions: readonly string[]): string => `WHERE ${[`team = '${TEAM}'`, ...conditions].join(' AND ')}`
const PROJECT = `project = '${projectId(3)}'`
const ERROR = `level = ${levelRank('Error')}`

const list = (...conditions: readonly string[]): string =>
  `SELECT * FROM bench.logs ${where(...conditions)} ORDER BY timestamp DESC, id DESC LIMIT ${LIST_ENTRIES}`

const span = (days: number): string => `intDiv(toUnixTimestamp64Milli(timestamp), ${spanMs(days)}) AS span`

const histogram = (days: number, ...conditions: readonly string[]): string =>
  `SELECT count(), ${span(days)}, level FROM bench.logs ${where(...conditions)} GROUP BY span, level`

const FACETS = ['environment', 'event', 'step', 'project', 'category']
/** The facet of levels alone says how much was found. */
const facets = (...conditions: readonly string[]): string =>
  `SELECT if(facet = 0, count, 0), facet, value FROM (
    SELECT count() AS count, level, ${FACETS.join(', ')},
      multiIf(grouping(level) = 0, 0, ${FACETS.slice(0, -1)
        .map((name, index) => `grouping(${name}) = 0, ${index + 1}`)
        .join(', ')}, ${FACETS.length}) AS facet,
      concat(toString(level), ${FACETS.join(', ')}) AS value
    FROM bench.logs ${where(...conditions)}
    GROUP BY GROUPING SETS ((level), ${FACETS.map((name) => `(${name})`).join(', ')})
    ORDER BY count DESC LIMIT ${Math.max(FACET_VALUES, LEVELS.length)} BY facet)`

const ofNumbers = where(during(7), "mapContains(scope, 'ms')")
const p95 = (by: string, condition = '1'): string =>
  `SELECT count(), ${span(7)}, ${by} AS one, quantile(0.95)(toFloat64OrNull(scope['ms']))
  FROM bench.logs ${ofNumbers} AND ${condition} GROUP BY span, one`
const MOST = `SELECT scope['tenant'] FROM bench.logs ${ofNumbers} GROUP BY scope['tenant'] ORDER BY count() DESC LIMIT 5`

const flows = (having = '', ...conditions: readonly string[]): string =>
  `SELECT correlationKey, max(timestamp) AS at, min(timestamp), count(), max(level) FROM bench.logs
  ${where("correlationKey != ''", ...conditions)} GROUP BY correlationKey ${having} ORDER BY at DESC LIMIT ${LIST_FLOWS}`

/** The statement for each read. */
const queriesOf = (entries: number): Readonly<Record<string, string>> => ({
  list: list(),
  'common word': list(word(WORDS.common)),
  'rare word': list(word(WORDS.rare)),
  'no match': list(word(WORDS.none)),
  phrase: list(...WORDS.phrase.split(' ').map(word), `message LIKE '%${WORDS.phrase}%'`),
  field: list("scope['tenant'] = 'tenant-7'", ERROR),
  'number comparison': list("kind = 'application'", "toFloat64OrNull(scope['ms']) > 990"),
  histogram: histogram(DAYS),
  'histogram of a day': histogram(1, during(1)),
  'histogram of a Project, 30 days': histogram(DAYS, PROJECT, during(DAYS)),
  'histogram of a Project, a day': histogram(1, PROJECT, during(1)),
  'histogram of a common word': histogram(DAYS, word(WORDS.common)),
  facets: facets(),
  'facets of 30 days': facets(during(DAYS)),
  'facets of errors, 7 days': facets(ERROR, during(7)),
  'facets of a common word': facets(word(WORDS.common)),
  'groups of a scope value, 7 days': `SELECT count() AS count, scope['tenant'] AS tenant, min(timestamp), max(timestamp), max(level), any(message)
    FROM bench.logs ${where(during(7), "mapContains(scope, 'tenant')")} GROUP BY tenant ORDER BY count DESC LIMIT 50`,
  'p95 of a number, 7 days': p95("''"),
  'p95 of a number by a scope value, 7 days': p95("scope['tenant']", `one IN (${MOST})`),
  'one flow': `SELECT count(), event, step, project, level, min(timestamp), max(timestamp)
    FROM bench.logs ${where(`correlationKey = '${middleFlow(entries)}'`)} GROUP BY event, step, project, level`,
  'list of flows': flows(),
  'list of flows of a Project': flows(`HAVING countIf(${PROJECT}) > 0`),
  'flows by part of a key': flows('', `positionCaseInsensitive(correlationKey, '${KEY_PART}') > 0`),
})
