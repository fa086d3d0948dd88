import { LEVELS } from '../../../shared/contract/levels.ts'
import { protobufOf } from '../../support/otlp-protobuf.ts'
import { type Draft, type Header, withHeader } from '../draft.ts'
import { TEAMS } from '../material.ts'
import { textOf } from '../values.ts'
import { type Context, headersOf } from './context.ts'

const BATCH_MAX = 15
const LARGE_BATCH_MAX = 80
const JSON_TYPE: Header = ['Content-Type', 'application/json']

/** A valid ingestion request. */
const good = {
  role: 'gateway',
  method: 'POST',
  version: 'HTTP/1.1',
  mutations: [],
  torn: false,
} as const satisfies Partial<Draft>

/** A text that contains the mark; used so often that few mutations destroy every copy. */
const markOf = ({ mark }: Context, index: number): string => `${mark}${index}x`

function commonFields({ random, mark }: Context) {
  return {
    level: random.oneIn(5) ? random.pick(LEVELS).toLowerCase() : random.pick(LEVELS),
    ...(random.oneIn(2) && { environment: random.pick(['Production', 'Test', textOf(random, 3)]) }),
    ...(random.oneIn(2) && { correlationKey: random.oneIn(2) ? `flow-${random.int(200)}` : `flow of ${mark}` }),
    ...(random.oneIn(4) && {
      timestamp: `2026-0${random.between(1, 9)}-1${random.int(10)}T09:30:00.${random.int(1e6)}Z`,
    }),
  }
}

function applicationFields(context: Context, index: number) {
  const { random } = context
  const mark = markOf(context, index)
  return {
    categoryName: random.pick(['Acme.Orders', 'Acme.Billing.Jobs', 'a.b.c', textOf(random, 2)]),
    message: `${mark} ${textOf(random)}`,
    eventName: mark,
    ...commonFields(context),
    ...(random.oneIn(3) && { eventId: random.between(-1000, 1000) }),
    ...(random.oneIn(4) && {
      exception: `System.Exception: ${textOf(random)}\n   at A.B(C c) in /src/x.cs:line ${random.int(99)}`,
    }),
    ...(random.oneIn(2) && { scopeData: scopeOf(context) }),
  }
}

function scopeOf({ random }: Context) {
  return {
    RequestId: `0HN${random.int(1e6)}`,
    '{OriginalFormat}': 'Processed {amount} for {who}',
    amount: random.int(1000) / 10,
    who: textOf(random, 3),
    nested: { list: [1, 'two', { three: null }] },
    ...(random.oneIn(3) && { Scopes: [{ '{OriginalFormat}': 'step {n}', n: random.int(9) }, textOf(random, 3)] }),
  }
}

/** POST /api/ExternalLogs */
export function eventLog(context: Context): Draft {
  const { random, mark } = context
  const { main } = TEAMS
  const text = `${markOf(context, 0)} ${textOf(random)}`
  const payload = random.oneIn(2)
    ? text
    : JSON.stringify({ mark: text, order: { id: random.int(9999), tags: ['a', 'b'] } })
  const body = { uniqueIdentifier: random.oneIn(2) ? main.event : main.step, payload, ...commonFields(context) }
  return {
    ...good,
    route: 'POST /api/ExternalLogs',
    dialect: 'ingestion',
    target: '/api/ExternalLogs',
    headers: headersOf(context, main, [JSON_TYPE]),
    value: body,
    stores: { mark, entries: 1 },
  }
}

/** POST /api/ApplicationLogs */
export function applicationLog(context: Context): Draft {
  const { main } = TEAMS
  return {
    ...good,
    route: 'POST /api/ApplicationLogs',
    dialect: 'ingestion',
    target: '/api/ApplicationLogs',
    headers: headersOf(context, main, [JSON_TYPE]),
    value: { uniqueIdentifier: main.project, ...applicationFields(context, 0) },
    stores: { mark: context.mark, entries: 1 },
  }
}

const listOf = <T>({ random }: Context, item: (index: number) => T): readonly T[] =>
  Array.from({ length: random.size(random.oneIn(20) ? LARGE_BATCH_MAX : BATCH_MAX) }, (_, index) => item(index))

/** POST /api/ApplicationLogs/batch */
export function batch(context: Context): Draft {
  const { main } = TEAMS
  const logEntries = listOf(context, (index) => applicationFields(context, index))
  return {
    ...good,
    route: 'POST /api/ApplicationLogs/batch',
    dialect: 'ingestion',
    target: '/api/ApplicationLogs/batch',
    headers: headersOf(context, main, [JSON_TYPE]),
    value: { uniqueIdentifier: main.project, logEntries },
    stores: { mark: context.mark, entries: logEntries.length },
  }
}

