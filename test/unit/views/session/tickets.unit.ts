import { describe, expect, test } from 'vitest'
import { createTickets } from '../../../../views/session/tickets.ts'

const SECRET = 'a secret of 32 characters or more'

function at(start: number) {
  let time = start
  const clock = { now: () => time }
  return {
    tickets: createTickets(() => [SECRET], clock),
    others: createTickets(() => [`${SECRET}!`], clock),
    pass: (ms: number) => {
      time += ms
    },
  }
}

describe('a ticket', () => {
  test('opens its Team, for a minute', () => {
    const { tickets, pass } = at(1_772_600_000_000)
    const ticket = tickets.issue('payments')
    expect(tickets.opens('payments', ticket)).toBe(true)
    pass(59_999)
    expect(tickets.opens('payments', ticket)).toBe(true)
    pass(1)
    expect(tickets.opens('payments', ticket)).toBe(false)
  })

  test('fits into a header, and into nothing else', () => {
    const { tickets } = at(1_772_600_000_000)
    expect(tickets.issue('payments')).toMatch(/^slt_[0-9a-z]+\.[\w-]{43}$/)
  })

  test('opens no other Team, and nothing by another secret', () => {
    const { tickets, others } = at(1_772_600_000_000)
    const ticket = tickets.issue('payments')
    expect(tickets.opens('billing', ticket)).toBe(false)
    expect(others.opens('payments', ticket)).toBe(false)
  })

  test('opens by either secret while one takes the place of the other', () => {
    const clock = { now: () => 1_772_600_000_000 }
    const [before, after] = [SECRET, `${SECRET}!`]
    const made = [[before], [before, after], [after, before], [after]] as const
    const all = made.map((secrets) => createTickets(() => secrets, clock))
    // The issuer and the opener are one step apart at most.
    for (const [step, issuing] of all.entries())
      for (const opening of all.slice(Math.max(0, step - 1), step + 2))
        expect(opening.opens('payments', issuing.issue('payments'))).toBe(true)
    expect(all[3]?.opens('payments', all[0]?.issue('payments') ?? '')).toBe(false)
  })

  test('cannot be made to last', () => {
    const { tickets, pass } = at(1_772_600_000_000)
    const [until = '', signature = ''] = tickets.issue('payments').slice(4).split('.')
    for (const forged of [
      `slt_${(Number.parseInt(until, 36) + 1).toString(36)}.${signature}`,
      `slt_${until.toUpperCase()}.${signature}`,
      `slt_${until}0.${signature}`,
      `slt_.${signature}`,
      `slt_${until}.`,
      `slt_${until}`,
      `slt_${until}.${signature.slice(1)}`,
      'slt_',
      '',
      `${until}.${signature}`,
    ])
      expect([forged, tickets.opens('payments', forged)]).toEqual([forged, false])
    // One whose clock was far ahead does not outlive the clocks being right again.
    pass(3_600_000)
    const ahead = tickets.issue('payments')
    pass(-3_600_000)
    expect(tickets.opens('payments', ahead)).toBe(false)
  })
})
