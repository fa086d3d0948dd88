import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express, { Router } from 'express'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createListener } from '../../../shared/http/listener.ts'
import { createLogger } from '../../../shared/runtime/logger.ts'
import { registerSite } from '../../../views/site.ts'
import { type BareServer, startBare } from '../../support/raw-http.ts'

const SCRIPT = 'console.log("the page")\n'.repeat(50)
const SHELL = `<!doctype html>
<html lang="en"><head>
<meta name="base-path" content="/">
<meta name="gateway" content="">
<link rel="icon" href="./assets/icon.svg">
<script type="module" src="./assets/index-Ab3_-x9Z.js"></script>
</head></html>`

let folder: string
let server: BareServer
let url: string

async function start(basePath: string, more: { gateway?: string } = {}): Promise<void> {
  const routes = Router()
  registerSite(routes, { basePath, folder, ...more })
  server = await startBare(createListener(express().use(basePath, routes), createLogger('silent', 'test')))
  url = server.url + basePath.replace(/\/$/, '')
}

function build(): void {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), SHELL)
  writeFileSync(join(folder, 'assets/index-Ab3_-x9Z.js'), SCRIPT)
  writeFileSync(join(folder, 'assets/icon.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets/secret.env'), 'x')
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
})

afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

describe('the page', () => {
  test('every path of its own answers the shell, never to be kept', async () => {
    build()
    await start('/')
    const paths = [
      '/',
      '/event-logs',
      '/application-logs/',
      '/flows',
      '/flows/a%2Fb',
      '/flows/%zz',
      '/team',
      '/refused?x=1',
    ]
    for (const path of paths) {
      const response = await fetch(url + path)
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
      expect(await response.text()).toContain('src="/assets/index-Ab3_-x9Z.js"')
    }
  })

  test('no other path does', async () => {
    build()
    await start('/')
    for (const path of [
      '/flows/a/b',
      '/nothing',
      '/assets/',
      '/assets/none.js',
      '/assets/..%2findex.html',
      '/assets/secret.env',
    ])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 404])
  })

  test.each(['/logs', '/a/b'])('below %s it names what it loads, and its base path', async (basePath) => {
    build()
    await start(basePath)
    const base = `${basePath}/`
    for (const path of ['', '/', '/flows/k']) {
      const html = await (await fetch(url + path)).text()
      expect(html).toContain(`<meta name="base-path" content="${base}">`)
      expect(html).toContain(`src="${base}assets/index-Ab3_-x9Z.js"`)
    }
    expect((await fetch(`${url}/assets/index-Ab3_-x9Z.js`)).status).toBe(200)
  })

  test.each([
    [{}, 'here'],
    [{ gateway: 'unknown' }, 'unknown'],
    [{ gateway: 'https://logs.example.com/"a"&b' }, 'https://logs.example.com/&quot;a&quot;&amp;b'],
  ])('it tells where the gateway is: %j', async (more, content) => {
    build()
    await start('/', more)
    expect(await (await fetch(url)).text()).toContain(`<meta name="gateway" content="${content}">`)
  })

  test('a base path is text in it', async () => {
    build()
    await start('/a&b')
    expect(await (await fetch(url)).text()).toContain('src="/a&amp;b/assets/index-Ab3_-x9Z.js"')
  })

  test('nothing but this origin may run in it, and no text becomes script', async () => {
    build()
    await start('/')
    const { headers } = await fetch(url)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|http|\*/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('same-origin')
  })

  test('it comes in the theme that was chosen, and in no other text of the cookie', async () => {
    build()
    await start('/')
    const shell = async (cookie: string): Promise<string> => (await fetch(url, { headers: { cookie } })).text()
    expect(await shell('sluice_theme=dark')).toContain('<html data-theme="dark" lang="en">')
    expect(await shell('a=b; sluice_theme=light')).toContain('data-theme="light"')
    for (const cookie of ['sluice_theme="><script>', 'sluice_theme=system', 'x=dark'])
      expect(await shell(cookie)).toContain('<html lang="en">')
  })

  test('other methods are refused', async () => {
    build()
    await start('/')
    const response = await fetch(url, { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('logs that are sent to it are told the path for them', async () => {
    build()
    await start('/logs')
    const response = await fetch(url, { method: 'POST', body: '{}' })
    const { error } = (await response.json()) as { readonly error: { readonly message: string } }
    expect([response.status, error.message]).toEqual([
      405,
      expect.stringContaining('such as /logs/v1/logs for OpenTelemetry'),
    ])
  })

  test('before it is built it says how to build it, and is there as soon as it is', async () => {
    await start('/')
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('npm run build')])
    build()
    expect((await fetch(url)).status).toBe(200)
  })
})

describe('what the page loads', () => {
  const asset = async (path: string, coding: string) => {
    const response = await fetch(url + path, { headers: { 'accept-encoding': coding } })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('is kept for ever where its name has a hash, and asked for again where it has none', async () => {
    build()
    await start('/')
    const script = await asset('/assets/index-Ab3_-x9Z.js', 'identity')
    expect(script.text).toBe(SCRIPT)
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect((await asset('/assets/icon.svg', 'identity')).headers.get('cache-control')).toBe('no-cache')
  })

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0, gzip;q=0', null],
    ['deflate', null],
    ['brotli', null],
    ['', null],
  ])('comes compressed as the client can read it: %j', async (accepted, coding) => {
    build()
    await start('/')
    const { headers, text } = await asset('/assets/index-Ab3_-x9Z.js', accepted)
    expect(headers.get('content-encoding')).toBe(coding)
    expect(headers.get('vary')).toBe('accept-encoding')
    expect(text).toBe(SCRIPT)
  })

  test('is small on the wire', async () => {
    build()
    await start('/')
    const response = await fetch(`${url}/assets/index-Ab3_-x9Z.js`, { headers: { 'accept-encoding': 'gzip' } })
    expect(Number(response.headers.get('content-length'))).toBeLessThan(SCRIPT.length / 5)
  })
})
