import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '../stack/ports.ts'
import { createClient, type Item } from '../support/api.ts'
import { clientScript } from '../support/client-pages.ts'
import { eventually } from '../support/eventually.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'
import { createTcpGate, type TcpGate } from '../support/tcp-gate.ts'
import type { Environment } from '../support/toolchains.ts'
import { notProved } from '../support/toolchains.ts'
import { type ForeignClient, LOOKS, type Stored, storedOf, type Toolchains } from './clients.ts'

const KEY = 'clients-e2e-key-0123456789abcdef0123456789'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const PROJECT_NAME = 'Checkout API'
const REGISTRY = `teams: [{ id: shop, name: Shop, apiKeys: ["${KEY}"] }]
projects:
  - { id: ${PROJECT}, team: shop, name: ${PROJECT_NAME} }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3302, team: shop, name: Stock }
`
/** Entries that a client writes. */
const COUNT = 300
const OUTAGE_MS = 6_000
/** Of these the first ten are written before the outage, 60 in it and the others after it. */
const OUTAGE_COUNT = 150
const BEFORE_OUTAGE = 10
const OUTAGE_PAUSE_MS = 100
/** Clients wait for up to half a minute before they try again, and share the machine. */
const PATIENCE_MS = 90_000

const run = promisify(execFile)

const folder = serverFolder(REGISTRY)
let server: SluiceProcess
/** The gates between clients and the server, so that it is gone for as long as it has to be, however busy the machine is. */
let gates: readonly TcpGate[]
let url: string
let grpcUrl: string

/** The client, and the environment of its programs. */
interface Present {
  readonly client: ForeignClient
  readonly environment: Environment
}

/**
 * Tests that each client delivers every log as it was written, to a server of its own with a Team of two Projects, and what arrives through
 * an outage. A client whose toolchain is missing is told of; `REQUIRE_CLIENTS=1` fails then. `remove` is called at the end.
 */
export function describeClients(
  name: string,
  clients: readonly ForeignClient[],
  toolchains: Toolchains,
  remove?: () => void,
): void {
  beforeAll(async () => {
    const [port = 0, grpcPort = 0, gate = 0, grpcGate = 0] = await freePorts(4)
    server = await startSluice({
      PORT: String(port),
      OTLP_GRPC_PORT: String(grpcPort),
      ...folder.settings,
    })
    gates = [createTcpGate(gate, port), createTcpGate(grpcGate, grpcPort)]
    await Promise.all(gates.map(({ open }) => open()))
    ;[url, grpcUrl] = [`http://127.0.0.1:${gate}`, `http://127.0.0.1:${grpcGate}`]
  })

  afterAll(async () => {
    for (const { close } of gates) close()
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
    remove?.()
  })

  describe(name, () => {
    const present: Present[] = []
    for (const client of clients) {
      const toolchain = toolchains[client.toolchain] ?? { missing: 'no toolchain' }
      const title = `${client.name} delivers every log, as it was written`
      if ('missing' in toolchain) {
        notProved(title, toolchain.missing, process.env['REQUIRE_CLIENTS'] === '1')
        continue
      }
      const { environment } = toolchain
      present.push({ client, environment })
      test(title, () => deliversAll({ client, environment }), 2 * PATIENCE_MS)
    }

    test('what has arrived is shown', async () => {
      for (const look of LOOKS) {
        const { stdout } = await run('bash', ['-c', clientScript(look)], {
          env: { ...process.env, BASE_URL: url, KEY },
        })
        expect(JSON.parse(stdout)).toMatchObject({ success: true, data: { items: expect.any(Array) } })
      }
    })

    const title = 'through a server that is gone for 6 s, each delivers what its own retries allow, and nothing twice'
    const lasting = present.filter(({ client }) => client.outage !== undefined)
    if (lasting.length > 0) test(title, () => outlast(lasting), 3 * PATIENCE_MS)
  })
}

async function deliversAll({ client, environment }: Present): Promise<void> {
  const { name, stays = false } = client
  const from = thisSecond()
  const running = await start({ client, environment }, name, { COUNT: String(COUNT), PAUSE_MS: '0' })
  try {
    if (!stays) await ended(running)
    const all = numbersBelow(COUNT)
    const entries = await eventually(
      async () => {
        const found = ofRun(name, await entriesSince(from))
        expect(found.map(numberOf)).toEqual(all)
        return found
      },
      stays ? PATIENCE_MS : undefined,
    )
    for (const [n, entry] of entries.entries())
      expect(comparable(entry)).toEqual([PROJECT_NAME, storedOf(client, name, n)])
    // None is of an earlier time, or it would not be among these.
    const until = new Date().toISOString()
    expect(entries.filter(({ timestamp = '' }) => timestamp > until)).toEqual([])
  } catch (error) {
    throw new Error(`${name} said: ${running.said()}`, { cause: error })
  } finally {
    await end(running)
  }
}

