import { EXPORT_PATH } from '../../../gateway/otlp/grpc.ts'
import { DATA, PREFACE, rawCall, rawCancel, rawFrame } from '../../support/grpc.ts'
import { type Draft, wireOf } from '../draft.ts'
import { HOST, TEAMS } from '../material.ts'
import { plain, type Script } from '../plan.ts'
import type { Context } from '../requests/context.ts'
import { type Attack, ask, askPipelined, KEY, LEFT, type Size, send, times, together } from './tools.ts'

const PATHS = ['/api/ExternalLogs', '/api/ApplicationLogs', '/api/ApplicationLogs/batch', '/v1/logs'] as const
const NO_KEY = { headers: [] } as const

/** Sometimes sent with a valid key: its holder may be hostile too. */
const sent =
  (body: (size: Size) => string): Attack =>
  ({ random }, size) => {
    const path = random.pick(PATHS)
    const asked = random.oneIn(3) ? {} : NO_KEY
    return [together(times(size === 'full' ? random.between(1, 4) : 1, () => send(path, body(size), asked)))]
  }

const of = (small: number, full: number) => (size: Size) => (size === 'full' ? full : small)

const deepArrays = sent((size) => '['.repeat(of(5_000, 19_900_000)(size)))
const deepObjects = sent((size) => '{"a":'.repeat(of(2_000, 3_900_000)(size)))
const manyEntries = sent(
  (size) =>
    `{"uniqueIdentifier":"${TEAMS.attacks.project}","logEntries":[${'{},'.repeat(of(5_000, 6_300_000)(size))}{}]}`,
)
const manyKeys = sent((size) => `{${'"a":1,'.repeat(of(5_000, 3_000_000)(size))}"a":1}`)
const manyNumbers = sent((size) => `[${'9007199254740993,'.repeat(of(2_000, 1_100_000)(size))}1]`)
const longEscapes = sent((size) => `{"payload":"${'\\u0000'.repeat(of(2_000, 3_300_000)(size))}"}`)

/** Few bytes as sent, many as records: each has a copy of the attributes that its resource and its scope may have. */
const copiedAttributes: Attack = ({ random }, size) => {
  const attribute = (key: string, length: number) => ({ key, value: { stringValue: 'x'.repeat(length) } })
  const body = (records: number): string =>
    JSON.stringify({
      resourceLogs: [
        {
          resource: { attributes: [attribute('k8s.pod.name', 4_000)] },
          scopeLogs: [
            {
              scope: { attributes: [attribute('y', 1_000)] },
              logRecords: times(records, () => ({ body: { stringValue: 'a' } })),
            },
          ],
        },
      ],
    })
  const count = of(20, random.pick([1_000, 9_000, 10_000]))(size)
  return [together(times(of(1, 4)(size), () => send('/v1/logs', body(count))))]
}

const unkeyed = (path: string): Draft => ({
  role: 'gateway',
  route: `POST ${path}`,
  dialect: 'any',
  method: 'POST',
  target: path,
  version: 'HTTP/1.1',
  headers: [['Host', HOST]],
  mutations: [],
  torn: false,
})

/** Uncompressed, so that the sender pays for every byte. */
const deepPlain: Attack = ({ random }, size) => {
  const draft: Draft = {
    ...unkeyed(random.pick(PATHS)),
    body: Buffer.alloc(of(5_000, 4_900_000)(size), '['),
  }
  return [together([plain(wireOf(draft), draft)])]
}

/** A body above the limit: the refusal has to reach a sender that is still sending. */
const tooLarge: Attack = ({ random }, size) => {
  const draft: Draft = {
    ...unkeyed(random.pick(PATHS)),
    headers: [['Host', HOST], ...(random.oneIn(2) ? [KEY] : [])],
    body: Buffer.alloc(of(5_300_000, 40_000_000)(size), ' '),
    ...(random.oneIn(2) && { chunks: { sizes: [60_000], extension: '' } }),
  }
  return [together([plain(wireOf(draft), draft, { kind: 'close' })])]
}

