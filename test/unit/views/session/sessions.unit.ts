import { expect, test } from 'vitest'
import { createSessions, IDLE_SECONDS } from '../../../../views/session/sessions.ts'
import type { Secrets } from '../../../../views/session/token.ts'
import { registryOf } from '../../../support/registry-topic.ts'

const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const registry = registryOf(`teams: [{ id: payments, apiKeys: [${KEY}] }]`)
const [BEFORE, AFTER] = ['the secret before, of 32 or more', 'the secret after, of 32 or more.']

/** Processes with the secrets of each step, of which the first one signs. */
const STEPS: readonly Secrets[] = [[BEFORE], [BEFORE, AFTER], [AFTER, BEFORE], [AFTER]]

function processes() {
  let seconds = 1_772_600_000
  const clock = { now: () => seconds * 1_000 }
  const all = STEPS.map((secrets) =>
    createSessions({ clock, registry, registryReady: () => true, secrets: () => secrets }),
  )
  const read = (at: number, cookie: string) => all[at]?.read({ cookie: `sluice_session=${cookie}` })
  const begin = (at: number): string => {
    const session = all[at]?.begin(KEY)
    return session === undefined ? '' : (all[at]?.cookieOf(session).value ?? '')
  }
  const renew = (at: number, cookie: string): string => {
    const session = read(at, cookie)
    return session === undefined ? '' : (all[at]?.renewed(session)?.value ?? '')
  }
  return { read, begin, renew, pass: (time: number) => (seconds += time) }
}

test('a session goes on while one secret takes the place of another, step by step', () => {
  const { read, begin } = processes()
  for (const step of STEPS.keys()) {
    const cookie = begin(step)
    for (const other of [step - 1, step, step + 1].filter((each) => STEPS[each] !== undefined))
      expect([step, other, read(other, cookie)?.team.id]).toEqual([step, other, 'payments'])
  }
  expect(read(3, begin(0))).toBeUndefined()
})

test('a process takes and signs by the secrets of the moment', () => {
  let secrets: Secrets = [BEFORE]
  const clock = { now: () => 1_772_600_000_000 }
  const sessions = createSessions({ clock, registry, registryReady: () => true, secrets: () => secrets })
  const begin = (): string => {
    const session = sessions.begin(KEY)
    return session === undefined ? '' : sessions.cookieOf(session).value
  }
  const isTaken = (cookie: string): boolean => sessions.read({ cookie: `sluice_session=${cookie}` }) !== undefined
  const first = begin()
  secrets = [AFTER, BEFORE]
  const second = begin()
  expect([isTaken(first), isTaken(second)]).toEqual([true, true])
  secrets = [AFTER]
  expect([isTaken(first), isTaken(second)]).toEqual([false, true])
})

test('a cookie that is made anew is signed by the first secret, so that the other one can be dropped 12 hours later', () => {
  const { read, begin, renew, pass } = processes()
  const cookie = begin(1)
  pass(IDLE_SECONDS - 1)
  const renewed = renew(2, cookie)
  expect(read(3, cookie)).toBeUndefined()
  expect(read(3, renewed)?.key.prefix).toBe('k3y-01')
  pass(1)
  expect(read(2, cookie)).toBeUndefined()
})

test('a cookie of a clock that was a year ahead does not outlive that it is set back', () => {
  const { read, begin, pass } = processes()
  const cookie = begin(0)
  pass(-IDLE_SECONDS)
  expect(read(0, cookie)?.team.id).toBe('payments')
  pass(-365 * 24 * 3_600)
  expect(read(0, cookie)).toBeUndefined()
})
