import { isIP } from 'node:net'
import type { Clock } from '../../shared/clock.ts'

export interface AttemptLimits {
  /** How many attempts may fail in a row. */
  readonly burst: number
  /** After how long one more may fail. */
  readonly refillMs: number
}

/** One client's failures, and those of all clients together. */
export const PER_CLIENT: AttemptLimits = { burst: 10, refillMs: 6_000 }
export const OVERALL: AttemptLimits = { burst: 200, refillMs: 300 }

/** Most clients that are remembered; the oldest are forgotten first, and the limit of all clients then holds them. */
const CLIENTS_MAX = 10_000

/** Limits how fast keys can be tried. Only failures count, so that whoever has a key is never in the way of others. */
export interface Attempts {
  /** Milliseconds until this client may try; 0 for at once. */
  waitOf(client: string): number
  failed(client: string): void
}

export function createAttempts(clock: Clock, perClient = PER_CLIENT, overall = OVERALL): Attempts {
  /** When the last of the failures so far will be forgiven, by client. */
  const forgivenAt = new Map<string, number>()
  let allForgivenAt = 0
  const wait = (at: number, { burst, refillMs }: AttemptLimits): number =>
    Math.max(0, at - clock.now() - (burst - 1) * refillMs)
  const later = (at: number, { refillMs }: AttemptLimits): number => Math.max(at, clock.now()) + refillMs
  return {
    waitOf: (client) => Math.max(wait(forgivenAt.get(client) ?? 0, perClient), wait(allForgivenAt, overall)),
    failed: (client) => {
      const at = later(forgivenAt.get(client) ?? 0, perClient)
      forgivenAt.delete(client)
      forgivenAt.set(client, at)
      allForgivenAt = later(allForgivenAt, overall)
      const [oldest] = forgivenAt.keys()
      if (forgivenAt.size > CLIENTS_MAX && oldest !== undefined) forgivenAt.delete(oldest)
    },
  }
}

/**
 * The client that a connection's address stands for. A proxy on a private address is believed in what it adds to X-Forwarded-For,
 * which is the last name there; what a client claims stands before it. The 2^64 addresses of one IPv6 network are one client.
 */
export function clientOf(peer: string | undefined, forwardedFor: string | readonly string[] | undefined): string {
  const own = plain(peer ?? '')
  const claimed = plain([forwardedFor ?? ''].flat().join(',').split(',').at(-1)?.trim() ?? '')
  const client = isPrivate(own) && isIP(claimed) !== 0 ? claimed : own
  return isIP(client) === 6 ? network(client) : client
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

const PRIVATE = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|::1$|f[cd][0-9a-f]{2}:|fe80:)/i

const isPrivate = (address: string): boolean => PRIVATE.test(address)

/** The first four groups of an IPv6 address, however it is abbreviated. */
function network(address: string): string {
  const [head = '', tail] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = tail === undefined ? 0 : 8 - first.length - last.length
  const groups = [...first, ...Array.from({ length: gap }, () => '0'), ...last]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
