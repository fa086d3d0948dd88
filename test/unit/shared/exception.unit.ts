import { describe, expect, test } from 'vitest'
import { parseException } from '../../../shared/exception.ts'
import type { ParsedException } from '../../../views/schemas/answers.ts'
import { frameRuns } from '../../../views/web/logs/facts.ts'
import * as fc from '../../support/fast-check.ts'

/** The parts that a test compares: type, message, and each frame as `call @ place`, the program's own with a star before them. */
const shown = (exceptions: readonly ParsedException[]) =>
  exceptions.map(({ depth, type, message, frames }) => ({
    depth,
    type,
    message,
    frames: frames.map(
      ({ call, place, framework, firstOwn }) =>
        `${firstOwn ? '**' : framework ? '' : '*'}${call}${place === '' ? '' : ` @ ${place}`}`,
    ),
  }))

const DOTNET = `System.InvalidOperationException: Invoice 4711 could not be sent
 ---> System.Net.Http.HttpRequestException: Connection refused (mail.test:25)
 ---> System.Net.Sockets.SocketException (111): Connection refused
   at System.Net.Sockets.Socket.AwaitableSocketAsyncEventArgs.ThrowException(SocketError error, CancellationToken token)
   --- End of inner exception stack trace ---
   at System.Net.Http.HttpConnectionPool.ConnectToTcpHostAsync(String host, Int32 port)
   at Acme.Mail.SmtpClient.SendAsync(Message message) in /src/Mail/SmtpClient.cs:line 42
--- End of stack trace from previous location ---
   --- End of inner exception stack trace ---
   at Acme.Billing.Invoices.Send(Invoice invoice) in C:\\src dir\\Billing\\Invoices.cs:line 87
   at Microsoft.AspNetCore.Mvc.Infrastructure.ActionMethodExecutor.Execute(Object controller)`

