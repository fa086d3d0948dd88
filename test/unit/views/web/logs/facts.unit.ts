import { describe, expect, test } from 'vitest'
import { shortCategory } from '../../../../../views/flow-layout/format.ts'
import { eventTag, hueOf, sourceOf, thrownText } from '../../../../../views/web/logs/facts.ts'
import { applicationEntry, eventEntry } from '../../details/entries.ts'

describe('what an entry is', () => {
  test.each([
    [eventEntry(), 'Validate', 'Order placed › Validate (order-placed.validate)', 'step:order-placed.validate'],
    [eventEntry({ step: null }), 'Order placed', 'Order placed (order-placed)', 'event:order-placed'],
    [eventEntry({ event: null, step: { identifier: 'probe', name: null } }), 'probe', 'probe (probe)', 'step:probe'],
    [applicationEntry(), 'Billing.Invoices', 'Acme.Billing.Invoices', 'category:Acme.Billing.Invoices'],
  ])('comes from %#', (entry, name, full, term) => {
    const source = sourceOf(entry)
    expect([source.name, source.full, source.term]).toEqual([name, full, term])
  })

  test.each([
    [{ eventId: 1001, eventName: 'OrderPlaced' }, '1001 OrderPlaced'],
    [{ eventId: 0, eventName: 'OrderPlaced' }, 'OrderPlaced'],
    [{ eventId: -1, eventName: '' }, '-1'],
    [{ eventId: 0, eventName: '' }, ''],
  ])('the tag of %j is %j', (fields, expected) => {
    expect(eventTag(applicationEntry(fields))).toBe(expected)
  })

  test.each([
    [null, ''],
    ['Declined', 'Declined'],
    [
      'org.postgresql.util.PSQLException: ERROR: deadlock detected\n\tat org.postgresql',
      'PSQLException: ERROR: deadlock detected',
    ],
    ['System.TimeoutException\n   at System.Net', 'TimeoutException'],
    ['com.acme.Outer$InnerException: no', 'Outer$InnerException: no'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 1, in b\n    c()\nsmtplib.SMTPRecipientsRefused: 550\n',
      'SMTPRecipientsRefused: 550',
    ],
    // Cut off, as in a list.
    ['Traceback (most recent call last):\n  File "a.py", line 1', 'Traceback (most recent call last):'],
    ['node.js stopped: no memory', 'node.js stopped: no memory'],
    ['10.0.0.1: refused', '10.0.0.1: refused'],
    ['', ''],
  ])('what %j threw is %j', (exception, expected) => {
    expect(thrownText(exception)).toBe(expected)
  })

  test('keys that follow each other have other colours, and the same key always the same', () => {
    const hues = Array.from({ length: 100 }, (_, order) => hueOf(`order-${4_700 + order}`))
    expect(new Set(hues).size).toBeGreaterThan(70)
    for (const hue of hues) expect(hue).toBeLessThan(360)
    expect(hueOf('order-4700')).toBe(hues[0])
  })

  test.each([
    ['Acme.Billing.Invoices', 'Billing.Invoices'],
    ['Billing.Invoices', 'Billing.Invoices'],
    ['single', 'single'],
    ['ends.', 'ends.'],
    ['', ''],
  ])('the short name of %j is %j', (category, expected) => {
    expect(shortCategory(category)).toBe(expected)
  })
})
