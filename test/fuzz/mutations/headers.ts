import { type Draft, type Header, inBytes, mutation, withHeader } from '../draft.ts'
import { TEAMS } from '../material.ts'
import type { Random } from '../random.ts'
import { textOf } from '../values.ts'

type Change = (draft: Draft, random: Random) => Draft

const MEANT = [
  'Accept',
  'Accept-Encoding',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Cookie',
  'Forwarded',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'Origin',
  'Range',
  'Referer',
  'Sec-Fetch-Site',
  'traceparent',
  'X-API-Key',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-HTTP-Method-Override',
  'X-Project-Id',
  'X-Seq-ApiKey',
  'X-Strict-Status',
] as const

const ODD_NAMES = ['__proto__', 'constructor', 'a', 'x'.repeat(300), '!#$%&', 'Content_Length'] as const
const TRACEPARENTS = ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-0', 'ff-x'] as const
const KEYS = [
  '',
  ' ',
  'wrong',
  TEAMS.wide.key,
  `${TEAMS.main.key}x`,
  TEAMS.main.key.toUpperCase(),
  'ключ',
  '\x80',
] as const
const LONG_MAX = 12_000
const MANY_MAX = 400

/** A text that is valid in a header: without control characters. */
const headerValue = (random: Random): string =>
  random.weighted<() => string>([
    [4, () => inBytes(textOf(random).replaceAll(/\p{Cc}/gu, ' '))],
    [
      2,
      () =>
        random.pick(['', 'true', 'TRUE', '0', '-1', '*', ',', ';', '=', 'null', 'a, b', 'gzip', '"', '1'.repeat(40)]),
    ],
    [1, () => random.pick(TRACEPARENTS)],
    [1, () => 'v'.repeat(random.size(LONG_MAX))],
    [1, () => `127.0.0.1, ${'10.0.0.1, '.repeat(random.size(100))}::1`],
  ])()

const isKey = ([name]: Header): boolean => /^(x-api-key|x-seq-apikey|authorization|cookie)$/i.test(name)

const otherKey: Change = (draft, random) => {
  const headers = draft.headers.filter((header) => !isKey(header))
  if (random.oneIn(3)) return mutation(draft, 'no key', { headers })
  return mutation(draft, 'another key', { headers: [...headers, ['X-API-Key', inBytes(random.pick(KEYS))]] })
}

const meant: Change = (draft, random) => {
  const name = random.pick(MEANT)
  return mutation(draft, `header ${name}`, { headers: withHeader(draft, name, headerValue(random)) })
}

const strict: Change = (draft) =>
  mutation(draft, 'strict status', { headers: withHeader(draft, 'X-Strict-Status', 'true') })

const repeatable: Change = (draft, random) =>
  mutation(draft, 'Idempotency-Key', {
    headers: withHeader(draft, 'Idempotency-Key', `${random.int(1e9)}-${random.int(1e9)}`),
  })

const twice: Change = (draft, random) => {
  const [name, value] = random.pick(draft.headers)
  const again: Header = [name, random.oneIn(2) ? value : headerValue(random)]
  const at = random.int(draft.headers.length + 1)
  return mutation(draft, `${name} twice`, { headers: draft.headers.toSpliced(at, 0, again) })
}

const odd: Change = (draft, random) => {
  const headers = [...draft.headers, [random.pick(ODD_NAMES), headerValue(random)] as const]
  return mutation(draft, 'an odd header', { headers })
}

const many: Change = (draft, random) => {
  const more = Array.from({ length: random.size(MANY_MAX) }, (_, index): Header => [`X-${index}`, 'v'])
  return mutation(draft, 'many headers', { headers: [...draft.headers, ...more] })
}

const mediaType: Change = (draft, random) => {
  const types = [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'application/x-protobuf',
    'application/protobuf; charset=utf-8',
    'text/plain',
    'application/vnd.serilog.clef',
    'application/x-www-form-urlencoded',
    `application/json${' '.repeat(random.size(4_000))};`,
    'multipart/form-data; boundary=x',
    '',
  ]
  return mutation(draft, 'Content-Type', { headers: withHeader(draft, 'Content-Type', random.pick(types)) })
}

/** A Connection header that closes, or contains other values. */
const connection: Change = (draft, random) => {
  const values = ['close', 'keep-alive', 'Close', 'close, keep-alive', 'x-api-key', 'keep-alive, te']
  return mutation(draft, 'Connection', { headers: withHeader(draft, 'Connection', random.pick(values)) })
}

const INTACT: readonly (readonly [number, Change])[] = [
  [4, otherKey],
  [6, meant],
  [2, strict],
  [2, repeatable],
  [2, odd],
  [1, many],
  [2, mediaType],
  [2, connection],
]

/** Changes headers; the message stays a single request that has to be answered. */
export const otherHeaders: Change = (draft, random) => random.weighted(INTACT)(draft, random)

const set =
  (name: string, header: string, values: readonly string[]): Change =>
  (draft, random) =>
    mutation(draft, name, { headers: withHeader(draft, header, random.pick(values)), torn: true })

const noHost: Change = (draft) => {
  const headers = draft.headers.filter(([name]) => name !== 'Host')
  return mutation(draft, 'no Host', { headers, torn: true })
}

const twoHosts: Change = (draft) =>
  mutation(draft, 'two Hosts', { headers: [['Host', 'other.test'], ...draft.headers], torn: true })

const folded: Change = (draft, random) => {
  const header = draft.headers[random.int(draft.headers.length)]
  // An earlier mutation may have removed all headers.
  if (header === undefined) return draft
  const [name, value] = header
  const headers = draft.headers.map((one): Header => (one === header ? [name, `${value}\r\n ${value}`] : one))
  return mutation(draft, 'a folded header', { headers, torn: true })
}

const controls: Change = (draft, random) => {
  const value = `a${random.pick(['\0', '\x01', '\b', '\x1b', '\x7f', '\n', '\r'])}b`
  return mutation(draft, 'a control character', { headers: withHeader(draft, random.pick(MEANT), value), torn: true })
}

const huge: Change = (draft, random) =>
  mutation(draft, 'huge headers', {
    headers: withHeader(draft, 'X-Huge', 'h'.repeat(random.between(8_000, 80_000))),
    torn: true,
  })

const TORN: readonly (readonly [number, Change])[] = [
  [2, noHost],
  [2, twoHosts],
  [2, twice],
  [2, folded],
  [2, controls],
  [1, huge],
  [2, set('Expect', 'Expect', ['100-continue', '100-Continue', 'foo', '', '200-ok'])],
  [2, set('Upgrade', 'Upgrade', ['h2c', 'websocket', 'TLS/1.0'])],
  [1, set('TE', 'TE', ['trailers', 'gzip'])],
  [1, set('Host', 'Host', ['', 'a b', '[::1', 'sluice.test:99999', '/'])],
]

/** Changes headers so that the message may be another request, or none at all. */
export const tearingHeaders: Change = (draft, random) => random.weighted(TORN)(draft, random)
