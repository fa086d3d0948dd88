import { describe, expect, test } from 'vitest'
import { type Answer, judge, retryAfterMs } from '../../../../clients/typescript/src/answer.ts'
import { created, failed, processed, type RefusedEntry, unconfirmed } from '../../../../gateway/ingest/replies.ts'
import { problem } from '../../../../shared/contract/errors.ts'
import * as fc from '../../../support/fast-check.ts'

/** A reply of the gateway, as it comes. */
const answered = ({ body, strictStatus, retryAfterSeconds }: ReturnType<typeof created>): Answer => ({
  status: strictStatus,
  text: String(body),
  retryAfter: retryAfterSeconds === undefined ? null : String(retryAfterSeconds),
  location: null,
})
const foreign = (status: number, text = '<html>', more: Partial<Answer> = {}): Answer => ({
  status,
  text,
  retryAfter: null,
  location: null,
  ...more,
})

const badLevel = (index: number): RefusedEntry => ({ index, problem: problem('invalid_log_level', null, 'no level') })
const notStored = (index: number): RefusedEntry => ({ index, problem: unconfirmed('expired') })

describe('the answers of the gateway', () => {
  test.each([
    ['an event', created('0')],
    ['a batch', processed(3, [])],
  ])('all of %s is stored', (_what, reply) => {
    expect(judge(answered(reply))).toEqual({ kind: 'settled', rejected: 0, errors: [] })
  })

  test('entries that were refused for good are told, and the others are stored', () => {
    const outcome = judge(answered(processed(3, [badLevel(1)])))
    expect(outcome).toMatchObject({
      kind: 'settled',
      rejected: 1,
      errors: [{ index: 1, code: 'invalid_log_level', message: expect.stringMatching(/^no level Send one of/) }],
    })
    const all = judge(answered(processed(2, [badLevel(0), badLevel(1)])))
    expect(all).toMatchObject({ kind: 'settled', rejected: 2, errors: [{ index: 0 }, { index: 1 }] })
  })

  test('more are counted than listed', () => {
    const refused = Array.from({ length: 150 }, (_, index) => badLevel(index))
    const outcome = judge(answered(processed(200, refused)))
    expect(outcome).toMatchObject({ kind: 'settled', rejected: 150 })
    expect(outcome).toHaveProperty('errors.length', 100)
  })

  test.each([
    ['one of them', processed(3, [notStored(1)])],
    ['all of them', processed(1, [notStored(0)])],
    ['one behind a refused one', processed(2, [badLevel(0), notStored(1)])],
    [
      'one that is not listed any more',
      processed(200, [...Array.from({ length: 100 }, (_, index) => badLevel(index)), notStored(150)]),
    ],
    ['an event', failed(problem('server_error'))],
    ['a slow body', failed(problem('request_timeout'))],
  ])('where the journal did not confirm %s, all is sent again', (_what, reply) => {
    expect(judge(answered(reply))).toMatchObject({ kind: 'again', afterMs: 1_000 })
  })

  test.each([
    ['all were certainly not written', processed(2, [notStored(0), notStored(1)]), true],
    ['one may be written', processed(2, [notStored(0), { index: 1, problem: unconfirmed('uncertain') }]), false],
    ['one was stored', processed(2, [notStored(0)]), false],
    ['an event was certainly not written', failed(unconfirmed('buffer_full')), true],
    ['nothing is said of that', failed(problem('server_error')), false],
    ['one behind a refused one may be written', processed(2, [badLevel(0), notStored(1)]), false],
    ['the Team is over its quota', failed(problem('rate_limited')), true],
    ['the body did not come in time', failed(problem('request_timeout')), true],
  ])('where %s, that is told', (_what, reply, unsent) => {
    expect(judge(answered(reply))).toMatchObject({ kind: 'again', unsent })
  })

  test.each(['invalid_api_key', 'project_not_found', 'missing_api_key'] as const)('%s refuses for good', (code) => {
    expect(judge(answered(failed(problem(code))))).toMatchObject({
      kind: 'refused',
      problem: { code },
      tooLarge: false,
    })
  })

  test.each(['batch_too_large', 'payload_too_large'] as const)('after %s a part may pass', (code) => {
    expect(judge(answered(failed(problem(code, { limit: 10 }))))).toMatchObject({
      kind: 'refused',
      problem: { code, details: { limit: 10 } },
      tooLarge: true,
    })
  })

  test('a server that does not say what may be sent again says it by its code', () => {
    const text = (code: string): string => JSON.stringify({ success: false, error: { code, message: '' } })
    expect(judge(foreign(200, text('server_error')))).toMatchObject({ kind: 'again' })
    expect(judge(foreign(200, text('invalid_api_key')))).toMatchObject({ kind: 'refused' })
  })
})

