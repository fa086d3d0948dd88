import type { IncomingHttpHeaders } from 'node:http'
import { hashKeyHex } from '../../shared/registry/keys.ts'
import type { KeyInfo, Team } from '../../shared/registry/registry.ts'
import type { CoreServices } from '../../shared/role.ts'
import { cookieOf, SESSION_COOKIE } from './cookie.ts'
import { keyTagOf, readToken, type Secrets, signToken, type Token } from './token.ts'

/** A session ends after this long without use. */
export const IDLE_SECONDS = 12 * 3600
/** A session ends this long after its key was presented, even if it is in use. */
export const LONGEST_SECONDS = 7 * 24 * 3600
/** A cookie of this age is renewed on use. */
const RENEW_AFTER_SECONDS = 15 * 60

export interface SessionsDeps extends Pick<CoreServices, 'registry' | 'registryReady' | 'clock'> {
  /** The secrets, at present, that sign the cookies; anyone who holds one can forge a session of any Team. */
  readonly secrets: () => Secrets
}

/** A valid session. */
export interface Session {
  readonly team: Team
  readonly key: KeyInfo
  readonly token: Token
}

/** A cookie's value and its lifetime. */
export interface NewCookie {
  readonly value: string
  readonly maxAgeSeconds: number
}

/**
 * Sessions of the page. Nothing is stored on the server: the cookie holds the Team and the start time, and the registry tells whether the
 * key used is still valid. So a session works in every process with the same secret, and ends everywhere with its key.
 */
export interface Sessions {
  /** Begins a session for the holder of the key; undefined if it is not a valid key of one Team. */
  begin(apiKey: string): Session | undefined
  /** The session that the cookie in these headers holds. */
  read(headers: IncomingHttpHeaders): Session | undefined
  /** The id of the Team in the cookie; while the registry is still being read, the key's validity is not checked. */
  teamOf(headers: IncomingHttpHeaders): string | undefined
  cookieOf(session: Session): NewCookie
  /** A new cookie when the current one is due for renewal. */
  renewed(session: Session): NewCookie | undefined
}

export function createSessions({ clock, registry, registryReady, secrets }: SessionsDeps): Sessions {
  const signing = (): string => secrets()[0]
  const now = (): number => Math.floor(clock.now() / 1_000)

  function signedOf(headers: IncomingHttpHeaders): Signed | undefined {
    const cookie = cookieOf(headers.cookie, SESSION_COOKIE)
    if (cookie === undefined) return undefined
    for (const secret of secrets()) {
      const token = readToken(cookie, secret)
      if (token !== undefined) return secondsLeft(token, now()) > 0 ? { token, secret } : undefined
    }
    return undefined
  }

  function sessionOf(signed: Signed | undefined): Session | undefined {
    const team = signed === undefined ? undefined : registry.team(signed.token.team)
    if (signed === undefined || team === undefined) return undefined
    const { token, secret } = signed
    const key = registry
      .keysOf(team.id)
      .find(({ hash, revokedAt }) => revokedAt === null && keyTagOf(hash, secret) === token.keyTag)
    // Tagged with the current signing secret, which signs the next cookie.
    return key === undefined ? undefined : { team, key, token: { ...token, keyTag: keyTagOf(key.hash, signing()) } }
  }

  const cookieFor = (token: Token): NewCookie => ({
    value: signToken(token, signing()),
    maxAgeSeconds: secondsLeft(token, now()),
  })

  return {
    begin: (apiKey) => {
      const team = registry.teamOfKey(apiKey)
      if (team === undefined) return undefined
      const secret = signing()
      const keyTag = keyTagOf(hashKeyHex(apiKey), secret)
      return sessionOf({ token: { team: team.id, keyTag, startedAt: now(), renewedAt: now() }, secret })
    },
    read: (headers) => sessionOf(signedOf(headers)),
    teamOf: (headers) => {
      const signed = signedOf(headers)
      return registryReady() ? sessionOf(signed)?.team.id : signed?.token.team
    },
    cookieOf: ({ token }) => cookieFor(token),
    renewed: ({ token }) =>
      now() - token.renewedAt < RENEW_AFTER_SECONDS ? undefined : cookieFor({ ...token, renewedAt: now() }),
  }
}

/** The content of a cookie, and the secret that signed it. */
interface Signed {
  readonly token: Token
  readonly secret: string
}

/**
 * Seconds until the cookie expires; 0 or less once expired. A time ahead of this clock is accepted, as clocks of servers differ; a cookie of a
 * clock that was far ahead expires when that clock is set.
 */
const secondsLeft = ({ startedAt, renewedAt }: Token, now: number): number => {
  const left = Math.min(renewedAt + IDLE_SECONDS, startedAt + LONGEST_SECONDS) - now
  return left > 2 * IDLE_SECONDS ? 0 : left
}
