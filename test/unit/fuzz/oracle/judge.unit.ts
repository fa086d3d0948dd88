import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../fuzz/answer-parser.ts'
import type { Dialect, Draft } from '../../../fuzz/draft.ts'
import { judge } from '../../../fuzz/oracle/judge.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

const PROTOBUF = { 'content-type': 'application/x-protobuf' }

const request = (dialect: Dialect, change: Partial<Draft> = {}): Draft => ({
  role: 'gateway',
  route: 'POST /x',
  dialect,
  method: 'POST',
  target: '/x',
  version: 'HTTP/1.1',
  headers: [['Host', 'x']],
  mutations: ['something'],
  torn: false,
  ...change,
})

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const all = { 'content-type': JSON_TYPE, ...headers }
  return {
    status,
    headers: new Map(Object.entries(all).map(([name, value]) => [name, [value]])),
    body: bytes,
    bytes: bytes.length,
    interim: [],
    whole: true,
  }
}

const failure = (code: string, retryable = false, change = {}) => ({
  success: false,
  error: { code, message: 'a. b', details: null, retryable, ...change },
})

const problems = (dialect: Dialect, one: Answer, change: Partial<Draft> = {}): readonly string[] =>
  judge(request(dialect, change), one).problems

const CREATED = { success: true, data: { id: '01980000-0000-7000-8000-000000000001' } }
const PROCESSED = { success: true, data: { message: 'x', count: 2 } }

describe('answers that are as they should be', () => {
  test.each<[string, Dialect, Answer]>([
    ['an entry', 'ingestion', answer(200, CREATED)],
    ['a batch', 'ingestion', answer(200, PROCESSED)],
    ['lines', 'seq', answer(201, PROCESSED)],
    ['a refusal', 'ingestion', answer(200, failure('missing_payload'))],
    ['a strict refusal', 'ingestion', answer(400, failure('missing_payload'))],
    ['an honest refusal for now', 'ingestion', answer(503, failure('server_error', true), { 'retry-after': '1' })],
    ['too many attempts', 'view', answer(429, failure('too_many_attempts', true), { 'retry-after': '1' })],
    ['a method', 'view', answer(405, failure('method_not_allowed'), { allow: 'GET' })],
    ['log records', 'otlp', answer(200, {}, { 'content-type': 'application/json' })],
    ['log records in Protobuf', 'otlp', answer(200, '', PROTOBUF)],
    ['a read', 'view', answer(200, { success: true, data: null })],
    ['a compressed read', 'view', answer(200, gzipSync('{"success":true,"data":1}'), { 'content-encoding': 'gzip' })],
    ['a process that is not ready', 'health', answer(503, { ready: false, parts: [] })],
    ['a page', 'page', answer(200, '<!doctype html>', { 'content-type': 'text/html' })],
    ['a part of a page that is as it was', 'page', answer(304, '', {})],
    ['metrics', 'metrics', answer(200, '# HELP a b\na{b="c"} 1\n', { 'content-type': 'text/plain; version=0.0.4' })],
    ['a read of another path', 'any', answer(200, { success: true, data: [] })],
  ])('%s', (_name, dialect, one) => {
    expect(problems(dialect, one)).toEqual([])
  })
})