/** POST /v1/logs: OTLP/HTTP with JSON. */
export function otlp(context: Context): Draft {
  const { random } = context
  const { main } = TEAMS
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const logRecords = listOf(context, (index) => ({
    timeUnixNano: `17${random.int(1e8).toString().padStart(8, '0')}000000000`,
    severityNumber: random.int(25),
    severityText: random.pick(['INFO', 'warn', 'fatal']),
    body: { stringValue: `${markOf(context, index)} ${textOf(random)}` },
    eventName: markOf(context, index),
    ...(random.oneIn(3) && {
      traceId: `5b8efff798038103d269b633813fc${100 + random.int(900)}`,
      spanId: 'eee19b7ec3c1b174',
    }),
    attributes: [
      attribute('http.route', textOf(random, 2)),
      { key: 'n', value: { intValue: '9007199254740993' } },
      { key: 'list', value: { arrayValue: { values: [{ doubleValue: 0.5 }, { boolValue: true }] } } },
      { key: 'map', value: { kvlistValue: { values: [attribute('a', 'b')] } } },
    ],
  }))
  const resource = {
    attributes: random.oneIn(2)
      ? [attribute('service.name', main.projectName)]
      : [attribute('sluice.project.id', main.project), attribute('deployment.environment.name', 'Test')],
  }
  return {
    ...good,
    route: 'POST /v1/logs',
    dialect: 'otlp',
    target: '/v1/logs',
    headers: headersOf(context, main, [JSON_TYPE]),
    value: { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'Acme.Orders' }, logRecords }] }] },
    stores: { mark: context.mark, entries: logRecords.length },
  }
}

/** The same in Protobuf, also to Seq's path. */
export function otlpProtobuf(context: Context): Draft {
  const { value, ...draft } = otlp(context)
  const path = context.random.pick(['/v1/logs', '/ingest/otlp/v1/logs'])
  const headers = withHeader(draft, 'Content-Type', 'application/x-protobuf')
  return { ...draft, route: `POST ${path}`, target: targetOf(context, path), headers, body: protobufOf(value) }
}

/** The path itself, or below its Project's path. */
function targetOf({ random }: Context, path: string): string {
  const { project, projectName } = TEAMS.main
  return random.oneIn(3) ? `/projects/${encodeURIComponent(random.pick([project, projectName]))}${path}` : path
}

/** Forms of a JSON body with several entries, each given as text; `name` is that of the list if it is in an object. */
const bodyOf = ({ random }: Context, entries: readonly string[], name: string): string =>
  random.pick([
    () => entries.join(random.pick(['\n', '\r\n', '\n\n'])),
    () => `[${entries.join(random.pick([',', ',\n', ' , ']))}]`,
    () => `{"${name}":[${entries.join()}]}`,
  ])()

/** POST /ingest/clef and POST /api/events/raw: Serilog's compact format, and its predecessor. */
export function clef(context: Context): Draft {
  const { random } = context
  const { main } = TEAMS
  const isRaw = random.oneIn(3)
  const raw = (index: number) => ({
    Timestamp: '2026-01-31T09:30:00.123Z',
    Level: random.pick(['Information', 'warn', undefined]),
    MessageTemplate: `${markOf(context, index)} {User} ${textOf(random, 3)}`,
    Properties: { User: textOf(random, 2), '@own': [1], EventId: { Id: 1 } },
    ...(random.oneIn(3) && { Exception: 'Error: x\n    at a.js:1:1', TraceId: '5b8efff798038103d269b633813fc60c' }),
  })
  const events = listOf(context, (index) =>
    JSON.stringify(
      isRaw
        ? raw(index)
        : {
            '@t': '2026-01-31T09:30:00.123Z',
            '@mt': `${markOf(context, index)} {User} took {Elapsed:0.00} ms ${textOf(random, 3)}`,
            '@l': random.pick(['Information', 'Warning', 'err', 'Fatal']),
            '@i': random.oneIn(2) ? 'a1b2c3d4' : random.int(99),
            '@r': ['1.50'],
            User: textOf(random, 2),
            Elapsed: 1.5,
            SourceContext: 'Acme.Web',
            ...(random.oneIn(3) && { '@x': 'System.Exception: x\n   at A.B()' }),
            ...(random.oneIn(3) && {
              '@tr': '5b8efff798038103d269b633813fc60c',
              CorrelationId: `flow-${random.int(200)}`,
            }),
            '@@escaped': { a: [1] },
          },
    ),
  )
  const [path, query] = random.pick([
    ['/ingest/clef', ''],
    ['/ingest/clef', `?project=${main.project}`],
    ['/api/events/raw', ''],
    ['/api/events/raw', '?clef'],
    ['/api/events/raw', `?clef&project=${encodeURIComponent(main.projectName)}`],
  ] as const)
  const type = random.pick([
    'application/vnd.serilog.clef',
    'application/json',
    'application/x-ndjson',
    'text/plain; charset=utf-8',
  ])
  const sender: Header = random.oneIn(2) ? ['X-Seq-ApiKey', main.key] : ['X-API-Key', main.key]
  return {
    ...good,
    route: `POST ${path}`,
    dialect: 'seq',
    target: targetOf(context, path) + query,
    headers: [...headersOf(context, main).slice(0, 1), sender, ['Content-Type', type]],
    body: Buffer.from(bodyOf(context, events, 'Events')),
    stores: { mark: context.mark, entries: events.length },
  }
}

