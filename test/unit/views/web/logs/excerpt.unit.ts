import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../../../views/schemas/answers.ts'
import { soughtBy } from '../../../../../views/web/lib/found.ts'
import { usualColumns } from '../../../../../views/web/logs/columns.ts'
import { excerptOf, lineOf } from '../../../../../views/web/logs/excerpt.ts'
import { applicationEntry, eventEntry } from '../../details/entries.ts'

const ROOM = 72

const excerpt = (entry: Entry, q: string): string | undefined => {
  const shown = [lineOf(entry).slice(0, ROOM), ...usualColumns(entry.kind).map(({ read }) => read(entry, true))]
  const found = excerptOf(entry, soughtBy(q), ROOM, shown)
  return found && found.name + found.text.split('\n', 1)[0]
}

const failed = applicationEntry({
  message: `Capture failed: ${'the bank did not answer, '.repeat(6)}while acquirer gateway-7 said timeout`,
  exception: 'System.Exception: no\n ---> Npgsql.PostgresException: deadlock detected\n   at Acme.Shop.Pay()',
  scopeData: {
    tenant: 'acme',
    order: { id: 4711, tags: ['new', 'gift wrap'] },
    text: 'Zahlung der Rechnung für Ökostrom',
  },
})
const paid = eventEntry({
  payload: JSON.stringify({
    order: 4711,
    items: Array.from({ length: 40 }, (_, sku) => ({ sku: `SKU-${sku}` })),
    note: 'red',
  }),
})

describe('the place that a search found in an entry', () => {
  test.each<[Entry, string, string | undefined]>([
    // In sight: in the message, its tag, the exception's line, or another column.
    [failed, 'bank', undefined],
    [failed, 'PaymentFailed OR InvoiceFailed', undefined],
    [applicationEntry({ exception: 'System.Exception: none' }), 'none', undefined],
    [failed, 'billing', undefined],
    [failed, '"order 4711"', undefined],
    [failed, 'level:error environment:Production -deadlock', undefined],
    // Further on in the message, in the exception, in scope data, or in what the row does not show.
    [failed, 'gateway-7', '…acquirer gateway-7 said timeout'],
    [failed, 'time*', '…said timeout'],
    [failed, '"postgresexception deadlock"', 'exception …Npgsql.PostgresException: deadlock detected'],
    [applicationEntry({ exception: `No\n${'at.'.repeat(20)}Acme.Shop.Pay` }), 'pay', 'exception …Acme.Shop.Pay'],
    [failed, 'ex:deadlock', 'exception …deadlock detected'],
    [failed, 'message:deadlock', undefined],
    [failed, 'ökostrom', 'text=…für Ökostrom'],
    [failed, '"tenant acme"', 'tenant=acme'],
    [failed, 'wrap', 'order.tags=gift wrap'],
    [failed, 'acme.billing', 'category Acme.Billing.Invoices'],
    // The first of those that are not in sight.
    [failed, 'bank nowhere OR timeout deadlock', '…said timeout'],
    // Leaves by name, whatever is asked of them.
    [failed, 'scope.order.id:>4000', 'order.id=4711'],
    [failed, 'scopeData.order.tags:gift*', 'order.tags=gift wrap'],
    [failed, 'scope.tenant:*', 'tenant=acme'],
    [failed, 'scope.nothing:1', undefined],
    [paid, 'payload.order:4711', undefined],
    [paid, 'payload.items.sku:"SKU-39"', 'items.sku=SKU-39'],
    [paid, 'payload:red', 'note=red'],
    [paid, 'validate', undefined],
    [eventEntry({ payload: `${'x'.repeat(300)} end` }), 'end', '…end'],
  ])('%#', (entry, q, expected) => {
    expect(excerpt(entry, q)).toBe(expected)
  })

  test('is further down where a list has only the beginning of a text', () => {
    const long = applicationEntry({ message: 'word '.repeat(800), truncated: ['message'] })
    expect(excerpt(long, 'needle')).toBe('found further down in message')
    expect(excerpt(long, 'needle OR word')).toBeUndefined()
    expect(excerpt(long, 'needle OR acme')).toBe('tenant=acme')
    expect(excerpt(long, '')).toBeUndefined()
    expect(excerpt(applicationEntry(), 'needle')).toBeUndefined()
  })

  test('is also in the rest of a long JSON that is whole', () => {
    const long = { first: 'x'.repeat(5_000), last: 'a needle' }
    expect(excerpt(applicationEntry({ scopeData: long }), 'needle')).toBe('scope …needle"}')
    expect(excerpt(eventEntry({ payload: JSON.stringify(long) }), 'needle')).toBe('payload …needle"}')
  })

  test('begins with whole characters', () => {
    const message = `${'😀'.repeat(60)} and ${'😀'.repeat(60)}end`
    expect(excerpt(applicationEntry({ message }), 'end')).toMatch(/^…😀+end$/u)
  })
})
