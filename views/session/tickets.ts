import type { Registry } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { isSignature, type Secrets, signatureOf } from './token.ts'

/** Lifetime of a ticket: the duration of one request, plus the clock difference between two machines. */
const OPEN_MS = 60_000

/** The prefix that distinguishes a ticket from a key. */
const MARK = 'slt_'

/**
 * A ticket lets the page's server send sample logs for a signed-in Team, whose key it does not have, as keys are not stored. It is
 * presented like a key, is valid for one Team and one minute, and is signed with a secret that only the gateway and the page's server
 * share.
 */
export interface Tickets {
  issue(team: string): string
  /** Whether the presented key is a ticket for the Team. */
  opens(team: string, presented: string): boolean
}

export function createTickets(secrets: () => Secrets, clock: Clock): Tickets {
  const signedText = (team: string, until: string): string => `ticket.${until}.${team}`
  return {
    issue: (team) => {
      const until = (clock.now() + OPEN_MS).toString(36)
      return `${MARK}${until}.${signatureOf(signedText(team, until), secrets()[0])}`
    },
    opens: (team, presented) => {
      if (!presented.startsWith(MARK)) return false
      const [until = '', signature = ''] = presented.slice(MARK.length).split('.')
      const left = Number.parseInt(until, 36) - clock.now()
      const isSigned = secrets().some((secret) => isSignature(signature, signedText(team, until), secret))
      return isSigned && left > 0 && left <= 2 * OPEN_MS
    },
  }
}

/** A registry that also accepts tickets as keys. */
export function openedByTickets(registry: Registry, secrets: () => Secrets, clock: Clock): Registry {
  const tickets = createTickets(secrets, clock)
  return { ...registry, keyOpens: (team, key) => registry.keyOpens(team, key) || tickets.opens(team, key) }
}