/** The beginning of a request that may be refused by its head alone, or accepted. */
const unfinished = ({ random }: Context, head: string, body: Buffer): Script => {
  const line = random.pick([
    'POST /api/ApplicationLogs/batch',
    'POST /v1/logs',
    'POST /api/session',
    'POST /nothing',
    'PUT /api/ExternalLogs',
    'GET /health/live',
  ])
  const key = random.pick(['', `X-API-Key: ${TEAMS.attacks.key}\r\n`, 'X-API-Key: wrong\r\n'])
  const draft: Draft = { ...unkeyed('/'), route: `${line} (unfinished)`, torn: true }
  const wire = Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\nHost: ${HOST}\r\n${key}${head}\r\n\r\n`), body])
  return plain(wire, draft, LEFT)
}

/** Chunks of one byte, each of which the server may buffer separately; then silence. */
const tinyChunks: Attack = (context, size) => [
  together([
    unfinished(context, 'Transfer-Encoding: chunked', Buffer.from('1\r\n \r\n'.repeat(of(2_000, 262_143)(size)))),
  ]),
]

const halfBodies: Attack = (context, size) => [
  together(
    times(of(5, 100)(size), () =>
      unfinished(context, 'Content-Length: 4000000', Buffer.alloc(of(3_000, 300_000)(size), ' ')),
    ),
  ),
]

const halfHeads: Attack = (context, size) => [
  together(
    times(of(5, 200)(size), () => {
      const script = unfinished(context, 'X-A: b', Buffer.alloc(0))
      return { ...script, wire: script.wire.subarray(0, -4) }
    }),
  ),
]

/** gRPC calls on separate connections; `behind` returns the frames after each call's headers. */
const calls =
  (behind: (stream: number) => readonly Buffer[], count: (size: Size) => number): Attack =>
  ({ random }, size) => {
    const key = random.pick([TEAMS.attacks.key, 'wrong'])
    const frames = times(count(size), (index) => 2 * index + 1).flatMap((stream) => [
      rawCall(key, stream),
      ...behind(stream),
    ])
    const draft: Draft = { ...unkeyed(EXPORT_PATH), role: 'grpc', torn: true }
    const script = plain(Buffer.concat([PREFACE, ...frames]), draft, LEFT)
    return [together(times(of(2, 10)(size), () => script))]
  }

/** The beginning of a 4 MB message. */
const HALF_MESSAGE = Buffer.concat([Buffer.from([0, 0, 0x40, 0, 0]), Buffer.alloc(600)])
const halfCalls = calls((stream) => [rawFrame(DATA, 0, HALF_MESSAGE, stream)], of(40, 100))
const cancelledCalls = calls((stream) => [rawCancel(stream)], of(150, 2_000))

const forgedClients: Attack = ({ random }, size) => {
  const scripts = times(of(3, 220)(size), () => {
    const draft: Draft = {
      role: 'views',
      route: 'POST /api/session',
      dialect: 'view',
      method: 'POST',
      target: '/api/session',
      version: 'HTTP/1.1',
      headers: [
        ['Host', HOST],
        ['Sec-Fetch-Site', 'same-origin'],
        ['X-Forwarded-For', `10.${random.int(256)}.${random.int(256)}.${random.int(256)}`],
        ['Content-Type', 'application/json'],
      ],
      body: Buffer.from('{"apiKey":"guess"}'),
      mutations: [],
      torn: false,
    }
    return plain(wireOf(draft), draft)
  })
  const script = scripts[0] as Script
  const wire = Buffer.concat(scripts.map((one) => one.wire))
  return [together([{ ...script, wire, owed: scripts.length, requests: scripts.flatMap(({ requests }) => requests) }])]
}

const unreadPipelines: Attack = ({ random }, size) => {
  const path = random.pick(['/openapi.json', '/docs/swagger-ui.css', '/metrics'])
  const count = path === '/metrics' ? of(10, 200)(size) : of(50, 5_000)(size)
  return [together(times(of(2, 10)(size), () => askPipelined(count, path, { dialect: 'any', headers: [], end: LEFT })))]
}

const colons: Attack = (_context, size) => [
  together([ask(`/api/application-logs?q=${'a:'.repeat(of(100, 2_000)(size))}`)]),
]

const negations: Attack = (_context, size) => [
  together([
    ask(
      `/api/event-logs?q=${encodeURIComponent(times(of(10, 99)(size), (index) => `-payload.k${index}:*`).join(' OR '))}`,
    ),
  ]),
]

/** Each key change has to use the key created by the previous one. */
const rotations: Attack = (_context, size) => {
  const headers = [
    ['X-API-Key', TEAMS.changes.key],
    ['Content-Type', 'application/json'],
  ] as const
  const script = ask('/api/team/keys', { method: 'POST', headers })
  const [draft] = script.requests
  if (draft === undefined) return []
  const withBody = { ...draft, body: Buffer.from('{"revokeOld":true}') }
  return times(of(3, 60)(size), () => together([plain(wireOf(withBody), withBody)]))
}

const badTails: Attack = ({ random }) => {
  const place = random.pick(['x', '-1', '1e3', '99999999999999999999', 'ea~x', '', 'ea~abcdefg.z,', '\0'])
  const cursor = Buffer.from(JSON.stringify(['tail', place])).toString('base64url')
  return [
    together([
      ask('/api/event-logs/tail', {
        dialect: 'tail',
        headers: [KEY, ['Last-Event-ID', cursor]],
        end: { kind: 'read', forMs: 100 },
      }),
    ]),
  ]
}

/** Requests that exhaust memory, time or connections shared by all senders. */
export const SENT: Readonly<Record<string, Attack>> = {
  'deep arrays': deepArrays,
  'deep objects': deepObjects,
  'deep and plain': deepPlain,
  'too large': tooLarge,
  'many entries': manyEntries,
  'many keys': manyKeys,
  'many numbers': manyNumbers,
  'long escapes': longEscapes,
  'copied attributes': copiedAttributes,
  'tiny chunks': tinyChunks,
  'half bodies': halfBodies,
  'half heads': halfHeads,
  'forged clients': forgedClients,
  'unread pipelines': unreadPipelines,
  colons,
  negations,
  rotations,
  'bad tails': badTails,
  'half calls': halfCalls,
  'cancelled calls': cancelledCalls,
}
