import { describe, expect, test } from 'vitest'
import { fingerprintsOf, isFingerprint } from '../../../../shared/fingerprint/fingerprint.ts'
import { MASK_LENGTH_MAX } from '../../../../shared/fingerprint/mask.ts'
import { templateOf } from '../../../../shared/fingerprint/template.ts'
import { renderTemplate } from '../../../../shared/message-template.ts'
import * as fc from '../../../support/fast-check.ts'

const template = (message: string, scopeData: Record<string, unknown> | null = null) =>
  templateOf({ message, scopeData })

describe('the template of a message', () => {
  test.each(['{OriginalFormat}', '@mt', 'MessageTemplate', 'message_template.text'])(
    '%s is its sender’s own',
    (name) => {
      expect(template('Order 4711 by ada', { [name]: 'Order {Order} by {User:l}' })).toBe('Order {Order} by {User:l}')
    },
  )

  test('.NET’s console has it in its state', () => {
    const State = { Message: 'Order 4711', '{OriginalFormat}': 'Order {Order}', Order: 4711 }
    expect(template('Order 4711', { State, Scopes: [] })).toBe('Order {Order}')
  })

  test.each([
    ['GET /orders/1', { '{OriginalFormat}': 'Path:{Path}' }],
    ['GET /orders/1', { '@mt': 'GET /orders' }],
    ['GET /orders/1', { '@mt': '{Method} {Path} answered' }],
    ['GET /orders/1', { '@mt': '{Path} GET' }],
    ['GET /orders/1', { '@mt': 5 }],
    ['GET /orders/1', { State: 'text' }],
    ['GET /orders/1', { '@mt': `GET ${'{Path}'.repeat(1_000)}` }],
    ['GET /orders/1', {}],
    ['GET /orders/1', null],
  ])('the mask of %j where scope data %j has none of it', (message, scopeData) => {
    expect(template(message, scopeData)).toBe('GET /orders/<*>')
  })

  test.each([
    ['{literal} 5', '{{literal}} {N}'],
    ['a{b', 'a{{b'],
    ['no holes', 'no holes'],
    ['(null)', '{A}'],
    ['Order {Order}', 'Order {Order}'],
  ])('%j is made of %j', (message, own) => {
    expect(template(message, { '@mt': own })).toBe(own)
  })

  test('a long message has its template, unless that has long texts to be sought in it', () => {
    const body = 'a'.repeat(900_000)
    const own = 'Request {Id} to {Path} with {Body} took {Ms} ms'
    expect(template(`Request 4 to /x with ${body} took 9 ms`, { '@mt': own })).toBe(own)
    // Each place of the message would be compared with thousands of characters.
    const long = `${'a'.repeat(10)}b${'a'.repeat(3_900)}`
    const message = `a${body}${long}c`
    expect(template(message, { '@mt': `a{X}${long}{Y}` })).toBe(template(message))
  })

  test('none where there is no text', () => {
    expect(template('')).toBeNull()
    expect(template(' \n', { '@mt': '' })).toBeNull()
  })

  test('a message that was made of a template is found to be', () => {
    const text = fc.stringMatching(/^[a-z .:]{0,8}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.string()), { minLength: 1, maxLength: 8 }), text, (holes, end) => {
        const own = `${holes.map(([before], index) => `${before}{p${index}}`).join('')}${end}`
        const properties = Object.fromEntries(holes.map(([, value], index) => [`p${index}`, value]))
        const message = renderTemplate(own, properties, [], 10_000) ?? ''
        expect(template(message, { '@mt': own })).toBe(own.slice(0, MASK_LENGTH_MAX))
      }),
    )
  })
})

describe('fingerprints', () => {
  const entry = { message: 'order 1', exception: null, scopeData: null }

  test('are ids, equal for equal groups', () => {
    const { template: first, exceptionGroup } = fingerprintsOf({ ...entry, exception: 'Acme.No: 1' })
    expect(isFingerprint(first ?? '')).toBe(true)
    expect(isFingerprint(exceptionGroup ?? '')).toBe(true)
    expect(fingerprintsOf({ ...entry, message: 'order 2', exception: 'Acme.No: 2' })).toEqual({
      template: first,
      exceptionGroup,
    })
    expect(fingerprintsOf({ ...entry, message: 'ordered 2' }).template).not.toBe(first)
  })

  test('are none where there is nothing', () => {
    expect(fingerprintsOf({ ...entry, message: '', exception: '' })).toEqual({ template: null, exceptionGroup: null })
    expect(fingerprintsOf({ ...entry, exception: null }).exceptionGroup).toBeNull()
  })

  test('stay the same from release to release, as entries are stored with them', () => {
    expect(
      fingerprintsOf({ ...entry, exception: 'Acme.No: 1\n   at Acme.Pay(Int32 a) in /src/Pay.cs:line 3' }),
    ).toEqual({
      template: '06346cf4e409f',
      exceptionGroup: '4546616b055a1',
    })
  })
})
