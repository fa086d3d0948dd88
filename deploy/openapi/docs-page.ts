import { readFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type IRouter, Router } from 'express'
import { ProblemError, problemSaying } from '../../shared/contract/errors.ts'
import { serveReads } from '../../shared/http/method-not-allowed.ts'
import { answerPrepared, type PreparedBody, prepareBody } from '../../shared/http/prepared-body.ts'
import type { OpenApiDocument } from './openapi.ts'

/** The files of the package that the page needs, with their media types. */
const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const DAY_SECONDS = 24 * 3_600

/** Allows scripts, styles and requests of this origin only, and no inline ones. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sluice API</title>
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="icon" type="image/png" href="favicon-32x32.png">
  </head>
  <body>
    <div id="docs"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="start.js"></script>
  </body>
</html>
`

/** The page does not store the key that is entered on it. */
const START = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`

const NOSNIFF = { 'x-content-type-options': 'nosniff' }

const PAGE_HEADERS = {
  ...NOSNIFF,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

const ELSEWHERE = problemSaying(
  'not_found',
  'Another process serves this path. Send logs to the role gateway, and reads to the role views; /metrics is on METRICS_PORT if that is set.',
)

/**
 * `GET /openapi.json`, and the page `/docs/` that shows it, which loads nothing from other origins. Comes after all other routes: a path of
 * the document that none of them has belongs to another role, and is refused with that reason.
 */
export function registerDocs(router: IRouter, document: OpenApiDocument): void {
  const assetsRoot = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  // Strict, to tell /docs from /docs/: the page's assets have URLs relative to the latter, so they work below any prefix.
  const docs = Router({ strict: true })
  const servePrepared = (path: string, body: PreparedBody, headers: OutgoingHttpHeaders): unknown =>
    serveReads(docs, path, (request, response) => answerPrepared(request, response, body, headers))
  const text = (type: string, content: string): PreparedBody =>
    prepareBody(`${type}; charset=utf-8`, () => Buffer.from(content))
  servePrepared('/openapi.json', text('application/json', JSON.stringify(document)), {
    ...NOSNIFF,
    'cache-control': 'no-cache',
  })
  serveReads(docs, '/docs', (_request, response) => response.writeHead(308, { location: 'docs/' }).end())
  servePrepared('/docs/', text('text/html', PAGE), PAGE_HEADERS)
  servePrepared('/docs/start.js', text('text/javascript', START), PAGE_HEADERS)
  for (const [name, type] of Object.entries(ASSETS)) {
    const body = prepareBody(type, () => readFile(join(assetsRoot, name)))
    servePrepared(`/docs/${name}`, body, { ...NOSNIFF, 'cache-control': `public, max-age=${DAY_SECONDS}` })
  }
  router.use(docs)
  // One by one, as metrics name a route by its path.
  for (const path of Object.keys(document.paths))
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), () => {
      throw new ProblemError(ELSEWHERE)
    })
}