describe('answers that must not be', () => {
  test.each<[string, Dialect, Answer, RegExp]>([
    ['an error of the server', 'ingestion', answer(500, 'oops', { 'content-type': 'text/html' }), /status 500/],
    [
      'an error in the envelope',
      'view',
      answer(500, failure('server_error', true), { 'retry-after': '1' }),
      /status 500/,
    ],
    ['a 503 that may not be retried', 'view', answer(503, failure('server_error')), /status 503/],
    ['a 503 without Retry-After', 'view', answer(503, failure('server_error', true)), /no Retry-After/],
    ['an unknown code', 'view', answer(400, failure('nonsense')), /neither the envelope/],
    ['a code with the status of another', 'view', answer(404, failure('invalid_request')), /came with status 404/],
    ['200 for a failure of a read', 'view', answer(200, failure('invalid_request')), /came with status 200/],
    [
      'more than the envelope has',
      'view',
      answer(400, failure('invalid_request', false, { stack: 'x' })),
      /neither the envelope/,
    ],
    ['half an envelope', 'view', answer(200, { success: true }), /neither the envelope/],
    ['no body', 'view', answer(400, ''), /without a body/],
    ['no type', 'page', answer(400, '', { 'content-type': '' }), /without a body/],
    ['JSON that is none', 'ingestion', answer(200, '{"success":true'), /not of the type that it says/],
    ['Protobuf that is none', 'otlp', answer(200, 'x', PROTOBUF), /not of the type that it says/],
    ['a 405 without Allow', 'view', answer(405, failure('method_not_allowed')), /without Allow/],
    ['our envelope to OTLP', 'otlp', answer(400, failure('invalid_request')), /google.rpc.Status/],
    ['a success of OTLP with more', 'otlp', answer(200, { a: 1 }), /neither the envelope/],
    ['an id that is none', 'ingestion', answer(200, { success: true, data: { id: '1' } }), /neither the envelope/],
    ['a body said to be compressed', 'view', answer(200, '{}', { 'content-encoding': 'gzip' }), /not compressed/],
    [
      'a command with control characters',
      'view',
      answer(200, { success: true, data: { curl: "curl '\x03'" } }),
      /control characters/,
    ],
  ])('%s', (_name, dialect, one, expected) => {
    expect(problems(dialect, one).join()).toMatch(expected)
  })

  test('a body of an answer to HEAD', () => {
    expect(problems('view', answer(200, 'x'), { method: 'HEAD' })).toEqual(['an answer to HEAD has a body'])
    expect(problems('view', answer(200, ''), { method: 'HEAD' })).toEqual([])
  })

  test('a refusal of what has nothing wrong', () => {
    const stores = { mark: 'm', entries: 2 } as const
    const refused = answer(200, failure('missing_payload'))
    expect(problems('ingestion', refused, { stores, mutations: [] })).toEqual([
      'a good request was refused with missing_payload',
    ])
    expect(problems('ingestion', refused, { stores, mutations: ['gzip', 'chunked'] })).toHaveLength(1)
    expect(problems('ingestion', refused, { stores, mutations: ['no key'] })).toEqual([])
    const less = answer(200, { success: true, data: { message: 'x', count: 1 } })
    expect(problems('ingestion', less, { stores, mutations: [] })).toEqual([
      'another number of entries was accepted than was sent',
    ])
  })

  test('a success where a proxy may have understood another request', () => {
    const success = answer(200, CREATED)
    const host = ['Host', 'x'] as const
    const length = ['Content-Length', '2'] as const
    const coding = ['Transfer-Encoding', 'chunked'] as const
    const told = (change: Partial<Draft>) => problems('ingestion', success, change)
    expect(told({ headers: [] })).toEqual(['a request without Host was taken'])
    expect(told({ headers: [host, host] })).toEqual(['a request with more than one Host was taken'])
    expect(told({ headers: [host, length, coding] })).toHaveLength(1)
    expect(
      told({ headers: [host, length], body: Buffer.from('{}'), chunks: { sizes: [1], extension: '' } }),
    ).toHaveLength(1)
    expect(told({ headers: [host, ['Transfer-Encoding', 'gzip, chunked']] })).toHaveLength(1)
    expect(told({ headers: [host, length] })).toEqual([])
    expect(told({ headers: [host, coding] })).toEqual([])
    expect(told({ headers: [], version: 'HTTP/1.0' })).toEqual([])
    expect(told({ headers: [], mutations: ['wire: truncated'] })).toEqual([])
  })
})

test('what was accepted is told', () => {
  expect(judge(request('ingestion'), answer(200, CREATED)).accepted).toEqual({ id: CREATED.data.id })
  expect(judge(request('ingestion'), answer(200, PROCESSED)).accepted).toEqual({ count: 2 })
  const stores = { mark: 'm', entries: 5 } as const
  const partial = { partialSuccess: { rejectedLogRecords: '2', errorMessage: 'x' } }
  expect(judge(request('otlp', { stores }), answer(200, partial)).accepted).toEqual({ count: 3 })
  // Field 1, of five bytes: field 1 is the varint 2, and field 2 the text "x".
  const inProtobuf = answer(200, Buffer.from([0x0a, 5, 0x08, 2, 0x12, 1, 0x78]), PROTOBUF)
  expect(judge(request('otlp', { stores }), inProtobuf).accepted).toEqual({ count: 3 })
})
