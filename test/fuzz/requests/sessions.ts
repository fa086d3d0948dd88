import { hashKeyHex } from '../../../shared/registry/keys.ts'
import { SESSION_COOKIE } from '../../../views/session/cookie.ts'
import { keyTagOf, signToken } from '../../../views/session/token.ts'
import type { Draft, Header } from '../draft.ts'
import { HOST, SESSION_SECRET, TEAMS, type TeamMaterial } from '../material.ts'
import { textOf } from '../values.ts'
import { anonymous, type Context } from './context.ts'

/** A time later than every run, so that the cookie is always the same and valid. */
const SIGNED_IN_AT = 4_000_000_000

/** The cookie of a session that was started with the Team's key. */
export function sessionCookie({ id, key }: TeamMaterial): Header {
  const keyTag = keyTagOf(hashKeyHex(key), SESSION_SECRET)
  const token = { team: id, keyTag, startedAt: SIGNED_IN_AT, renewedAt: SIGNED_IN_AT }
  return ['Cookie', `${SESSION_COOKIE}=${signToken(token, SESSION_SECRET)}`]
}

/** Signs in with a valid or invalid key, reads the session, or signs out. */
export function session(context: Context): Draft {
  const { random } = context
  const method = random.weighted([
    [3, 'POST'],
    [2, 'GET'],
    [1, 'DELETE'],
    [1, 'HEAD'],
  ] as const)
  const signsIn = method === 'POST'
  const good = random.oneIn(2)
  const origin = random.pick<readonly Header[]>([
    [['Origin', `http://${HOST}`]],
    [['Sec-Fetch-Site', 'same-origin']],
    [['Sec-Fetch-Site', 'cross-site']],
  ])
  const forwarded = `${random.int(256)}.${random.int(256)}.${random.int(256)}.${random.int(256)}`
  const client: readonly Header[] = random.oneIn(2) ? [['X-Forwarded-For', forwarded]] : []
  return {
    role: 'views',
    route: `${method} /api/session`,
    dialect: 'view',
    method,
    target: '/api/session',
    version: 'HTTP/1.1',
    headers: anonymous([
      ...(method === 'GET' ? [] : origin),
      ...client,
      ...(random.oneIn(2) ? [sessionCookie(TEAMS.reads)] : []),
      ...(signsIn ? ([['Content-Type', 'application/json']] as const) : []),
    ]),
    ...(signsIn && { value: { apiKey: good ? TEAMS.reads.key : textOf(random, 3) } }),
    mutations: [],
    torn: false,
  }
}
