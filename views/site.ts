import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type IRouter, type Request, type Response, Router } from 'express'
import { ProblemError, problem } from '../shared/contract/errors.ts'
import { below } from '../shared/http/base-path.ts'
import { serveReads } from '../shared/http/method-not-allowed.ts'
import { answerPrepared, type PreparedBody, prepareBody } from '../shared/http/prepared-body.ts'
import { PAGES } from './pages.ts'
import { cookieOf } from './session/cookie.ts'

interface SiteDeps {
  /** The prefix of every path, as configured. */
  readonly basePath: string
  /** The gateway's address for clients, `here` if it is that of the page, or `unknown`. */
  readonly gateway?: string
  /** The folder of the built page. */
  readonly folder?: string
}

/** Set by the page; the server writes the theme into the shell, so that the page does not flash in the other theme. */
const THEME_COOKIE = 'sluice_theme'
const THEMES: readonly string[] = ['light', 'dark']

/**
 * Allows scripts, styles and requests of this origin only, and nothing inline. No string can become markup or script, since Trusted Types
 * are required and no policy is allowed.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Matches any correlationKey without decoding it: the page reports keys that cannot be decoded. */
const A_FLOW = /^\/flows\/[^/]+\/?$/i

const YEAR_SECONDS = 365 * 24 * 3600

/** Registers the page on a router: its shell at `/` and at each of its own paths, and its assets under `/assets/`. */
export function registerSite(
  router: IRouter,
  { basePath, gateway = 'here', folder = join(import.meta.dirname, 'web/dist') }: SiteDeps,
): void {
  const base = below(basePath, '/')
  let built: BuiltPage | undefined
  // Looked up again until it exists, so that a server started before the build need not be restarted.
  const page = (): BuiltPage | undefined => {
    built ??= readBuiltPage(folder)
    return built
  }
  page()

  const site = Router()
  const shell = ({ headers }: Request, response: Response): void => {
    const { shell: html } = page() ?? {}
    if (html === undefined) answerText(response, 503, 'text/plain; charset=utf-8', NOT_BUILT)
    else {
      const themed = withTheme(html, cookieOf(headers.cookie, THEME_COOKIE))
      answerText(response, 200, 'text/html; charset=utf-8', withMeta(withBase(themed, base), 'gateway', gateway))
    }
  }
  for (const path of ['/', ...PAGES.map((one) => `/${one.path}`), A_FLOW])
    serveReads(site, path, shell, noLogsHere(basePath))
  serveReads(site, '/assets/:name', (request, response) => answerAsset(request, response, page()))
  router.use(site)
}

/** For exporters whose setting takes the whole address, path included, and has only the server's. */
const noLogsHere = (basePath: string): string =>
  `This is an address of the page, and takes no logs. Send them to a path for logs, such as ${below(basePath, '/v1/logs')} for OpenTelemetry; ${below(basePath, '/docs')} lists all paths.`

/** Makes the shell's asset paths absolute, as the shell is served at paths of any depth. */
const withBase = (html: string, base: string): string =>
  withMeta(html, 'base-path', base).replaceAll(/((?:src|href)=")\.\//g, (_match, head: string) => head + escaped(base))

const withMeta = (html: string, name: string, content: string): string =>
  html.replace(new RegExp(`(<meta name="${name}" content=")[^"]*`), (_match, head: string) => head + escaped(content))

const withTheme = (html: string, theme: string | undefined): string =>
  theme !== undefined && THEMES.includes(theme) ? html.replace('<html ', `<html data-theme="${theme}" `) : html

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

function answerAsset(request: Request, response: Response, page: BuiltPage | undefined): Promise<void> {
  const asset = page?.assets.get(String(request.params['name']))
  if (asset === undefined) throw new ProblemError(problem('not_found'))
  return answerPrepared(request, response, asset.body, {
    ...HEADERS,
    'cache-control': asset.hashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
  })
}

const NOT_BUILT = `The page is not built. In the folder of Sluice, run

  npm run build

and load this address again. Everything else works: the API is described at docs/.
`

/** Never cached: the shell names the files of this build and contains the reader's theme. */
function answerText(response: Response, status: number, type: string, text: string): void {
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' }
  response.writeHead(status, { ...HEADERS, ...headers })
  response.end(text)
}

/** A file of the page, ready to be sent. */
interface Asset {
  readonly body: PreparedBody
  /** Whether the file name contains a content hash, so that the file may be cached forever. */
  readonly hashed: boolean
}

interface BuiltPage {
  /** index.html before anything is inserted. */
  readonly shell: string
  /** The files that the shell loads, by name. */
  readonly assets: ReadonlyMap<string, Asset>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Vite's file names: a name, a hash of eight characters, an extension. */
const HASHED = /-[\w-]{8}\.\w+$/

/** Reads the output of `npm run build`, some tens of KiB; undefined if there is none. */
function readBuiltPage(folder: string): BuiltPage | undefined {
  try {
    const shell = readFileSync(join(folder, 'index.html'), 'utf8')
    const files = readdirSync(join(folder, 'assets'), { withFileTypes: true }).filter((entry) => entry.isFile())
    return { shell, assets: new Map(files.flatMap((file) => assetOf(file))) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function assetOf({ name, parentPath }: Dirent): [string, Asset][] {
  const type = TYPES[extname(name)]
  if (type === undefined) return []
  const bytes = readFileSync(join(parentPath, name))
  return [[name, { body: prepareBody(type, () => bytes), hashed: HASHED.test(name) }]]
}
