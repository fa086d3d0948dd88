import express, { Router } from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerDocs } from '../../../deploy/openapi/docs-page.ts'
import type { OpenApiDocument } from '../../../deploy/openapi/openapi.ts'
import { createListener } from '../../../shared/http/listener.ts'
import { createLogger } from '../../../shared/runtime/logger.ts'
import { type BareServer, startBare } from '../../support/raw-http.ts'

const document: OpenApiDocument = {
  openapi: '3.1.0',
  paths: { '/api/flows/{correlationKey}/tail': {} },
  components: { schemas: {} },
  info: { title: 'x' },
}

let server: BareServer
let url: string
beforeAll(async () => {
  const router = Router()
  registerDocs(router, document)
  server = await startBare(createListener(express().use('/below', router), createLogger('silent', 'test')))
  url = `${server.url}/below`
})
afterAll(() => server.close())

describe('/docs', () => {
  test('/openapi.json is the document, for anybody', async () => {
    const response = await fetch(`${url}/openapi.json`)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual(document)
  })

  test('comes compressed', async () => {
    for (const path of ['/openapi.json', '/docs/', '/docs/swagger-ui-bundle.js'])
      for (const coding of ['br', 'gzip']) {
        const response = await fetch(url + path, { headers: { 'accept-encoding': coding } })
        expect([path, response.headers.get('content-encoding')]).toEqual([path, coding])
        await response.arrayBuffer()
      }
  })

  test('leads to a page, below any prefix', async () => {
    const response = await fetch(`${url}/docs`)
    expect(response.url).toBe(`${url}/docs/`)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('loads what it names from this origin, without a script or style in the page', async () => {
    const response = await fetch(`${url}/docs/`)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(policy).not.toContain('http')
    const page = await response.text()
    expect(page).not.toMatch(/<style|style=|\son\w+=|https?:/)
    expect(page.match(/<script[^>]*>[^<]+/)).toBeNull()
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name)
    expect(named).toHaveLength(4)
    for (const name of named) expect([name, (await fetch(`${url}/docs/${name}`)).status]).toEqual([name, 200])
  })

  test('keeps no key and asks no validator of others', async () => {
    const script = await (await fetch(`${url}/docs/start.js`)).text()
    expect(script).toContain('persistAuthorization: false')
    expect(script).toContain('validatorUrl: null')
    expect(script).toContain("url: '../openapi.json'")
  })

  test('serves nothing else of the package', async () => {
    for (const name of [
      'package.json',
      'index.html',
      'swagger-ui.js',
      '../package.json',
      '..%2fpackage.json',
      'absolute-path.js',
    ])
      expect([name, (await fetch(`${url}/docs/${name}`)).status]).toEqual([name, 404])
  })

  test('a path of the document that the process lacks is said to be of another role', async () => {
    const messageAt = async (path: string) => {
      const { error } = (await (await fetch(url + path)).json()) as { error: { code: string; message: string } }
      return [error.code, error.message]
    }
    expect(await messageAt('/API/flows/a%2Fb/tail')).toEqual([
      'not_found',
      expect.stringMatching(/role gateway.*role views/),
    ])
    expect(await messageAt('/api/flow')).toEqual(['not_found', expect.not.stringMatching(/role/)])
  })

  test('takes GET and HEAD only', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/', '/docs/start.js']) {
      const response = await fetch(url + path, { method: 'POST' })
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
      expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200)
    }
  })
})
