import { describe, expect, test } from 'vitest'
import { bodyToTry, curlToTry } from '../../../../views/refusals/items.ts'
import { pasted, scripted } from '../../../support/shell.ts'

type Refused = Parameters<typeof curlToTry>[0]

const refusal = (fields: Partial<Refused> = {}): Refused => ({
  endpoint: '/api/ExternalLogs',
  index: null,
  identifier: 'order-placed',
  body: '{"uniqueIdentifier":"order-placed","level":"Error"}',
  bodyCut: false,
  nearest: null,
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

  test.each([
    [
      'of another member',
      '{"correlationKey":"ordr","uniqueIdentifier":"ordr"}',
      '{"correlationKey":"ordr","uniqueIdentifier":"order"}',
    ],
    ['in escapes', '{"uniqueIdentifier":"\\u006frdr"}', '{"uniqueIdentifier":"order"}'],
    ['of a name in escapes', '{"unique\\u0049dentifier":"ordr"}', '{"unique\\u0049dentifier":"order"}'],
    [
      'further in',
      '{"payload":{"uniqueIdentifier":"ordr"},"a":["uniqueIdentifier"],"b":1, "uniqueIdentifier" : "ordr"}',
      '{"payload":{"uniqueIdentifier":"ordr"},"a":["uniqueIdentifier"],"b":1, "uniqueIdentifier" : "order"}',
    ],
    [
      'beside marks in strings',
      '{"m":"}{\\"],:","uniqueIdentifier":"ordr"}',
      '{"m":"}{\\"],:","uniqueIdentifier":"order"}',
    ],
  ])('mends the identifier, and not what looks like it: %s', (_name, body, mended) => {
    const nearest = { identifier: 'order', name: 'Order' }
    expect(bodyToTry(refusal({ body, identifier: 'ordr', nearest }))).toBe(mended)
  })

  test('of a batch is the one entry, for the same Project', () => {
    const body = '{"message":"x"}'
    const sent = bodyToTry(refusal({ endpoint: '/api/ApplicationLogs/batch', index: 3, identifier: 'a "guid"', body }))
    expect(JSON.parse(sent ?? '')).toEqual({ uniqueIdentifier: 'a "guid"', logEntries: [{ message: 'x' }] })
  })

  test('is nothing where it was cut, or not read', () => {
    expect(curlToTry(refusal({ bodyCut: true }))).toBeNull()
    expect(curlToTry(refusal({ body: null }))).toBeNull()
    expect(curlToTry(refusal({ endpoint: '/v1/logs', index: 0 }))).toBeNull()
  })

  test('is nothing where no command can hold it', () => {
    expect(curlToTry(refusal({ body: '{"payload":"\0"}' }))).toBeNull()
  })

  test.each([`{"payload":"it's $(id) \`id\` \\\\"}`, 'no JSON \u202e at all', '{\n}', '\x03\ntouch made\n'])(
    'is pasted safely, and sent as it was: %j',
    async (body) => {
      const command = curlToTry(refusal({ body })) ?? ''
      const [[url, , key, , , , sent] = []] = scripted(command)
      expect([url, key]).toEqual(['<GATEWAY>/api/ExternalLogs', 'X-API-Key: <API_KEY>'])
      expect(sent).toBe(body)
      expect((await pasted(command, true)).map((args) => args.at(-1))).toEqual([body])
    },
  )
})
