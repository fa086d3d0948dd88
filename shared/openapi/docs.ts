import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { type IRouter, type Response, Router } from 'express'
import { answerJson } from '../http/answer.ts'
import { answerMethodNotAllowed } from '../http/method-not-allowed.ts'
import type { OpenApiDocument } from './openapi.ts'

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/** Scripts, styles and requests of this origin only, and none of them inline. */
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

/** A key that is entered on the page is forgotten with it. */
const START = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`

/** `GET /openapi.json`, and the page `/docs/` that shows it, without anything from elsewhere. */
export function registerDocs(router: IRouter, document: OpenApiDocument): void {
  const assetsRoot = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const body = JSON.stringify(document)
  // Strict, to tell /docs from /docs/: what the page loads is named relative to the latter, and so works below any prefix.
  const docs = Router({ strict: true })
  const serve = (path: string, answer: (response: Response) => void): unknown =>
    docs
      .route(path)
      .get((_request, response) => answer(response))
      .all((_request, response) => answerMethodNotAllowed(response, 'GET, HEAD'))
  serve('/openapi.json', (response) => answerJson(response, 200, body, { 'cache-control': 'no-cache' }))
  serve('/docs', (response) => response.writeHead(308, { location: 'docs/' }).end())
  serve('/docs/', (response) => answerText(response, 'text/html', PAGE))
  serve('/docs/start.js', (response) => answerText(response, 'text/javascript', START))
  for (const asset of ASSETS)
    serve(`/docs/${asset}`, (response) => response.sendFile(asset, { root: assetsRoot, maxAge: '1d' }))
  router.use(docs)
}

function answerText(response: Response, type: string, text: string): void {
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  })
  response.end(text)
}