describe('the answers of others', () => {
  test.each([200, 404, 408, 425, 429, 500, 502, 503, 504])('status %i is sent again', (status) => {
    expect(judge(foreign(status))).toMatchObject({
      kind: 'again',
      afterMs: 0,
      cause: expect.stringContaining(`${status}`),
    })
  })

  test.each([400, 401, 403, 414, 431])('status %i refuses for good', (status) => {
    expect(judge(foreign(status))).toMatchObject({
      kind: 'refused',
      problem: { code: `http_${status}` },
      tooLarge: false,
    })
  })

  test.each([
    '{"success":true}',
    '{"success":true,"data":null}',
    '{"success":true,"data":{"errors":"none"}}',
    '{"success":true,"data":{"errors":{}}}',
    '{"success":true,"data":{"errors":[null]}}',
    '{"success":true,"data":{"rejected":"1","errors":[]}}',
    '{"success":false,"error":{"code":"invalid","message":"","details":{"errors":"name"}}}',
  ])('a service that says success or failure as in %s is not Sluice', (text) => {
    expect(judge(foreign(200, text))).toMatchObject({
      kind: 'again',
      cause: expect.stringContaining('not one of Sluice'),
    })
  })

  test('the Retry-After of a proxy repeats nothing that is stored', () => {
    const { text, status } = answered(processed(3, [badLevel(1)]))
    expect(judge(foreign(status, text, { retryAfter: '5' }))).toMatchObject({ kind: 'settled', rejected: 1 })
  })

  test('a body that a proxy finds too large may pass in parts', () => {
    expect(judge(foreign(413))).toMatchObject({ kind: 'refused', tooLarge: true })
  })

  test('a redirection names the address to set', () => {
    const outcome = judge(foreign(308, '', { location: 'https://logs.example/' }))
    expect(outcome).toMatchObject({ problem: { message: expect.stringContaining('https://logs.example/') } })
    expect(judge(foreign(0, ''))).toMatchObject({ kind: 'refused' })
  })

  test('a Retry-After counts whoever sends it', () => {
    expect(judge(foreign(429, '', { retryAfter: '7' }))).toMatchObject({ kind: 'again', afterMs: 7_000 })
  })

  test('any text has an outcome, and only an envelope settles', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('{"success":1}', '{"success":false}', '{"success":false,"error":null}', 'null'),
    )
    fc.assert(
      fc.property(texts, fc.integer({ min: 100, max: 599 }), (text, status) => {
        expect(['again', 'refused']).toContain(judge(foreign(status, text)).kind)
      }),
    )
  })
})

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['3', 3_000],
    [' 12 ', 12_000],
    ['Thu, 01 Jan 1970 00:00:30 GMT', 20_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['99999999999999', 600_000],
    ['soon', 0],
    ['-5', 0],
    ['', 0],
  ])('%p asks for %i ms', (header, ms) => {
    expect(retryAfterMs(header, 10_000)).toBe(ms)
  })

  test('is not there', () => expect(retryAfterMs(null, 0)).toBe(0))
})
