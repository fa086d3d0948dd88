import type { Draft } from '../draft.ts'
import { HOST } from '../material.ts'
import type { Script } from '../plan.ts'
import type { Context } from './context.ts'

const host = `Host: ${HOST}`
const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`

/** Requests in another protocol, or in none, that can still be answered; by name. */
const UNREADABLE: Readonly<Record<string, string>> = {
  CONNECT: head('CONNECT sluice.test:443 HTTP/1.1', host),
  'an unknown method': head('BREW / HTTP/1.1', host),
  'a method in lower case': head('get / HTTP/1.1', host),
  'no method': head('/ HTTP/1.1', host),
  'no version': head('GET /', host),
  'an unknown version': head('GET / HTTP/9.9', host),
  'HTTP/2': `${head('PRI * HTTP/2.0')}SM\r\n\r\n`,
  TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  'no Host': head('GET /health/live HTTP/1.1'),
  'two Hosts': head('GET /health/live HTTP/1.1', host, 'Host: other.test'),
  'an odd Host': head('GET /health/live HTTP/1.1', 'Host: a b'),
  'an unknown expectation': head('GET /health/live HTTP/1.1', host, 'Expect: foo'),
  'an unknown transfer coding': head('POST /v1/logs HTTP/1.1', host, 'Transfer-Encoding: foo'),
  'a length that is none': head('POST /v1/logs HTTP/1.1', host, 'Content-Length: -1'),
  'two lengths': head('POST /v1/logs HTTP/1.1', host, 'Content-Length: 1', 'Content-Length: 2'),
  'a length and chunks': `${head('POST /v1/logs HTTP/1.1', host, 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'a size of a chunk that is none': `${head('POST /v1/logs HTTP/1.1', host, 'Transfer-Encoding: chunked')}zz\r\n`,
  'a chunk longer than its size': `${head('POST /v1/logs HTTP/1.1', host, 'Transfer-Encoding: chunked')}1\r\nabc\r\n0\r\n\r\n`,
  'a header without a colon': head('GET / HTTP/1.1', host, 'nothing'),
  'a header without a name': head('GET / HTTP/1.1', host, ': x'),
  'a folded header': head('GET / HTTP/1.1', host, 'X-A: b', ' c'),
  'a NUL in a header': head('GET / HTTP/1.1', host, 'X-A: \0'),
  'lines that end with a line feed': `GET / HTTP/1.1\n${host}\n\n`,
  'headers that are too large': head('GET / HTTP/1.1', host, `X-A: ${'a'.repeat(20_000)}`),
  'a target that is too long': head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, host),
}

/** A request in another protocol, or in none; a response has to say so. */
export function unreadable({ random }: Context): Script {
  const [name, text] = random.pick(Object.entries(UNREADABLE))
  const draft: Draft = {
    role: random.pick(['gateway', 'views', 'consumers']),
    route: name,
    dialect: 'any',
    method: 'GET',
    target: '/',
    version: 'HTTP/1.1',
    headers: [],
    mutations: ['wire'],
    torn: true,
  }
  const wire = Buffer.from(text, 'latin1')
  return { role: draft.role, requests: [draft], wire, cuts: [], pauseMs: 0, end: { kind: 'close' }, owed: 1 }
}
