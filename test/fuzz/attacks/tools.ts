import { gzipSync } from 'node:zlib'
import { type Dialect, type Draft, type Header, inBytes, routeOf, wireOf } from '../draft.ts'
import { HOST, STORED_ID, TEAMS } from '../material.ts'
import { type End, plain, type Script, type Stage } from '../plan.ts'
import type { Context } from '../requests/context.ts'

/** The size of an attack: `full` goes up to the limits. */
export type Size = 'small' | 'full'

/** The steps of an attacker. */
export type Attack = (context: Context, size: Size) => readonly Stage[]

export const LEFT: End = { kind: 'leave', forMs: 4_000 }

const { attacks } = TEAMS
const HOST_HEADER: Header = ['Host', HOST]
export const KEY: Header = ['X-API-Key', attacks.key]
const JSON_TYPE: Header = ['Content-Type', 'application/json']

/** Scripts that run concurrently. */
export const together = (scripts: readonly Script[]): Stage => ({ scripts, untilFound: false })

export const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))

export interface Asked {
  readonly dialect?: Dialect
  readonly method?: string
  readonly headers?: readonly Header[]
  readonly end?: End
}

const draftOf = (path: string, { dialect = 'view', method = 'GET', headers = [KEY] }: Asked): Draft => ({
  role: 'views',
  route: routeOf(method, path),
  dialect,
  method,
  target: inBytes(path),
  version: 'HTTP/1.1',
  headers: [HOST_HEADER, ...headers],
  mutations: [],
  torn: false,
})

/** A request without a body. */
export function ask(path: string, asked: Asked = {}): Script {
  const draft = draftOf(path, asked)
  return plain(wireOf(draft), draft, asked.end)
}

/** The same request many times, pipelined. */
export function askPipelined(count: number, path: string, asked: Asked): Script {
  const draft = draftOf(path, asked)
  const wire = wireOf(draft)
  return {
    ...plain(wire, draft, asked.end),
    requests: times(count, () => draft),
    owed: count,
    wire: Buffer.concat(times(count, () => wire)),
  }
}

/** A compressed body for an ingestion endpoint, with or without a key. */
export function send(path: string, body: string | Buffer, { headers = [KEY], end }: Asked = {}): Script {
  const draft: Draft = {
    ...draftOf(path, { dialect: path === '/v1/logs' ? 'otlp' : 'ingestion', method: 'POST' }),
    role: 'gateway',
    headers: [HOST_HEADER, ...headers, JSON_TYPE, ['Content-Encoding', 'gzip']],
    body: gzipSync(body, { level: 1 }),
  }
  return plain(wireOf(draft), draft, end)
}

/** An application log with these fields, recorded in the ledger. */
export function store({ mark }: Context, fields: object): Script {
  const body = { uniqueIdentifier: attacks.project, categoryName: 'Attack', level: 'Error', message: mark, ...fields }
  return storing(send('/api/ApplicationLogs', JSON.stringify(body)), mark, 1)
}

/** Several in one request. */
export function storeBatch({ mark }: Context, entries: readonly object[]): Script {
  const logEntries = entries.map((fields) => ({ categoryName: 'Attack', level: 'Error', message: mark, ...fields }))
  const body = JSON.stringify({ uniqueIdentifier: attacks.project, logEntries })
  return storing(send('/api/ApplicationLogs/batch', body), mark, logEntries.length)
}

const storing = (script: Script, mark: string, entries: number): Script => ({
  ...script,
  requests: script.requests.map((draft) => ({ ...draft, stores: { mark, entries } })),
})

const STORED = `/api/application-logs/${STORED_ID}`

/** Waits until the stored entry is visible. */
export const shown: Stage = { scripts: [ask(STORED)], untilFound: true }

export const details: Stage = together([ask(`${STORED}/details`)])

/** A text of this length, made of different words. */
export function words({ random }: Context, length: number): string {
  const piece = times(800, () => random.int(36 ** 4).toString(36)).join(' ')
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
}
