import { ERROR_PARTS } from '../ingest/exception.ts'

/*
 * The names that loggers and log shippers use for our fields. docs/http.md shows this table.
 *
 * Case, `_` and `-` are ignored in names: `logger_name` is also `loggerName`, and `trace_id` is `TraceId`. A dot leads into an object or is
 * part of the name itself: `log.level` is `{"log.level":..}` and `{"log":{"level":..}}`. If an entry has several names of a field, the
 * first one here with a readable value counts; the others stay in the entry's scope data.
 */

/** A name; with `beside`, it counts only if the entry also has one of those names. */
export type Alias = string | { readonly name: string; readonly beside: readonly string[] }

/** Objects in which loggers keep what their callers add to a log, or set as context. */
const CONTEXTS = [
  'mdc',
  'contextMap',
  'properties',
  'attributes',
  'fields',
  'context',
  'extra',
  'record.extra',
  'labels',
  'logging.googleapis.com/labels',
  'span',
  'state',
]

const inContexts = (...names: readonly string[]): readonly string[] => [
  ...names,
  ...CONTEXTS.flatMap((context) => names.map((name) => `${context}.${name}`)),
]

/** Error objects. A text under one of these names counts as the exception's message. */
export const ERRORS = [
  'err',
  'error',
  'exception',
  'thrown',
  'throwable',
  'context.exception',
  'record.exception',
] as const

const inErrors = (part: keyof typeof ERROR_PARTS): readonly string[] =>
  ERRORS.flatMap((error) => ERROR_PARTS[part].map((name) => `${error}.${name}`))

export const ALIASES = {
  timestamp: [
    '@timestamp',
    'timestamp',
    'time',
    'ts',
    'instant',
    'timeMillis',
    'datetime',
    'asctime',
    'ISODATE',
    '__REALTIME_TIMESTAMP',
    'record.time.timestamp',
    'timestampSeconds',
    'created',
    'date',
  ],
  level: [
    'log.level',
    'level_name',
    'log_level',
    'level',
    'severity',
    'severity_text',
    'record.level.name',
    'lvl',
    'levelno',
    'level_number',
    'level_value',
    'syslog_severity',
    'PRIORITY',
  ],
  message: [
    'formattedMessage',
    'message',
    'msg',
    'short_message',
    '@message',
    'fields.message',
    'record.message',
    'log',
    'body',
    'text',
    'event',
  ],
  categoryName: [
    'categoryName',
    'category',
    'log.logger',
    'logger_name',
    'logger',
    'logger.name',
    'SourceContext',
    'channel',
    'record.name',
    'SYSLOG_IDENTIFIER',
    'PROGRAM',
    'programname',
    // Anything may have a `name` or a `target`.
    { name: 'name', beside: ['hostname', 'levelname'] },
    { name: 'target', beside: ['fields'] },
  ],
  environment: [
    'environment',
    'deployment.environment.name',
    'deployment.environment',
    'service.environment',
    'EnvironmentName',
    'env',
    'dd.env',
  ],
  correlationKey: [...inContexts('correlationKey', 'correlation_id'), 'sluice.correlation_key'],
  traceId: [...inContexts('trace_id'), 'trace.id', 'dd.trace_id', 'otelTraceID'],
  spanId: [...inContexts('span_id'), 'span.id', 'dd.span_id', 'otelSpanID'],
  eventName: ['eventName', 'event.name', 'EventId.Name'],
  eventId: ['eventId', 'EventId.Id'],
  exceptionType: [...inErrors('type'), 'error_type'],
  exceptionMessage: [...inErrors('message'), 'error_message', ...ERRORS],
  exceptionTrace: [...inErrors('trace'), 'stack_trace', 'stack', 'exc_info', 'backtrace', 'full_message'],
  exceptionCause: inErrors('cause'),
  scopeData: ['scopeData'],
} as const satisfies Readonly<Record<string, readonly Alias[]>>

/** A field of ours, or a part of one. */
export type AliasedField = keyof typeof ALIASES

export const nameOf = (alias: Alias): string => (typeof alias === 'string' ? alias : alias.name)
