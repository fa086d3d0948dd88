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
  const all = STEPS.map((secrets) => createSessions({ clock, registry, registryReady: () => true, secrets }))
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
