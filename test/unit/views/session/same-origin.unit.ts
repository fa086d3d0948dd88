import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createProxies } from '../../../../shared/http/proxies.ts'
import { isSameOrigin, requireSameOrigin } from '../../../../views/session/same-origin.ts'

const PROXY = '10.0.0.7'
const from = (headers: IncomingHttpHeaders) => ({ headers, socket: { remoteAddress: PROXY } as never })
const proxies = createProxies([PROXY])

describe('whether a request comes from a page of this origin', () => {
  test.each([
    ['the browser says so', { 'sec-fetch-site': 'same-origin' }],
    ['Origin names the host', { origin: 'http://logs.test:8080', host: 'logs.test:8080' }],
    ['Origin names the host, and a proxy ended TLS', { origin: 'https://logs.test', host: 'logs.test' }],
    ['Origin names the host in other letters', { origin: 'https://logs.test', host: 'Logs.Test' }],
    ['Origin names the host, and a proxy the default port', { origin: 'http://logs.test', host: 'logs.test:80' }],
    [
      'Origin names the host that a proxy was asked for, at the default port',
      { origin: 'https://logs.test', host: '10.0.0.7:8080', 'x-forwarded-host': 'logs.test:443' },
    ],
    [
      'Origin names the host that a proxy was asked for',
      { origin: 'https://logs.test', host: '10.0.0.7:8080', 'x-forwarded-host': 'logs.test' },
    ],
  ])('yes: %s', (_name, headers) => {
    expect(isSameOrigin(from(headers), proxies)).toBe(true)
    requireSameOrigin(from(headers), proxies)
  })

  test.each([
    ['nothing tells', { host: 'logs.test' }],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://logs.test', host: 'logs.test' }],
    ['another host of the site', { 'sec-fetch-site': 'same-site', origin: 'https://logs.test', host: 'logs.test' }],
    ['no page at all', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'https://evil.test', host: 'logs.test' }],
    ['another port', { origin: 'http://logs.test:8081', host: 'logs.test:8080' }],
    ['the default port of another scheme', { origin: 'http://logs.test', host: 'logs.test:443' }],
    ['a page of the host "undefined"', { origin: 'http://undefined' }],
    ['a host that only begins alike', { origin: 'http://logs.test.evil.test', host: 'logs.test' }],
    ['an opaque origin', { origin: 'null', host: 'logs.test' }],
    ['an origin without a host', { origin: 'file:///x', host: '' }],
    ['an origin that is none', { origin: 'logs.test', host: 'logs.test' }],
    [
      'another host that a proxy was asked for',
      { origin: 'https://evil.test', host: 'logs.test', 'x-forwarded-host': 'logs.test' },
    ],
  ])('no: %s', (_name, headers) => {
    expect(isSameOrigin(from(headers), proxies)).toBe(false)
    expect(() => requireSameOrigin(from(headers), proxies)).toThrow('origin')
  })

  test('no: somebody who is not trusted names the host', () => {
    const headers = { origin: 'https://logs.test', host: '10.0.0.7:8080', 'x-forwarded-host': 'logs.test' }
    expect(isSameOrigin(from(headers), createProxies(['10.0.0.8']))).toBe(false)
  })

  test('no, and what the proxy has to change is told, where it leaves out the port', () => {
    const headers = { origin: 'http://logs.test:8088', host: 'logs.test' }
    expect(() => requireSameOrigin(from(headers), proxies)).toThrow(
      /http:\/\/logs\.test:8088 sent the request to the host logs\.test\. .*pass on Host as it is, with the port/,
    )
  })
})
