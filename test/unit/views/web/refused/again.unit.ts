import { execFileSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { bodyToTry, curlToTry, placesOf } from '../../../../../views/web/refused/again.ts'
import { problemText } from '../../../../../views/web/team/problem.ts'
import type { Refusal } from '../../../../../views/web/team/types.ts'

const refusal = (fields: Partial<Refusal> = {}): Refusal => ({
  id: '1',
  at: '2026-03-04T05:06:07.000Z',
  endpoint: '/api/ExternalLogs',
  code: 'missing_payload',
  message: 'payload is missing or empty.',
  details: null,
  index: null,
  identifier: 'order-placed',
  keyPrefix: 'sl_abc',
  userAgent: null,
  body: '{"uniqueIdentifier":"order-placed","level":"Error"}',
  bodyCut: false,
  nearest: null,
  unnoted: 0,
  ...fields,
})

describe('what is tried again', () => {
  test('is what was sent', () => {
    expect(bodyToTry(refusal())).toBe(refusal().body)
  })

  test('has the nearest identifier in the place of the unknown one, and there only', () => {
    const body = '{"uniqueIdentifier":"ordr$&","payload":"of ordr$&"}'
    const nearest = { identifier: 'order$&', name: null }
    expect(bodyToTry(refusal({ body, identifier: 'ordr$&', nearest }))).toBe(
      '{"uniqueIdentifier":"order$&","payload":"of ordr$&"}',
    )
  })

  test('of a batch is the one entry, for the same Project', () => {
    const body = '{"message":"x"}'
    const sent = bodyToTry(refusal({ endpoint: '/api/ApplicationLogs/batch', index: 3, identifier: 'a "guid"', body }))
    expect(JSON.parse(sent ?? '')).toEqual({ uniqueIdentifier: 'a "guid"', logEntries: [{ message: 'x' }] })
  })

  test('is nothing where it was cut, or not read', () => {
    expect(curlToTry(refusal({ bodyCut: true }), 'http://g')).toBeNull()
    expect(curlToTry(refusal({ body: null }), 'http://g')).toBeNull()
    expect(curlToTry(refusal({ endpoint: '/v1/logs', index: 0 }), 'http://g')).toBeNull()
  })

  test.each([`{"payload":"it's $(id) \`id\` \\\\"}`, 'no JSON \u202e at all', '{\n}'])(
    'is pasted safely: %j',
    (body) => {
      const command = curlToTry(refusal({ body }), 'http://g:8080') ?? ''
      const printed = execFileSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`]).toString()
      const [url, , key, , , , sent] = printed.split('\0')
      expect([url, key]).toEqual(['http://g:8080/api/ExternalLogs', 'X-API-Key: <API_KEY>'])
      expect(sent).toBe(body.replace('\u202e', '\\u202e'))
    },
  )
})

describe('what the details say', () => {
  test.each<[unknown, object[]]>([
    [null, []],
    [[{ path: '/level', message: 'must be a string' }], [{ path: '/level', message: 'must be a string' }]],
    [{ limit: 100 }, [{ path: '', message: '{"limit":100}' }]],
    [['x'], [{ path: '', message: '["x"]' }]],
    ['text', [{ path: '', message: '"text"' }]],
  ])('%j', (details, places) => {
    expect(placesOf(details)).toEqual(places)
  })
})

describe('why a change was refused', () => {
  const problem = { code: 'x', message: 'No.', retryable: false, status: 400, retryAfter: null }

  test('is told field by field, else by its message', () => {
    const details = [
      { path: '/name', message: 'is empty' },
      { path: '', message: 'must be a JSON object' },
    ]
    expect(problemText({ ...problem, details })).toBe('name is empty. must be a JSON object.')
    expect(problemText({ ...problem, details: null })).toBe('No.')
    expect(problemText({ ...problem, details: { outcome: 'unknown' } })).toBe('No.')
  })
})