describe('an exception from its text', () => {
  test('.NET: inner exceptions, whose frames stand before those of the outer ones', () => {
    expect(shown(parseException(DOTNET))).toEqual([
      {
        depth: 0,
        type: 'System.InvalidOperationException',
        message: 'Invoice 4711 could not be sent',
        frames: [
          '**Acme.Billing.Invoices.Send(Invoice invoice) @ C:\\src dir\\Billing\\Invoices.cs:87',
          'Microsoft.AspNetCore.Mvc.Infrastructure.ActionMethodExecutor.Execute(Object controller)',
        ],
      },
      {
        depth: 1,
        type: 'System.Net.Http.HttpRequestException',
        message: 'Connection refused (mail.test:25)',
        frames: [
          'System.Net.Http.HttpConnectionPool.ConnectToTcpHostAsync(String host, Int32 port)',
          '**Acme.Mail.SmtpClient.SendAsync(Message message) @ /src/Mail/SmtpClient.cs:42',
        ],
      },
      {
        depth: 2,
        type: 'System.Net.Sockets.SocketException (111)',
        message: 'Connection refused',
        frames: [
          'System.Net.Sockets.Socket.AwaitableSocketAsyncEventArgs.ThrowException(SocketError error, CancellationToken token)',
        ],
      },
    ])
  })

  test('.NET: the further exceptions of an aggregate are its own, not those of its first one', () => {
    const text = `System.AggregateException: One or more errors occurred. (a) (b)
 ---> System.ArgumentException: a
   at Acme.A() in a.cs:line 1
   --- End of inner exception stack trace ---
   at Acme.All()
 ---> (Inner Exception #1) Acme.OrderException: b
   at Acme.B()<---
 ---> (Inner Exception #2) Acme.OrderException: c<---
`
    expect(shown(parseException(text)).map(({ depth, type, frames }) => [depth, type, ...frames])).toEqual([
      [0, 'System.AggregateException', '**Acme.All()'],
      [1, 'System.ArgumentException', '**Acme.A() @ a.cs:1'],
      [1, 'Acme.OrderException', '**Acme.B()'],
      [1, 'Acme.OrderException'],
    ])
  })

  test('.NET: a message of several lines, and generic types', () => {
    const [one] = parseException(
      'Acme.Broken`1[[System.Int32, System.Private.CoreLib]]: first\r\n\r\nsecond: line\r\n   at Acme.Do[T](T value)\r\n',
    )
    expect(one).toMatchObject({
      message: 'Acme.Broken`1[[System.Int32, System.Private.CoreLib]]: first\n\nsecond: line',
    })
    const [two] = parseException('Acme.Broken`1: first\n\nsecond: line\n   at Acme.Do[T](T value)')
    expect(two).toMatchObject({ type: 'Acme.Broken`1', message: 'first\n\nsecond: line' })
    expect(two?.frames).toHaveLength(1)
  })

  test('Java: causes of causes, suppressed ones, and what was left out', () => {
    const text = `Exception in thread "main" java.lang.RuntimeException: order 4711
\tat com.acme.Orders.place(Orders.java:31)
\tat java.base/java.lang.Thread.run(Thread.java:840)
\tSuppressed: java.io.IOException: close
\t\tat com.acme.Db.close(Db.java:9)
\tCaused by: java.lang.Error: of the suppressed one's neighbour
Caused by: java.sql.SQLException: refused
\tat org.springframework.jdbc.Core.run(Core.java:1)
\tat com.acme.Db.open(Db.java:5)
\t... 12 more
Caused by: java.net.ConnectException
\t... 13 common frames omitted`
    const parsed = parseException(text)
    expect(parsed.map(({ depth, type, message, omitted }) => [depth, type, message, omitted])).toEqual([
      [0, 'java.lang.RuntimeException', 'order 4711', ''],
      [1, 'java.io.IOException', 'close', ''],
      [2, 'java.lang.Error', "of the suppressed one's neighbour", ''],
      [1, 'java.sql.SQLException', 'refused', '... 12 more'],
      [2, 'java.net.ConnectException', '', '... 13 common frames omitted'],
    ])
    expect(shown(parsed)[3]?.frames).toEqual([
      'org.springframework.jdbc.Core.run @ Core.java:1',
      '**com.acme.Db.open @ Db.java:5',
    ])
  })

  test('JavaScript: places, node and node_modules, causes, properties', () => {
    const text = `TypeError: Cannot read properties of undefined (reading 'total')
    at total (/app/src/order.js:10:15)
    at async Promise.all (index 0)
    at /app/node_modules/express/lib/router/layer.js:95:5
    at node:internal/process/task_queues:95:5
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  code: 'E_ORDER',
  [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432
      at file:///app/src/db.js:3:7 {
    errno: -111
  }
}`
    expect(shown(parseException(text))).toEqual([
      {
        depth: 0,
        type: 'TypeError',
        message: "Cannot read properties of undefined (reading 'total')",
        frames: [
          '**total @ /app/src/order.js:10:15',
          '*async Promise.all (index 0)',
          ' @ /app/node_modules/express/lib/router/layer.js:95:5',
          ' @ node:internal/process/task_queues:95:5',
          'process.processTicksAndRejections @ node:internal/process/task_queues:95:5',
        ],
      },
      {
        depth: 1,
        type: 'Error',
        message: 'connect ECONNREFUSED 127.0.0.1:5432',
        frames: ['** @ file:///app/src/db.js:3:7'],
      },
    ])
  })

  test('Python: what was raised last comes first, with its innermost frame first', () => {
    const text = `Traceback (most recent call last):
  File "/app/shop/db.py", line 12, in open
    return connect(dsn)
  File "/usr/lib/python3.12/site-packages/psycopg/__init__.py", line 80, in connect
    raise last
psycopg.OperationalError: refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/shop/orders.py", line 40, in place
    db.open()
shop.errors.OrderError: order 4711
second line`
    const parsed = parseException(text)
    expect(shown(parsed)).toEqual([
      {
        depth: 0,
        type: 'shop.errors.OrderError',
        message: 'order 4711\nsecond line',
        frames: ['**place @ /app/shop/orders.py:40'],
      },
      {
        depth: 1,
        type: 'psycopg.OperationalError',
        message: 'refused',
        frames: ['connect @ /usr/lib/python3.12/site-packages/psycopg/__init__.py:80', '**open @ /app/shop/db.py:12'],
      },
    ])
    expect(parsed[1]?.frames[1]?.note).toBe('return connect(dsn)')
  })

  test.each([
    ['', { type: '', message: '', frames: [] }],
    ['it broke', { type: '', message: 'it broke', frames: [] }],
    ['Note: nothing', { type: 'Note', message: 'nothing', frames: [] }],
    ['could not: do it', { type: '', message: 'could not: do it', frames: [] }],
    ['Error', { type: 'Error', message: '' }],
    ['System.Exception', { type: 'System.Exception', message: '' }],
    ['a\nat least one of these', { type: '', message: 'a\nat least one of these', frames: [] }],
    ['   at Acme.Shop.Run()', { type: '', message: '', frames: [{ call: 'Acme.Shop.Run()', firstOwn: true }] }],
  ])('%j', (text, expected) => {
    expect(parseException(text)).toMatchObject([expected])
  })

  test('frames of frameworks are gathered in runs', () => {
    const [one] = parseException('E: x\n at System.A()\n at System.B()\n at Acme.C()\n at Microsoft.D()')
    expect(frameRuns(one?.frames ?? []).map(({ framework, frames }) => [framework, frames.length])).toEqual([
      [true, 2],
      [false, 1],
      [true, 1],
    ])
  })

  test('any text is read: at most one first frame of its own an exception, and no depth without those above it', () => {
    const pieces = fc.constantFrom(
      ...[
        ' ---> ',
        'at a(',
        'Caused by: ',
        '<---',
        '\n',
        '\t',
        ' ',
        'x',
        ':',
        '1',
        '(',
        ')',
        ' in ',
        ':line ',
        '{',
        '}',
      ],
      ...[
        'Traceback (most recent call last):',
        'File "',
        '", line 3',
        '... 3 more',
        'Error',
        '[cause]: ',
        '--- End of ',
      ],
    )
    const texts = fc.array(pieces, { maxLength: 60 }).map((list) => list.join(''))
    fc.assert(
      fc.property(fc.oneof(texts, fc.string()), (text) => {
        const parsed = parseException(text)
        for (const [index, { depth, frames }] of parsed.entries()) {
          expect(depth).toBeLessThanOrEqual(index)
          expect(frames.filter(({ firstOwn }) => firstOwn).length).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: 500 },
    )
  })

  /** Would take minutes if anything went back and forth over the text. */
  test.each([
    ['---> ', 'inner exceptions without end'],
    ['\n---> E: x', 'inner exceptions one in the other'],
    ['\n\tCaused by: E: x', 'causes'],
    ['\n at a(b', 'open parentheses'],
    [':line ', 'places'],
    [' in ', 'files'],
    ['a.', 'a type without end'],
    ['\n  File "', 'Python frames'],
    ['(', 'parentheses'],
    ['\n', 'lines'],
    ['0:1', 'digits'],
  ])('%j repeated for a megabyte: %s', (piece) => {
    const text = `E: x\n at ${piece.repeat(Math.ceil(1_000_000 / piece.length))}`
    expect(parseException(text).length).toBeLessThanOrEqual(5_001)
  })
})
