import { createHmac, timingSafeEqual } from 'node:crypto'

/** The content of a session cookie. Times are whole seconds since 1970. */
export interface Token {
  readonly team: string
  /** Tells which of the Team's keys was signed in with, without telling anything of the key. */
  readonly keyTag: string
  /** When the key was presented; the session ends a fixed time after it. */
  readonly startedAt: number
  /** When the cookie was last made; it ends where it was not used for a while since. */
  readonly renewedAt: number
}

/** The first one signs; what any of them has signed is taken, so that one can take the place of another in a running installation. */
export type Secrets = readonly [string, ...string[]]

/** Names the form of the cookie and keeps its signature apart from everything else that is made with the secret. */
const FORM = 's1'

/** A token as the cookie holds it: the form, what it says, and an HMAC-SHA256 over both. */
export function signToken({ team, keyTag, startedAt, renewedAt }: Token, secret: string): string {
  const text = Buffer.from(JSON.stringify([team, keyTag, startedAt, renewedAt])).toString('base64url')
  return `${FORM}.${text}.${hmac(secret, `${FORM}.${text}`).toString('base64url')}`
}

/** The content of a cookie that this secret signed; undefined for anything else. */
export function readToken(cookie: string, secret: string): Token | undefined {
  const [form, text = '', signature = ''] = cookie.split('.')
  const expected = hmac(secret, `${FORM}.${text}`)
  const given = Buffer.from(signature, 'base64url')
  if (form !== FORM || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  // Only a holder of the secret can have written it, so its shape needs no check.
  const [team, keyTag, startedAt, renewedAt] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
    string,
    string,
    number,
    number,
  ]
  return { team, keyTag, startedAt, renewedAt }
}

const TAG_BYTES = 16

/** The tag of a key by the hash that the registry keeps of it. Keyed, so that a cookie does not help to guess a weak key. */
export const keyTagOf = (keyHash: string, secret: string): string =>
  hmac(secret, `key.${keyHash}`).subarray(0, TAG_BYTES).toString('base64url')

const hmac = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest()