/** POST /ingest/json: the JSON of arbitrary loggers. */
export function jsonLogs(context: Context): Draft {
  const { random } = context
  const { main } = TEAMS
  const entryOf = random.pick<(mark: string) => object>([
    (mark) => ({
      level: random.pick([10, 30, 60, 35]),
      time: 1_769_851_800_000 + random.int(1e6),
      pid: 1,
      hostname: 'h',
      name: 'shop',
      msg: `${mark} ${textOf(random)}`,
      ...(random.oneIn(3) && {
        err: { type: 'Error', message: textOf(random), stack: 'Error: x\n    at a.js:1:1', code: 1 },
      }),
    }),
    (mark) => ({
      '@timestamp': '2026-01-31T09:30:00.123456789+01:00',
      'log.level': random.pick(['ERROR', 'warn']),
      message: mark,
      log: { logger: 'a.b', origin: { file: { line: 1 } } },
      error: { type: 'X', message: textOf(random), stack_trace: ['X', '\tat Y'] },
      'trace.id': '5b8efff798038103d269b633813fc60c',
    }),
    (mark) => ({
      instant: { epochSecond: 1_769_851_800, nanoOfSecond: random.int(1e9) },
      level: 'INFO',
      loggerName: 'a.b.C',
      message: mark,
      thrown: { name: 'X', message: 'y', extendedStackTrace: [{ class: 'A', method: 'b', file: 'c', line: 1 }] },
      contextMap: { correlationId: `flow-${random.int(200)}`, [textOf(random, 2)]: textOf(random, 2) },
    }),
    (mark) => ({
      date: 1_769_851_800.123,
      log: `${mark} ${textOf(random)}\n`,
      stream: 'stdout',
      n: 9_007_199_254_740_991,
    }),
    (mark) => ({
      MESSAGE: mark,
      PRIORITY: String(random.int(8)),
      __REALTIME_TIMESTAMP: '1769851800123456',
      SYSLOG_IDENTIFIER: 'x',
    }),
    (mark) => ({
      version: '1.1',
      short_message: mark,
      level: random.int(8),
      timestamp: 1_769_851_800.5,
      _a: textOf(random, 2),
    }),
    (mark) => ({ '@t': '2026-01-31T09:30:00Z', '@mt': `${mark} {A}`, A: textOf(random, 2) }),
    (mark) => ({ [textOf(random, 2)]: mark, nested: { list: [1, null, { a: textOf(random, 2) }] } }),
  ])
  const entries = listOf(context, (index) => entryOf(markOf(context, index)))
  const texts = entries.map((entry) => JSON.stringify(entry))
  const query = random.pick(['', `?project=${main.project}`, `?project=${encodeURIComponent(main.projectName)}`])
  const type = random.pick([
    'application/json',
    'application/x-ndjson',
    'text/plain',
    'application/ecs+json; charset=utf-8',
  ])
  return {
    ...good,
    route: 'POST /ingest/json',
    dialect: 'shipper',
    target: `/ingest/json${query}`,
    headers: headersOf(context, main, [['Content-Type', type]]),
    // As a value, its structure can be mutated.
    ...(random.oneIn(3) ? { value: entries } : { body: Buffer.from(bodyOf(context, texts, 'events')) }),
    stores: { mark: context.mark, entries: entries.length },
  }
}
