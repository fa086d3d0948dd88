import type { Route } from '../../../views/api/call.ts'
import { ROUTES } from '../../../views/api/routes.ts'
import { type Dialect, type Draft, inBytes } from '../draft.ts'
import { TEAMS } from '../material.ts'
import { textOf } from '../values.ts'
import { anonymous, type Context, headersOf } from './context.ts'
import { rightValue, wrongValue } from './parameters.ts'
import { sessionCookie } from './sessions.ts'

const { reads, main } = TEAMS

/** Expensive routes are requested less often. */
const weightOf = ({ path }: Route): number =>
  /export|facets|groups|series|choices|absence|completion|statistics|tail/.test(path) ? 2 : 4

const WEIGHTED = ROUTES.map((route) => [weightOf(route), route] as const)

const dialectOf = (route: Route): Dialect =>
  'answer' in route ? 'view' : route.path.endsWith('/tail') ? 'tail' : 'export'

/** A GET or HEAD of any path of the read API, with some of its parameters. */
export function readRequest(context: Context): Draft {
  const { random } = context
  return readOf(context, random.weighted(WEIGHTED), (name, path) =>
    random.oneIn(12) ? wrongValue(name, context, path) : rightValue(name, context, path),
  )
}

/** The same with an invalid, unknown or repeated parameter. */
export function strangeRead(context: Context): Draft {
  const { random } = context
  const route = random.weighted(WEIGHTED)
  const draft = readOf(context, route, (name, path) => wrongValue(name, context, path))
  const names = [...route.parameters, 'limit', 'q', 'nonsense', '__proto__', 'q[]']
  const joint = draft.target.includes('?') ? '&' : '?'
  const more = random.oneIn(2) ? `${joint}${random.pick(names)}=${escaped(textOf(random, 2))}` : ''
  return { ...draft, target: draft.target + inBytes(more) }
}

function readOf(context: Context, route: Route, valueFor: (name: string, path: string) => string): Draft {
  const { random } = context
  const method = random.oneIn(12) ? 'HEAD' : 'GET'
  const path = pathOf(context, route)
  const taken = route.parameters.filter(() => random.oneIn(3))
  const query = taken.map((name) => `${name}=${escaped(valueFor(name, route.path))}`).join('&')
  const dialect = dialectOf(route)
  const cookie = random.oneIn(6) ? [sessionCookie(reads)] : undefined
  // The Team that receives logs has refusals, whose cost does not depend on its number of entries.
  const team = route.path === '/api/refusals' && random.oneIn(2) ? main : reads
  const resumed = dialect === 'tail' && random.oneIn(3)
  return {
    role: 'views',
    route: `${method} ${route.path}`,
    dialect,
    method,
    target: inBytes(query === '' ? path : `${path}?${query}`),
    version: 'HTTP/1.1',
    headers: [
      ...(cookie === undefined ? headersOf(context, team) : anonymous(cookie)),
      ...(resumed ? ([['Last-Event-ID', random.pick(context.material.cursors.tail)]] as const) : []),
      ...(random.oneIn(4)
        ? ([['Accept-Encoding', random.pick(['gzip', 'br, gzip', 'zstd', 'identity', '*'])]] as const)
        : []),
    ],
    mutations: [],
    torn: false,
  }
}

function pathOf({ random, material }: Context, { path }: Route): string {
  const ids = path.startsWith('/api/event') ? material.eventIds : material.applicationIds
  const id = random.oneIn(20) ? textOf(random, 3) : random.pick(ids)
  const key = (): string =>
    escaped(random.oneIn(10) ? random.pick(['-', '.', textOf(random, 3)]) : random.pick(material.flows))
  return path.replace(':id', escaped(id)).replace(':correlationKey', key()).replace(':other', key())
}

/** Percent-encoded, as far as the text is well-formed. */
export const escaped = (text: string): string => encodeURIComponent(text.toWellFormed())
