import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createTriedAgain } from '../../fuzz/again.ts'
import { type Draft, wireOf } from '../../fuzz/draft.ts'
import { createFindings } from '../../fuzz/findings.ts'
import { createAcceptedLedger, createStoredEntries } from '../../fuzz/ledger.ts'
import { markOf } from '../../fuzz/marks.ts'
import { type End, type Plan, plain } from '../../fuzz/plan.ts'
import { createRunner } from '../../fuzz/run.ts'
import { complaintsIn } from '../../fuzz/target.ts'
import { createTeamKeys } from '../../fuzz/team-keys.ts'

const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = []

afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

/** A server that does this with what comes on a connection. */
async function serve(act: (socket: Socket, text: string) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', (bytes) => act(socket, bytes.toString('latin1')))
  }).listen(0, '127.0.0.1')
  servers.push({ server, sockets })
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as { port: number }).port
}

const MARK = markOf(0, 0)
const ID = '01980000-0000-7000-8000-000000000001'

const draft = (change: Partial<Draft> = {}): Draft => ({
  role: 'gateway',
  route: 'POST /api/ExternalLogs',
  dialect: 'ingestion',
  method: 'POST',
  target: '/api/ExternalLogs',
  version: 'HTTP/1.1',
  headers: [['Host', 'x']],
  body: Buffer.from('{}'),
  stores: { mark: MARK, entries: 1 },
  mutations: [],
  torn: false,
  ...change,
})

const planOf = (requests: readonly Draft[], end: End = { kind: 'close' }): Plan => {
  const [first = draft()] = requests
  const wire = Buffer.concat(requests.map(wireOf))
  return {
    number: 0,
    label: 'a case',
    stages: [
      {
        scripts: [{ ...plain(wire, first, end), requests, owed: requests.filter(({ torn }) => !torn).length }],
        untilFound: false,
      },
    ],
  }
}

async function run(port: number, plans: readonly Plan[], deaths = () => 0) {
  const findings = createFindings(() => {})
  const ledger = createAcceptedLedger()
  const target = {
    port: () => port,
    processes: () => [],
    deaths,
    up: async () => {},
    complaints: () => [],
    stop: async () => {},
  }
  const again = createTriedAgain(findings, 0)
  const runner = createRunner({
    target,
    ledger,
    findings,
    keys: createTeamKeys(),
    onAnswer: (plan, request, _answer, verdict) => again.note(plan, request, verdict),
  })
  let number = 0
  await runner.run(() => plans[number++], 1)
  expect(runner.inFlight.size).toBe(0)
  return { ledger, again, runner, found: () => findings.groups().map(({ what }) => what) }
}

const http = (status: number, body: string, more = ''): string =>
  `HTTP/1.1 ${status} X\r\nContent-Type: application/json; charset=utf-8\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const CREATED = http(200, `{"success":true,"data":{"id":"${ID}"}}`)
const refusal = (code: string, retryable: boolean): string =>
  JSON.stringify({ success: false, error: { code, message: 'no. more', details: null, retryable } })

test('what is answered as it should be is no finding, and its entry is looked for', async () => {
  const port = await serve((socket) => void socket.write(CREATED))
  const { ledger, found } = await run(port, [planOf([draft()], { kind: 'keep' })])
  expect(found()).toEqual([])
  expect(ledger.settle(createStoredEntries()).missing).toEqual([`${ID} (${MARK})`, `${MARK}: 0 of 1`])
})

test('a 500, bytes that are no HTTP and a connection closed without an answer are findings', async () => {
  const fault = await serve((socket) => void socket.write(http(500, '{}')))
  expect((await run(fault, [planOf([draft()])])).found()[0]).toMatch(/status 500/)
  const garbage = await serve((socket) => void socket.write('what?\r\n\r\n'))
  expect((await run(garbage, [planOf([draft()])])).found()[0]).toMatch(/^no HTTP/)
  const closing = await serve((socket) => void socket.end())
  expect((await run(closing, [planOf([draft()])])).found()).toEqual([
    'no answer: the connection was closed after a whole request',
  ])
  const half = await run(closing, [planOf([draft()], { kind: 'half-close' })])
  expect(half.found()).toEqual(['no answer: the connection was closed after its other half was closed'])
})

test('a process that dies takes its connections along, which is one finding and not many', async () => {
  let deaths = 0
  const port = await serve((socket) => {
    deaths += 1
    socket.destroy()
  })
  expect((await run(port, [planOf([draft()])], () => deaths)).found()).toEqual([])
})

test('what may not be a request is owed nothing', async () => {
  const port = await serve((socket) => void socket.end())
  expect((await run(port, [planOf([draft({ torn: true })])])).found()).toEqual([])
})

test('a malformed request may not take the place of the answers before it', async () => {
  const torn = draft({ torn: true, method: 'NO METHOD', stores: undefined })
  const port = await serve(
    (socket) => void socket.end(http(400, refusal('malformed_request', false), 'Connection: close\r\n')),
  )
  const { found } = await run(port, [planOf([draft(), draft(), torn])])
  expect(found()).toEqual(['a malformed request takes away the answers to those before it'])
})

test('an answer that nobody asked for is a finding', async () => {
  const port = await serve((socket) => void socket.write(CREATED + CREATED))
  const { found } = await run(port, [planOf([draft()], { kind: 'keep' }), planOf([draft()], { kind: 'keep' })])
  expect(found()).toEqual(['an answer that nobody asked for'])
})

test('a refusal that may be tried again has to be gone one time', async () => {
  let asked = 0
  const busy = http(503, refusal('server_error', true), 'Retry-After: 1\r\n')
  const passing = await serve((socket) => void socket.write(asked++ === 0 ? busy : CREATED))
  const once = await run(passing, [planOf([draft()])])
  await once.again.tryAll(once.runner.once)
  expect(once.found()).toEqual([])
  const lasting = await serve((socket) => void socket.write(busy))
  const ever = await run(lasting, [planOf([draft()])])
  await ever.again.tryAll(ever.runner.once)
  expect(ever.found()).toEqual(['POST /api/ExternalLogs: no: is refused for now whenever it is sent'])
})

test('lines of the log that tell of a fault are told from others', () => {
  const lines = [
    '{"level":"error","msg":"a"}',
    '(node:12) Warning: b',
    '{"level":"fatal"}',
    '{"level":"warn"}',
    'Sluice is ready',
    '',
  ]
  expect(complaintsIn(lines.join('\n'))).toEqual(lines.slice(0, 3))
})
