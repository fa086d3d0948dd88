import { createHmac, timingSafeEqual } from 'node:crypto'

/** The content of a session cookie. Times are whole seconds since 1970. */
export interface Token {
  readonly team: string
  /** Identifies which of the Team's keys was used, without revealing the key. */
  readonly keyTag: string
  /** When the key was presented; the session ends a fixed time later. */
  readonly startedAt: number
  /** When the cookie was last renewed; the session ends if it is not used for a while after that. */
  readonly renewedAt: number
}

/** The first secret signs; signatures of all are accepted, so that secrets can be rotated in a running installation. */
export type Secrets = readonly [string, ...string[]]

/** The cookie's format version; it also separates its signatures from other uses of the secret. */
const FORM = 's1'

/** Encodes a token as a cookie value: the format, the content, and an HMAC-SHA256 over both. */
export function signToken({ team, keyTag, startedAt, renewedAt }: Token, secret: string): string {
  const text = Buffer.from(JSON.stringify([team, keyTag, startedAt, renewedAt])).toString('base64url')
  return `${FORM}.${text}.${signatureOf(`${FORM}.${text}`, secret)}`
}

/** Decodes a cookie signed with this secret; undefined for anything else. */
export function readToken(cookie: string, secret: string): Token | undefined {
  const [form, text = '', signature = ''] = cookie.split('.')
  if (form !== FORM || !isSignature(signature, `${FORM}.${text}`, secret)) return undefined
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

/** The tag of a key, from the hash that the registry stores. Keyed, so that a cookie does not help to guess a weak key. */
export const keyTagOf = (keyHash: string, secret: string): string =>
  hmac(secret, `key.${keyHash}`).subarray(0, TAG_BYTES).toString('base64url')

/** The HMAC-SHA256 of a text, in base64url. */
export const signatureOf = (text: string, secret: string): string => hmac(secret, text).toString('base64url')

/** Whether a signature is that of the text. The comparison takes the same time however much of it is right. */
export function isSignature(signature: string, text: string, secret: string): boolean {
  const expected = hmac(secret, text)
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const hmac = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest()
