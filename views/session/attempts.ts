import { isIPv6 } from 'node:net'
import type { Clock } from '../../shared/runtime/clock.ts'

interface AttemptLimits {
  /** How many may be counted in a row. */
  readonly burst: number
  /** Milliseconds after which one more may be. */
  readonly refillMs: number
}

/** The limits per client, and for all clients together, where no others are given: those of failed sign-ins, and of tests of watches. */
export const PER_CLIENT: AttemptLimits = { burst: 10, refillMs: 6_000 }
export const OVERALL: AttemptLimits = { burst: 200, refillMs: 300 }

/** Maximum number of clients remembered; the oldest are forgotten first. */
const CLIENTS_MAX = 10_000

/**
 * Limits how often something may happen for a client, such as a sign-in with a key that is none. It counts against this client alone, so
 * that clients with valid keys and guessing clients do not affect one another. The overall limit slows down guesses spread over many clients.
 */
export interface Attempts {
  /** Milliseconds until this client may try again; 0 for now. */
  waitOf(client: string): number
  /** Counts one against the client. */
  count(client: string): void
}

export function createAttempts(clock: Clock, perClient = PER_CLIENT, overall = OVERALL): Attempts {
  /** When the last of those counted so far will be forgiven, by client. */
  const forgivenAt = new Map<string, number>()
  let allForgivenAt = 0
  const wait = (at: number, { burst, refillMs }: AttemptLimits): number =>
    Math.max(0, at - clock.now() - (burst - 1) * refillMs)
  const later = (at: number, { refillMs }: AttemptLimits): number => Math.max(at, clock.now()) + refillMs
  return {
    waitOf: (client) => {
      const at = forgivenAt.get(client) ?? 0
      // A client whose own attempts are all forgiven is not delayed by those of others.
      const untilForgiven = Math.max(0, at - clock.now())
      return Math.max(wait(at, perClient), Math.min(wait(allForgivenAt, overall), untilForgiven))
    },
    count: (client) => {
      const at = later(forgivenAt.get(client) ?? 0, perClient)
      forgivenAt.delete(client)
      forgivenAt.set(client, at)
      allForgivenAt = later(allForgivenAt, overall)
      const [oldest] = forgivenAt.keys()
      if (forgivenAt.size > CLIENTS_MAX && oldest !== undefined) forgivenAt.delete(oldest)
    },
  }
}

/** The client that an address counts as: an IPv6 /64 network counts as one client. */
export const countedAs = (address: string): string => (isIPv6(address) ? network(address) : address)

/** The first four groups of an IPv6 address, however it is abbreviated. */
function network(address: string): string {
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array.from({ length: gap }, () => '0'), ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
