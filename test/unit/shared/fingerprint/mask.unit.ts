import { describe, expect, test } from 'vitest'
import { MASK_LENGTH_MAX, masked } from '../../../../shared/fingerprint/mask.ts'
import * as fc from '../../../support/fast-check.ts'

describe('the variable parts of a message', () => {
  test.each([
    ['Order 4711 took 12ms; 0.5 % of -3 and +1.5e-7', 'Order <*> took <*>; <*> % of <*> and <*>'],
    ['order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 of 7f00ff at 0x1A', 'order <*> of <*> at <*>'],
    ['10.0.0.1:8080 and fe80::1 and [::1]:443 and 00:1B:44:11:3A:B7', '<*>:<*> and <*> and [<*>]:<*> and <*>'],
    ['at 12:30:45.123 on 2026-01-31T09:30:00Z', 'at <*> on <*>:<*>:<*>'],
    ['GET /orders/4711/lines?page=2 HTTP/1.1', 'GET /orders/<*>/lines?page=<*> HTTP/<*>'],
    ['https://host-3.example.com/a to db-1.eu-west.internal', 'https://<*>/a to <*>'],
    ['mx.Example.com refused 4-3-2-1.dsl.zen.co.uk.', '<*> refused <*>.'],
    ['open api.acme:443, redis:6379, [a.b.acme:80]', 'open <*>:<*>, redis:<*>, [<*>:<*>]'],
    ['mail of ada.l+x@mail.acme.com, ada@localhost', 'mail of <*>, ada@localhost'],
    [
      'main.go:12 app.test.js Acme.Billing.Org user.signed.in a.de java.net.URI',
      'main.go:<*> app.test.js Acme.Billing.Org user.signed.in a.de java.net.URI',
    ],
    ['a.example.com#b12 a.example.com.x1', '<*><*> a.example.com.<*>'],
    ['C:\\logs\\a1.txt', 'C:\\<*>.txt'],
    ['Received block blk_-1608999687919862906 src: /10.250.19.102', 'Received block <*> src: /<*>'],
    [
      "Column 'total' of \"orders\" isn't one of the users' `names`",
      "Column '<*>' of \"<*>\" isn't one of the users' `<*>`",
    ],
    ['10.0.0.1 "GET /orders/7 HTTP/1.1" 200, "get well"', '<*> "GET <*>" <*>, "<*>"'],
    ['from 10.0.0.1 () or [] of f() and a[]', 'from <*> (<*>) or [<*>] of f() and a[]'],
    ['Package_for_Fix~31bf~amd64~~6.1 and a~b', '<*> and a~b'],
    ['ff:f2:9f:16:dc:ea:00:0d:ff:60:ff up', '<*> up'],
    ['12 ms; 1.5 KiB and 3 b; 4 bags: x s, 40% or 7# of 5 s.', '<*>; <*> and <*>; <*> bags: x s, <*> or <*> of <*>.'],
    ['{"order": "a-1", "total": 5}', '{"order": "<*>", "total": <*>}'],
    ['user=root rhost= tty=ssh; a=b&c=4711, x == y', 'user=<*> rhost= tty=<*>; a=<*>&c=<*>, x == y'],
    ['since Sun Jul  7 2005, or May 3; it may 4', 'since <*> <*>, or <*>; it <*>'],
    ['/data/2026/01/b1/file', '/data/<*>/file'],
    ['ids [1, 2,3] and (4711)', 'ids [<*>] and (<*>)'],
    ['订单4711已支付', '订单<*>已支付'],
    ['٤٢ orders', '<*> orders'],
    ['two  lines\n\tare one ', 'two lines are one'],
    ['nothing varies: std::vector, a-b, e-mail', 'nothing varies: std::vector, a-b, e-mail'],
    ['a "quotation mark, alone', 'a "quotation mark, alone'],
    ['', ''],
    [' \n', ''],
  ])('%j is %j', (text, mask) => {
    expect(masked(text)).toBe(mask)
  })

  test('a list of any length is one', () => {
    const list = (length: number): string => `ids ${Array.from({ length }, (_, index) => index).join(', ')} done`
    expect(masked(list(300))).toBe(masked(list(2)))
  })

  test('parts of another length leave what follows them as it is', () => {
    const text = (part: string): string => `${part} ${'word '.repeat(100)}`
    expect(masked(text('1'.repeat(900)))).toBe(masked(text('1')))
  })
})

describe('whatever a message holds', () => {
  const messages = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(...'"\'`<*>{}[]():,.-_@~\\/ 4af', '1, ', '::', '{"', '.com', 'a.b:1', ' ms'),
      ),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join(''))

  test('its mask is short, well formed and without digits', () => {
    fc.assert(
      fc.property(messages, (text) => {
        const mask = masked(text)
        expect(mask.length).toBeLessThanOrEqual(MASK_LENGTH_MAX)
        expect(mask.isWellFormed()).toBe(true)
        expect(mask.replaceAll(/(?<=[{,]\s{0,8})"[^"]*"/g, '')).not.toMatch(/\p{Nd}/u)
      }),
    )
  })

  test('another number in place of one leaves the mask', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const number = fc.integer()
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), number, number, word, (before, one, other, after) => {
        const message = (value: number): string => [...before, value, after].join(' ')
        expect(masked(message(one))).toBe(masked(message(other)))
      }),
    )
  })
})

test.each([
  '"',
  "'",
  '`',
  '1:',
  ':',
  'a:',
  '-',
  '1.',
  '{"',
  '{ ',
  ', ',
  '\\',
  '$1',
  'a-',
  "'a",
  '" "',
  '<*>, ',
  '1, ',
  'a.',
  'a@',
  'a.b@',
  '.1',
  ' ()',
  '1 s',
])('of a megabyte of %j the beginning is read', (part) => {
  const long = part.repeat(2 ** 20 / part.length)
  expect(masked(long)).toBe(masked(long.slice(0, 4_096)))
})
