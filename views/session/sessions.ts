import type { IncomingHttpHeaders } from 'node:http'
import { hashKeyHex } from '../../shared/registry/keys.ts'
import type { KeyInfo, Registry, Team } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { cookieOf, SESSION_COOKIE } from './cookie.ts'
import { keyTagOf, readToken, type Secrets, signToken, type Token } from './token.ts'

/** A session that is not used for so long is over. */
export const IDLE_SECONDS = 12 * 3600
/** A session is over so long after its key was presented, however much it is used. */
export const LONGEST_SECONDS = 7 * 24 * 3600
/** A cookie of this age is made anew when it is used. */
const RENEW_AFTER_SECONDS = 15 * 60

export interface SessionsDeps {
  readonly clock: Clock
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that a session is over. */
  readonly registryReady: () => boolean
  /** Sign the cookies; whoever has one can make sessions of any Team. */
  readonly secrets: Secrets
}

/** A session that holds now. */
export interface Session {
  readonly team: Team
  readonly key: KeyInfo
  readonly token: Token
}

/** A cookie's value and how long it is to be kept. */
export interface NewCookie {
  readonly value: string
  readonly maxAgeSeconds: number
}

/**
 * Sessions of the page. Nothing is stored: the cookie says whose it is and since when, and the registry whether the key that it
 * was given to still lives. So a session works in every process with the same secret, and ends everywhere with its key.
 */
export interface Sessions {
  /** Begins a session for the holder of the key; undefined where it is no live key of one Team. */
  begin(apiKey: string): Session | undefined
  /** The session that the cookie of these headers holds. */
  read(headers: IncomingHttpHeaders): Session | undefined
  /** The id of the Team whose cookie it is; while the registry is being read, whether the key still lives is left open. */
  teamOf(headers: IncomingHttpHeaders): string | undefined
  cookieOf(session: Session): NewCookie
  /** A cookie to replace one that has served for a while. */
  renewed(session: Session): NewCookie | undefined
}

export function createSessions({ clock, registry, registryReady, secrets }: SessionsDeps): Sessions {
  const [signing] = secrets
  const now = (): number => Math.floor(clock.now() / 1_000)

  function signedOf(headers: IncomingHttpHeaders): Signed | undefined {
    const cookie = cookieOf(headers.cookie, SESSION_COOKIE)
    if (cookie === undefined) return undefined
    for (const secret of secrets) {
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
    // With the tag of the secret that signs now, by which the next cookie is made.
    return key === undefined ? undefined : { team, key, token: { ...token, keyTag: keyTagOf(key.hash, signing) } }
  }

  const cookieFor = (token: Token): NewCookie => ({
    value: signToken(token, signing),
    maxAgeSeconds: secondsLeft(token, now()),
  })

  return {
    begin: (apiKey) => {
      const team = registry.teamOfKey(apiKey)
      if (team === undefined) return undefined
      const keyTag = keyTagOf(hashKeyHex(apiKey), signing)
      return sessionOf({ token: { team: team.id, keyTag, startedAt: now(), renewedAt: now() }, secret: signing })
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

/** How long the cookie still holds; 0 or less where it is over. A time ahead of the clock's is no reason to distrust it. */
const secondsLeft = ({ startedAt, renewedAt }: Token, now: number): number =>
  Math.min(renewedAt + IDLE_SECONDS, startedAt + LONGEST_SECONDS) - now
