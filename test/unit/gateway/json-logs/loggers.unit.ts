import { describe, expect, test } from 'vitest'
import { entryOf } from '../../../../gateway/json-logs/entry.ts'
import type { Project } from '../../../../shared/registry/registry.ts'

const PROJECT = { name: 'Shop' } as Project

/** The fields that one line becomes. */
function fieldsOf(line: string): Record<string, unknown> {
  const { value, problem } = entryOf(JSON.parse(line), line.length, PROJECT)
  expect(problem).toBeUndefined()
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined))
}

/** Lines as these loggers print them, and what is expected beside a category `Shop` and the level `Information`. */
const LINES: readonly (readonly [logger: string, line: string, fields: object])[] = [
  [
    'pino',
    '{"level":40,"time":1795281613127,"pid":657,"hostname":"web-1","name":"checkout","msg":"slow","order":4711}',
    {
      level: 'Warning',
      timestamp: '2026-11-21T17:20:13.127Z',
      categoryName: 'checkout',
      message: 'slow',
      scopeData: { pid: 657, hostname: 'web-1', order: 4711 },
    },
  ],
  [
    'pino, an error',
    '{"level":50,"time":1795281613127,"pid":1,"hostname":"h","err":{"type":"TypeError","message":"boom","stack":"TypeError: boom\\n    at a.js:3:78","code":"E1"},"msg":"boom"}',
    {
      level: 'Error',
      timestamp: '2026-11-21T17:20:13.127Z',
      message: 'boom',
      exception: 'TypeError: boom\n    at a.js:3:78',
      scopeData: { pid: 1, hostname: 'h', err: { code: 'E1' } },
    },
  ],
  [
    'pino, without a message',
    '{"level":30,"time":1795281613127,"user":1}',
    { timestamp: '2026-11-21T17:20:13.127Z', message: '{"user":1}', scopeData: { user: 1 } },
  ],
  [
    'bunyan',
    '{"name":"myapp","hostname":"banana.local","pid":40161,"level":50,"err":{"message":"boom","name":"TypeError","stack":"TypeError: boom\\n    at Object.<anonymous> (/x.js:5:9)"},"msg":"hi","time":"2026-11-21T17:20:13.851Z","v":0}',
    {
      categoryName: 'myapp',
      level: 'Error',
      message: 'hi',
      timestamp: '2026-11-21T17:20:13.851Z',
      exception: 'TypeError: boom\n    at Object.<anonymous> (/x.js:5:9)',
      scopeData: { hostname: 'banana.local', pid: 40161, v: 0 },
    },
  ],
  [
    'winston',
    '{"level":"error","message":"failed meta err","service":"user-service","stack":"Error: meta err\\n    at x.mjs:5:73","timestamp":"2026-11-21T17:20:13.405Z"}',
    {
      level: 'Error',
      message: 'failed meta err',
      exception: 'Error: meta err\n    at x.mjs:5:73',
      timestamp: '2026-11-21T17:20:13.405Z',
      scopeData: { service: 'user-service' },
    },
  ],
  [
    'winston, in colours',
    '{"level":"\\u001b[32minfo\\u001b[39m","message":"hello","user":{"name":"Bob"}}',
    { message: 'hello', scopeData: { user: { name: 'Bob' } } },
  ],
  [
    'winston, an uncaught exception',
    '{"date":"Sat Nov 21 2026 17:20:13 GMT+0000 (UTC)","error":{},"exception":true,"level":"error","message":"uncaughtException: no","stack":"Error: no\\n    at x","trace":[{"column":1,"file":"x","line":1}]}',
    {
      level: 'Error',
      message: 'uncaughtException: no',
      exception: 'Error: no\n    at x',
      scopeData: {
        date: 'Sat Nov 21 2026 17:20:13 GMT+0000 (UTC)',
        error: {},
        exception: true,
        trace: [{ column: 1, file: 'x', line: 1 }],
      },
    },
  ],
  [
    'ECS, dotted names',
    '{"@timestamp":"2026-11-21T17:20:13.127Z","log.level":"ERROR","message":"no","ecs.version":"1.2.0","service.name":"shop","service.environment":"prod","log.logger":"com.acme.Pay","process.thread.name":"main","trace.id":"0af7651916cd43dd8448eb211c80319c","span.id":"b7ad6b7169203331","error.type":"java.lang.IllegalStateException","error.message":"bad","error.stack_trace":"java.lang.IllegalStateException: bad\\n\\tat com.acme.Pay.pay(Pay.java:5)\\n"}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Error',
      message: 'no',
      categoryName: 'com.acme.Pay',
      environment: 'prod',
      correlationKey: '0af7651916cd43dd8448eb211c80319c',
      exception: 'java.lang.IllegalStateException: bad\n\tat com.acme.Pay.pay(Pay.java:5)',
      scopeData: {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        'ecs.version': '1.2.0',
        'service.name': 'shop',
        'process.thread.name': 'main',
      },
    },
  ],
  [
    'ECS, nested, with a trace as a list',
    '{"@timestamp":"2026-11-21T17:20:13.127Z","log":{"level":"warn","logger":"pay","origin":{"file":{"line":5}}},"message":"no","error":{"type":"X","message":"bad","stack_trace":["X: bad","\\tat Y"]},"trace":{"id":"0AF7651916CD43DD8448EB211C80319C"}}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Warning',
      message: 'no',
      categoryName: 'pay',
      correlationKey: '0af7651916cd43dd8448eb211c80319c',
      exception: 'X: bad\n\tat Y',
      scopeData: { traceId: '0af7651916cd43dd8448eb211c80319c', log: { origin: { file: { line: 5 } } } },
    },
  ],
  [
    'log4j2 JsonLayout',
    '{"instant":{"epochSecond":1795281613,"nanoOfSecond":127000001},"thread":"main","level":"FATAL","loggerName":"com.acme.Pay","message":"no","thrown":{"commonElementCount":0,"localizedMessage":"bad","message":"bad","name":"java.lang.RuntimeException","cause":{"commonElementCount":1,"message":"deep","name":"java.io.IOException","extendedStackTrace":[{"class":"com.acme.Io","method":"read","file":"Io.java","line":9,"exact":true}]},"extendedStackTrace":[{"class":"com.acme.Pay","method":"pay","file":"Pay.java","line":12,"exact":true,"location":"classes/","version":"?"}]},"endOfBatch":false,"loggerFqcn":"org.apache.logging.log4j.spi.AbstractLogger","contextMap":{"traceId":"0af7651916cd43dd8448eb211c80319c","user":"ada"},"threadId":1,"threadPriority":5}',
    {
      timestamp: '2026-11-21T17:20:13.127000001Z',
      level: 'Critical',
      categoryName: 'com.acme.Pay',
      message: 'no',
      correlationKey: '0af7651916cd43dd8448eb211c80319c',
      exception:
        'java.lang.RuntimeException: bad\n    at com.acme.Pay.pay(Pay.java:12)\nCaused by: java.io.IOException: deep\n    at com.acme.Io.read(Io.java:9)',
      scopeData: {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        thread: 'main',
        thrown: { commonElementCount: 0, localizedMessage: 'bad', cause: { commonElementCount: 1 } },
        endOfBatch: false,
        loggerFqcn: 'org.apache.logging.log4j.spi.AbstractLogger',
        contextMap: { user: 'ada' },
        threadId: 1,
        threadPriority: 5,
      },
    },
  ],
  [
    'log4j2 JsonTemplateLayout, GcpLayout',
    '{"timestampSeconds":1795281613,"timestampNanos":127000001,"severity":"DEBUG","message":"no","logging.googleapis.com/labels":{"correlationKey":"order-5"},"logging.googleapis.com/trace_sampled":true,"thread":"main","logger":"com.acme.Pay"}',
    {
      timestamp: '2026-11-21T17:20:13.127000001Z',
      level: 'Debug',
      categoryName: 'com.acme.Pay',
      message: 'no',
      correlationKey: 'order-5',
      scopeData: { timestampNanos: 127000001, 'logging.googleapis.com/trace_sampled': true, thread: 'main' },
    },
  ],
  [
    'log4j2 JsonTemplateLayout, LogstashJsonEventLayoutV1',
    '{"@version":1,"source_host":"web-1","message":"no","thread_name":"main","@timestamp":"2026-11-21T17:20:13.127+0000","level":"ERROR","logger_name":"com.acme.Pay","exception":{"exception_class":"java.lang.RuntimeException","exception_message":"bad","stacktrace":"java.lang.RuntimeException: bad\\n\\tat com.acme.Pay.pay(Pay.java:12)\\n"}}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Error',
      categoryName: 'com.acme.Pay',
      message: 'no',
      exception: 'java.lang.RuntimeException: bad\n\tat com.acme.Pay.pay(Pay.java:12)',
      scopeData: { '@version': 1, source_host: 'web-1', thread_name: 'main' },
    },
  ],
  [
    'logstash-logback-encoder',
    '{"@timestamp":"2026-11-21T18:20:13.127123456+01:00","@version":"1","message":"no","logger_name":"com.acme.Pay","thread_name":"main","level":"WARN","level_value":30000,"stack_trace":"java.lang.X: bad\\n\\tat Y\\n","traceId":"0af7651916cd43dd8448eb211c80319c"}',
    {
      timestamp: '2026-11-21T17:20:13.127123456Z',
      level: 'Warning',
      categoryName: 'com.acme.Pay',
      message: 'no',
      exception: 'java.lang.X: bad\n\tat Y',
      correlationKey: '0af7651916cd43dd8448eb211c80319c',
      scopeData: {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        '@version': '1',
        thread_name: 'main',
        level_value: 30000,
      },
    },
  ],
  [
    'logback JsonEncoder',
    '{"sequenceNumber":0,"timestamp":1795281613127,"nanoseconds":127123456,"level":"ERROR","threadName":"main","loggerName":"com.acme.Pay","context":{"name":"default","birthdate":1795281613000,"properties":{}},"mdc":{"correlationId":"order-1"},"formattedMessage":"order 5 failed","message":"order {} failed","arguments":["5"],"throwable":{"className":"java.lang.X","message":"bad","stepArray":[{"className":"com.acme.Pay","methodName":"pay","fileName":"Pay.java","lineNumber":5}]}}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Error',
      categoryName: 'com.acme.Pay',
      message: 'order 5 failed',
      correlationKey: 'order-1',
      exception: 'java.lang.X: bad\n    at com.acme.Pay.pay(Pay.java:5)',
      scopeData: {
        sequenceNumber: 0,
        nanoseconds: 127123456,
        threadName: 'main',
        context: { name: 'default', birthdate: 1795281613000, properties: {} },
        message: 'order {} failed',
        arguments: ['5'],
      },
    },
  ],
  [
    'NLog JsonLayout',
    '{ "time": "2026-11-21 17:20:13.1270", "level": "WARN", "logger": "Acme.Pay", "message": "hello", "exception": "System.Exception: no\\r\\n   at A.B()", "properties": { "order": 5 } }',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Warning',
      categoryName: 'Acme.Pay',
      message: 'hello',
      exception: 'System.Exception: no\r\n   at A.B()',
      scopeData: { properties: { order: 5 } },
    },
  ],
  [
    'Serilog JsonFormatter, as Serilog.Sinks.Http sends it',
    '{"Timestamp":"2026-11-21T17:20:13.1270001+00:00","Level":"Fatal","MessageTemplate":"Order {Order}","RenderedMessage":"Order 5","Exception":"System.Exception: no","Properties":{"Order":5,"SourceContext":"Acme.Pay"}}',
    {
      timestamp: '2026-11-21T17:20:13.1270001+00:00',
      level: 'Critical',
      categoryName: 'Acme.Pay',
      message: 'Order 5',
      exception: 'System.Exception: no',
      scopeData: { '@mt': 'Order {Order}', Order: 5 },
    },
  ],
  [
    'Serilog CompactJsonFormatter',
    '{"@t":"2026-11-21T17:20:13.1270001Z","@mt":"Order {Order}","@l":"Warning","Order":5}',
    {
      timestamp: '2026-11-21T17:20:13.1270001Z',
      level: 'Warning',
      message: 'Order 5',
      scopeData: { '@mt': 'Order {Order}', Order: 5 },
    },
  ],
  [
    'JsonConsole of .NET',
    '{"EventId":13,"LogLevel":"Error","Category":"Acme.Pay","Message":"no","Exception":"System.Exception: x","State":{"Message":"no","{OriginalFormat}":"no","correlationKey":"order-5"},"Scopes":[]}',
    {
      eventId: 13,
      level: 'Error',
      categoryName: 'Acme.Pay',
      message: 'no',
      exception: 'System.Exception: x',
      correlationKey: 'order-5',
      scopeData: { State: { Message: 'no', '{OriginalFormat}': 'no' }, Scopes: [] },
    },
  ],
  [
    'zap',
    '{"level":"dpanic","ts":1795281613.127,"logger":"pay","caller":"pay/pay.go:12","msg":"no","error":"bad","stacktrace":"main.pay\\n\\t/src/pay.go:12"}',
    {
      level: 'Critical',
      timestamp: '2026-11-21T17:20:13.127Z',
      categoryName: 'pay',
      message: 'no',
      exception: 'bad\nmain.pay\n\t/src/pay.go:12',
      scopeData: { caller: 'pay/pay.go:12' },
    },
  ],
  [
    'slog',
    '{"time":"2026-11-21T18:20:13.127123456+01:00","level":"WARN+2","msg":"no","err":"bad","user":{"id":9}}',
    {
      timestamp: '2026-11-21T17:20:13.127123456Z',
      level: 'Warning',
      message: 'no',
      exception: 'bad',
      scopeData: { user: { id: 9 } },
    },
  ],
  [
    'zerolog',
    '{"level":"error","stack":[{"func":"inner","line":"20","source":"errors.go"}],"error":"seems we have an error here","time":1795281613,"message":"no"}',
    {
      level: 'Error',
      timestamp: '2026-11-21T17:20:13.000Z',
      message: 'no',
      exception: 'seems we have an error here\n    at inner(errors.go:20)',
    },
  ],
  [
    'tracing of Rust',
    '{"timestamp":"2026-11-21T17:20:13.127000Z","level":"INFO","fields":{"message":"hello","correlationKey":"order-5","order":5},"target":"shop::pay"}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      categoryName: 'shop::pay',
      message: 'hello',
      correlationKey: 'order-5',
      scopeData: { fields: { order: 5 } },
    },
  ],
  [
    'tracing of Rust, in a span',
    '{"level":"INFO","fields":{"message":"hello"},"target":"shop::pay","span":{"correlationKey":"order-5","name":"pay"}}',
    {
      categoryName: 'shop::pay',
      message: 'hello',
      correlationKey: 'order-5',
      scopeData: { span: { name: 'pay' } },
    },
  ],
  [
    'python-json-logger',
    '{"asctime": "2026-11-21 17:20:13,127", "levelname": "WARNING", "levelno": 30, "name": "shop.pay", "message": "no", "exc_info": "Traceback (most recent call last):\\n  File \\"x.py\\", line 1\\nValueError: bad", "taskName": null}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Warning',
      categoryName: 'shop.pay',
      message: 'no',
      exception: 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: bad',
      scopeData: { levelno: 30, taskName: null },
    },
  ],
  [
    'structlog',
    '{"event": "paid", "level": "info", "logger": "shop", "timestamp": "2026-11-21T17:20:13.127000Z", "order": 5}',
    { message: 'paid', categoryName: 'shop', timestamp: '2026-11-21T17:20:13.127Z', scopeData: { order: 5 } },
  ],
  [
    'structlog, dict_tracebacks',
    '{"event": "no", "level": "error", "timestamp": 1795281613.127, "exception": [{"exc_type": "RuntimeError", "exc_value": "outer", "frames": [{"filename": "x.py", "lineno": 6, "name": "<module>"}, {"filename": "x.py", "lineno": 5, "name": "pay"}]}, {"exc_type": "ValueError", "exc_value": "inner", "is_cause": true, "frames": []}]}',
    {
      message: 'no',
      level: 'Error',
      timestamp: '2026-11-21T17:20:13.127Z',
      exception: 'RuntimeError: outer\n    at <module>(x.py:6)\n    at pay(x.py:5)\nCaused by: ValueError: inner',
      scopeData: {
        exception: [expect.objectContaining({ exc_value: 'outer' }), expect.objectContaining({ is_cause: true })],
      },
    },
  ],
  [
    'loguru',
    '{"text": "17:20 | no\\n", "record": {"extra": {"a": 1, "correlation_id": "order-5"}, "level": {"icon": "x", "name": "SUCCESS", "no": 25}, "message": "no", "name": "shop.pay", "time": {"repr": "2026-11-21 17:20:13.127+00:00", "timestamp": 1795281613.127}, "exception": {"type": "ValueError", "value": "bad", "traceback": true}}}',
    {
      message: 'no',
      categoryName: 'shop.pay',
      timestamp: '2026-11-21T17:20:13.127Z',
      exception: 'ValueError: bad',
      correlationKey: 'order-5',
      scopeData: {
        text: '17:20 | no\n',
        record: {
          extra: { a: 1 },
          level: { icon: 'x', no: 25 },
          time: { repr: '2026-11-21 17:20:13.127+00:00' },
          exception: { traceback: true },
        },
      },
    },
  ],
  [
    'Monolog',
    '{"message":"no","context":{"exception":{"class":"RuntimeException","message":"bad","code":0,"file":"/x.php:5","trace":["/x.php:9","/y.php:1"]},"correlationKey":"order-5"},"level":400,"level_name":"ERROR","channel":"app","datetime":"2026-11-21T17:20:13.127123+00:00","extra":{}}',
    {
      message: 'no',
      level: 'Error',
      categoryName: 'app',
      timestamp: '2026-11-21T17:20:13.127123Z',
      exception: 'RuntimeException: bad\n/x.php:9\n/y.php:1',
      correlationKey: 'order-5',
      scopeData: { context: { exception: { code: 0, file: '/x.php:5' } }, level: 400, extra: {} },
    },
  ],
  [
    'Fluent Bit',
    '{"date":1795281613.127123,"log":"2026 paid\\n","stream":"stdout","kubernetes":{"pod_name":"web-1"}}',
    {
      timestamp: '2026-11-21T17:20:13.127123Z',
      message: '2026 paid',
      scopeData: { stream: 'stdout', kubernetes: { pod_name: 'web-1' } },
    },
  ],
  [
    'Vector',
    '{"file":"/var/log/a.log","host":"web-1","message":"paid","source_type":"file","timestamp":"2026-11-21T17:20:13.127123456Z"}',
    {
      timestamp: '2026-11-21T17:20:13.127123456Z',
      message: 'paid',
      scopeData: { file: '/var/log/a.log', host: 'web-1', source_type: 'file' },
    },
  ],
  [
    'pino, an error with causes that have members of their own',
    '{"msg":"no","err":{"type":"A","message":"a","stack":"A: a","code":1,"cause":{"type":"B","message":"b","stack":"B: b","code":2,"cause":{"message":"c","code":3}}}}',
    {
      message: 'no',
      exception: 'A: a\nCaused by: B: b\nCaused by: c',
      scopeData: { err: { code: 1, cause: { code: 2, cause: { code: 3 } } } },
    },
  ],
  [
    'Docker json-file',
    '{"log":"paid\\r\\n","stream":"stderr","time":"2026-11-21T17:20:13.127123456Z"}',
    { timestamp: '2026-11-21T17:20:13.127123456Z', message: 'paid', scopeData: { stream: 'stderr' } },
  ],
  [
    'Docker json-file, an empty line',
    '{"log":"\\n","stream":"stdout","time":"2026-11-21T17:20:13Z"}',
    { timestamp: '2026-11-21T17:20:13.000Z', message: '\n', scopeData: { stream: 'stdout' } },
  ],
  [
    'journald',
    '{"MESSAGE":"Started","PRIORITY":"3","SYSLOG_IDENTIFIER":"systemd","_PID":"1","_HOSTNAME":"web-1","__REALTIME_TIMESTAMP":"1795281613127123","_SYSTEMD_UNIT":"init.scope"}',
    {
      message: 'Started',
      level: 'Error',
      categoryName: 'systemd',
      timestamp: '2026-11-21T17:20:13.127123Z',
      scopeData: { _PID: '1', _HOSTNAME: 'web-1', _SYSTEMD_UNIT: 'init.scope' },
    },
  ],
  [
    'journald, a message with colours as bytes in UTF-8',
    '{"MESSAGE":[27,91,51,49,109,195,169,27,91,48,109],"PRIORITY":"6","__REALTIME_TIMESTAMP":"1795281613127123"}',
    { message: '\u001b[31mé\u001b[0m', timestamp: '2026-11-21T17:20:13.127123Z' },
  ],
  [
    'journald, a message that is no text',
    '{"MESSAGE":[255,254],"PRIORITY":"6","__REALTIME_TIMESTAMP":"1795281613127123"}',
    { message: '[255,254]', timestamp: '2026-11-21T17:20:13.127123Z' },
  ],
  [
    'pino, an empty message beside an error',
    '{"msg":"","err":{"message":"a","stack":"A: a\\n    at x"}}',
    { message: 'A: a', exception: 'A: a\n    at x', scopeData: { msg: '' } },
  ],
  ['winston, an empty message', '{"message":""}', { message: '{"message":""}', scopeData: { message: '' } }],
  ['numbers as the message of another logger', '{"message":[104,105]}', { message: '[104,105]' }],
  [
    'syslog-ng, format-json with the scope nv-pairs',
    '{"PROGRAM":"sshd","PRIORITY":"notice","PID":"42","MESSAGE":"Accepted","HOST":"web-1","FACILITY":"auth","ISODATE":"2026-11-21T18:20:13+01:00","DATE":"Nov 21 18:20:13"}',
    {
      message: 'Accepted',
      categoryName: 'sshd',
      timestamp: '2026-11-21T17:20:13.000Z',
      scopeData: { PID: '42', HOST: 'web-1', FACILITY: 'auth', DATE: 'Nov 21 18:20:13' },
    },
  ],
  [
    'GELF',
    '{"version":"1.1","host":"web-1","short_message":"no","full_message":"java.lang.X: bad\\n\\tat Y","timestamp":1795281613.3072,"level":3,"_user_id":9001,"_logger":"com.acme.Pay","_correlationKey":"order-1"}',
    {
      message: 'no',
      level: 'Error',
      categoryName: 'com.acme.Pay',
      timestamp: '2026-11-21T17:20:13.3072Z',
      exception: 'java.lang.X: bad\n\tat Y',
      correlationKey: 'order-1',
      scopeData: { version: '1.1', host: 'web-1', _user_id: 9001 },
    },
  ],
  [
    'GELF, whose long message is no trace',
    '{"version":"1.1","host":"web-1","short_message":"no","full_message":"no\\n","level":6}',
    { message: 'no', scopeData: { version: '1.1', host: 'web-1', full_message: 'no\n' } },
  ],
  [
    'AWS Lambda',
    '{"timestamp":"2026-11-21T17:20:13.127Z","level":"ERROR","requestId":"c6af9ac6","message":{"errorType":"Error"},"errorType":"TypeError","errorMessage":"bad","stackTrace":["TypeError: bad","    at x.js:1"]}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Error',
      message: '{"errorType":"Error"}',
      exception: 'TypeError: bad\n    at x.js:1',
      scopeData: { requestId: 'c6af9ac6' },
    },
  ],
  [
    'Datadog',
    '{"message":"no","dd.trace_id":"1234567890123456789","dd":{"env":"prod","span_id":"42"},"logger":{"name":"x"}}',
    {
      message: 'no',
      categoryName: 'x',
      environment: 'prod',
      correlationKey: '1234567890123456789',
      scopeData: { traceId: '1234567890123456789', spanId: '42' },
    },
  ],
  [
    'an application log of ours',
    '{"categoryName":"Acme","message":"no","level":"Error","eventId":5,"eventName":"Paid","exception":"x","scopeData":{"a":1},"correlationKey":"order-1","environment":"Test","timestamp":"2026-11-21T17:20:13.127Z"}',
    {
      categoryName: 'Acme',
      message: 'no',
      level: 'Error',
      eventId: 5,
      eventName: 'Paid',
      exception: 'x',
      scopeData: { a: 1 },
      correlationKey: 'order-1',
      environment: 'Test',
      timestamp: '2026-11-21T17:20:13.127Z',
    },
  ],
  [
    'an application log of ours, with a name in its scope data that it also has itself',
    '{"message":"no","scopeData":{"a":1,"b":2},"b":3}',
    { message: 'no', scopeData: { b: 3, scopeData: { a: 1, b: 2 } } },
  ],
  [
    'an application log of ours, with two traces',
    '{"message":"no","trace_id":"ab","scopeData":{"traceId":"cd"}}',
    { message: 'no', correlationKey: 'ab', scopeData: { traceId: 'ab', scopeData: { traceId: 'cd' } } },
  ],
  [
    'an application log of ours, with the same trace twice',
    '{"message":"no","trace_id":"ab","user":"ada","scopeData":{"traceId":"ab","user":"ada","a":1}}',
    { message: 'no', correlationKey: 'ab', scopeData: { traceId: 'ab', user: 'ada', a: 1 } },
  ],
  [
    'a logger with message templates that is not Serilog',
    '{"time":"2026-11-21T17:20:13.127Z","level":"error","message":"Order 5","MessageTemplate":"Order {Order}","Order":5}',
    {
      timestamp: '2026-11-21T17:20:13.127Z',
      level: 'Error',
      message: 'Order 5',
      scopeData: { MessageTemplate: 'Order {Order}', Order: 5 },
    },
  ],
]

describe('a line of', () => {
  test.each(LINES)('%s', (_logger, line, fields) => {
    expect(fieldsOf(line)).toEqual({ level: 'Information', categoryName: 'Shop', scopeData: null, ...fields })
  })
})