async function outlast(present: readonly Present[]): Promise<void> {
  const from = thisSecond()
  const go = join(folder.path, 'go')
  const outage = { COUNT: String(OUTAGE_COUNT), PAUSE_MS: String(OUTAGE_PAUSE_MS), GO_FILE: go }
  const runs = await Promise.all(
    present.map(async (each) => {
      const run = `${each.client.name}-outage`
      return { run, client: each.client, running: await start(each, run, outage) }
    }),
  )
  const delivered = async () => {
    const entries = await entriesSince(from)
    return runs.map((each) => ({ ...each, numbers: ofRun(each.run, entries).map(numberOf) }))
  }
  /** Fails with each client that lacks some of these logs, or has others than the first `count`, and with the last that it said. */
  const have = async (count: number, awaitedOf: (client: ForeignClient) => readonly number[]): Promise<void> => {
    const wrong = (await delivered()).flatMap(({ client, run, running, numbers }) => {
      const lacked = awaitedOf(client).filter((n) => !numbers.includes(n))
      const others = numbers.filter((n) => n >= count)
      if (lacked.length + others.length === 0) return []
      return `${run} lacks ${lacked.length}: ${rangesOf(lacked)}, has too many: ${rangesOf(others)}. It said: ${running.said()}`
    })
    expect(wrong).toEqual([])
  }
  const [all, before] = [numbersBelow(OUTAGE_COUNT), numbersBelow(BEFORE_OUTAGE)]
  try {
    await eventually(() => have(BEFORE_OUTAGE, () => before), PATIENCE_MS)
    for (const { close } of gates) close()
    writeFileSync(go, '')
    // Not a wait for anything, but the outage itself.
    await passed(OUTAGE_MS)
    await Promise.all(gates.map(({ open }) => open()))
    const awaited = ({ outage }: ForeignClient) => (outage === 'all' ? all : all.slice(-1))
    await eventually(() => have(OUTAGE_COUNT, awaited), PATIENCE_MS)
    // Clients that end have sent everything by then.
    await Promise.all(runs.filter(({ client }) => client.stays !== true).map(({ running }) => ended(running)))
    const told = (await delivered()).map(({ run, numbers }) => `${run}: ${rangesOf(numbers)}`)
    process.stderr.write(`\nDelivered through an outage of 6 s:\n${told.join('\n')}\n`)
    expect((await delivered()).flatMap(({ run, numbers }) => repeated(run, numbers))).toEqual([])
  } finally {
    await Promise.all(runs.map(({ running }) => end(running)))
  }
}

interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  /** The last that it printed. */
  said(): string
}

const SAID_CHARACTERS_MAX = 4_000

/** Runs the script of the client's page between its commands, in a folder of its own. */
async function start({ client, environment }: Present, run: string, settings: Environment): Promise<Running> {
  const { name, before = '', script = name, command = '' } = client
  const home = join(folder.path, run)
  mkdirSync(home)
  const lines = ['set -e', before, script === null ? '' : clientScript(script), command]
  const { hostname, port } = new URL(url)
  const [collectorPort] = await freePorts(1)
  const child = spawn('bash', ['-c', lines.join('\n')], {
    cwd: home,
    // A process group of its own, so that all that it starts can be ended.
    detached: true,
    env: {
      ...process.env,
      ...environment,
      CLIENTS: import.meta.dirname,
      BASE_URL: url,
      LOGS_HOST: hostname,
      LOGS_PORT: port,
      GRPC_URL: grpcUrl,
      COLLECTOR_PORT: String(collectorPort),
      KEY,
      PROJECT,
      RUN: run,
      ...settings,
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-SAID_CHARACTERS_MAX)
    })
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return { child, exited, said: () => said }
}

/** Resolves when it has ended in order; rejects where it goes on. */
async function ended({ exited, said }: Running): Promise<void> {
  expect(await Promise.race([exited, passed(PATIENCE_MS, 'still running', { ref: false })]), said()).toBe(0)
}

async function end({ child, exited }: Running): Promise<void> {
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await exited
}

type Entry = Item & Stored & { readonly project: { readonly name: string } }

const numbersBelow = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

const numberOf = ({ message }: Stored): number => Number(/^\S+ (\d+):/.exec(message)?.[1])

/** The second that has begun, as some clients write their times without its fraction. */
const thisSecond = (): string => `${new Date().toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`

/** The entries since a time. Everything is read at once: a search for each of many runs would cost the server more. */
const entriesSince = async (from: string): Promise<readonly Entry[]> =>
  (await createClient(server.url, KEY).all(`/api/application-logs?from=${from}`)) as readonly Entry[]

/** The entries of one run, in the order in which they were written. */
const ofRun = (run: string, entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ message }) => message.startsWith(`${run} `)).toSorted((a, b) => numberOf(a) - numberOf(b))

/** The Project of an entry, and its fields that are compared: of the scope data those that the client wrote. */
function comparable(entry: Entry): readonly [string, Stored] {
  const { project, message, level, categoryName, correlationKey, exception, scopeData } = entry
  const { order, ok, ratio } = (scopeData ?? {}) as Readonly<Record<string, unknown>>
  const written = order === undefined ? {} : { order, ok, ratio }
  return [project.name, { message, level, categoryName, correlationKey, exception, scopeData: written }]
}

/** `0-3, 7` of 0, 1, 2, 3 and 7. */
function rangesOf(numbers: readonly number[]): string {
  const present = new Set(numbers)
  const first = [...present].filter((n) => !present.has(n - 1))
  const last = [...present].filter((n) => !present.has(n + 1))
  return first.map((from, index) => (from === last[index] ? `${from}` : `${from}-${last[index]}`)).join(', ')
}

const repeated = (run: string, numbers: readonly number[]): readonly string[] =>
  numbers.filter((n, index) => numbers.indexOf(n) !== index).map((n) => `${run} ${n}`)
