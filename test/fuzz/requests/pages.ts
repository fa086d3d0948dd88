import { PAGES } from '../../../views/pages.ts'
import { type Dialect, type Draft, inBytes, type Role } from '../draft.ts'
import { TEAMS } from '../material.ts'
import { textOf } from '../values.ts'
import { anonymous, type Context, headersOf } from './context.ts'
import { escaped } from './reads.ts'

type Place = readonly [weight: number, dialect: Dialect, path: string]

const DOCS = ['/docs', '/docs/', '/docs/start.js', '/docs/swagger-ui.css', '/docs/favicon-32x32.png'] as const
const HEADERS = [
  ['Range', 'bytes=0-9'],
  ['Range', 'bytes=999999999-'],
  ['Range', 'bytes=5-1,0-0,-1'],
  ['If-None-Match', '*'],
  ['If-Match', '"x"'],
  ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
  ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['If-Range', '"x"'],
  ['Accept-Encoding', 'gzip;q=0, br'],
  ['Accept-Encoding', 'zstd, gzip, deflate, br;q=1.0'],
  ['Accept', 'text/nothing'],
  ['Cookie', 'sluice_theme=dark'],
  ['Cookie', 'sluice_theme="><script>'],
] as const

/** Requests that need no key: the page and its files, the documents, health, metrics; and nonexistent paths. */
export function pageRequest(context: Context): Draft {
  const { random, material } = context
  const places: readonly Place[] = [
    [6, 'page', '/'],
    [4, 'page', `/${random.pick(PAGES).path}`],
    [4, 'page', `/flows/${escaped(textOf(random, 3))}`],
    [6, 'page', `/assets/${random.pick(material.assets)}`],
    [2, 'page', `/assets/${escaped(textOf(random, 2))}`],
    [6, 'page', random.pick(DOCS)],
    [2, 'openapi', '/openapi.json'],
    [8, 'health', '/health/live'],
    [4, 'health', '/health/ready'],
    [1, 'metrics', '/metrics'],
    [4, 'view', `/api/${escaped(textOf(random, 2))}`],
    [
      4,
      'any',
      random.pick(['/nothing', '/%', '/%2e%2e/', '//', '/a/../b', '/API/team/', '*', '/assets/..%2findex.html']),
    ],
  ]
  const [, dialect, path] = random.weighted(places.map((place) => [place[0], place] as const))
  const method = random.oneIn(8) ? 'HEAD' : 'GET'
  const role: Role =
    dialect === 'health' || dialect === 'metrics' ? random.pick(['gateway', 'views', 'consumers']) : 'views'
  const more = random.oneIn(3) ? [random.pick(HEADERS)] : []
  return {
    role,
    route: `${method} ${routeOf(path)}`,
    dialect,
    method,
    target: inBytes(path),
    version: 'HTTP/1.1',
    headers: random.oneIn(4) ? headersOf(context, TEAMS.reads, more) : anonymous(more),
    mutations: [],
    torn: false,
  }
}

const routeOf = (path: string): string =>
  path.startsWith('/flows/') ? '/flows/:key' : path.startsWith('/assets/') ? '/assets/:name' : path.slice(0, 40)
