import { describe, expect, test } from 'vitest'
import { exceptionGroupOf } from '../../../../shared/fingerprint/exception-group.ts'
import * as fc from '../../../support/fast-check.ts'
import { HOSTILE } from '../../views/details/hostile.ts'

describe('the group of an exception', () => {
  test('has the type and the first calls of one’s own, whatever the message, lines and build', () => {
    const text = (message: string, line: number, number: number): string => `Acme.PaymentException: ${message}
   at System.Net.Http.HttpClient.SendAsync(String url)
   at Acme.Billing.Client.<>c__DisplayClass${number}_0.<Pay>b__${number}(Int32 amount) in /build/${number}/Client.cs:line ${line}
   at Acme.Billing.Invoices.Send() in /build/${number}/Invoices.cs:line ${line + 1}
   at Microsoft.Extensions.Hosting.Run()
   at Acme.Billing.Program.Main()
   at Acme.Billing.Program.Further()`
    const group = exceptionGroupOf(text('order 1', 12, 3))
    expect(group).toEqual({
      type: 'Acme.PaymentException',
      frames: [
        'Acme.Billing.Client.<>c__DisplayClass_.<Pay>b__(Int32 amount)',
        'Acme.Billing.Invoices.Send()',
        'Acme.Billing.Program.Main()',
      ],
    })
    expect(exceptionGroupOf(text('order\n2', 99, 41))).toEqual(group)
  })

  test('of a cause where the outer exception has no calls of one’s own', () => {
    const text = `System.AggregateException: One or more errors occurred.
 ---> Acme.Refused: no
   at Acme.Pay()
   --- End of inner exception stack trace ---
   at System.Threading.Tasks.Task.Wait()`
    expect(exceptionGroupOf(text)).toEqual({ type: 'System.AggregateException', frames: ['Acme.Pay()'] })
  })

  test('of foreign calls where there are no others', () => {
    expect(exceptionGroupOf('A.B: c\n   at System.X()\n   at System.Y()').frames).toEqual(['System.X()', 'System.Y()'])
  })

  test('in Python with the file, the innermost call first', () => {
    const text = `Traceback (most recent call last):
  File "/app/main.py", line 3, in <module>
    run()
  File "/app/billing.py", line 12, in run
    raise Refused(4711)
acme.Refused: 4711`
    expect(exceptionGroupOf(text)).toEqual({ type: 'acme.Refused', frames: ['run (billing.py)', '<module> (main.py)'] })
  })

  test('in JavaScript also where a call has no name', () => {
    const text =
      'TypeError: x is not a function\n    at /app/src/pay.js:3:7\n    at Client.pay (/app/src/client.js:9:1)'
    expect(exceptionGroupOf(text)).toEqual({ type: 'TypeError', frames: ['(pay.js)', 'Client.pay'] })
  })

  test('of a text that is no exception its first line without variable parts', () => {
    expect(exceptionGroupOf('connection 5 was lost\nand so on')).toEqual({
      type: 'connection <*> was lost',
      frames: [],
    })
    expect(exceptionGroupOf('')).toEqual({ type: '', frames: [] })
  })

  test.each(Object.keys(HOSTILE))('is short, of %s as well', (name) => {
    const entry = HOSTILE[name]?.()
    const text = (entry?.kind === 'application' && entry.exception) || JSON.stringify(entry)
    const { type, frames } = exceptionGroupOf(text)
    expect(frames.length).toBeLessThanOrEqual(3)
    for (const each of [type, ...frames]) expect(each.length).toBeLessThanOrEqual(256)
  })

  test('is read from many places of colons and numbers', () => {
    const text = `A.B: c\n   at f (${':1'.repeat(30_000)}a:1)`
    for (let count = 0; count < 100; count += 1) expect(exceptionGroupOf(text).frames).toHaveLength(1)
  })

  test('is read from any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { type, frames } = exceptionGroupOf(text)
        for (const each of [type, ...frames]) expect(each.isWellFormed()).toBe(true)
      }),
    )
  })
})
