import { describe, expect, test } from 'vitest'
import { createProxies } from '../../../../shared/http/proxies.ts'

const TRUSTED = ['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '2001:db8::1', '127.0.0.1']

const requestFrom = (remoteAddress: string | undefined, headers: Record<string, string> = {}) => ({
  headers,
  socket: { remoteAddress } as never,
})

describe('the client of a request', () => {
  const proxies = createProxies(TRUSTED)

  test.each([
    ['198.51.100.7', undefined, '198.51.100.7'],
    ['::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:127.0.0.1', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '6.6.6.6, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', '6.6.6.6,203.0.113.9 , 192.0.2.1,10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '192.0.2.2', '192.0.2.2'],
    ['10.0.0.1', '6.6.6.6, unknown', '10.0.0.1'],
    ['10.0.0.1', '6.6.6.6, unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', ' , ,', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::9]:4711', '2001:db8::9'],
    ['10.0.0.1', '[2001:db8::9]', '2001:db8::9'],
    ['fd12::1', '2001:db8:1:2::1', '2001:db8:1:2::1'],
    ['2001:db8::1', '203.0.113.9', '203.0.113.9'],
    ['2001:db8::2', '203.0.113.9', '2001:db8::2'],
    ['fe80::1%eth0', '203.0.113.9', 'fe80::1'],
    [undefined, '203.0.113.9', ''],
  ])('from %s with X-Forwarded-For %s is %s', (peer, forwarded, client) => {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    expect(proxies.clientOf(requestFrom(peer, headers))).toBe(client)
    expect(createProxies([]).clientOf(requestFrom(peer, headers))).toBe(proxies.clientOf(requestFrom(peer)))
  })
})

describe('what a proxy tells', () => {
  const headers = { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'logs.test' }

  test('is believed where it is trusted', () => {
    const proxies = createProxies(TRUSTED)
    const request = requestFrom('10.0.0.1', headers)
    expect([proxies.protocolOf(request), proxies.hostOf(request), proxies.ignores(request)]).toEqual([
      'https',
      'logs.test',
      false,
    ])
    expect(proxies.protocolOf(requestFrom('10.0.0.1'))).toBeUndefined()
  })

  test.each([[[]], [['10.0.0.2']]])('is not believed where it is not: %j', (trusted: string[]) => {
    const proxies = createProxies(trusted)
    const request = requestFrom('10.0.0.1', headers)
    expect([proxies.protocolOf(request), proxies.hostOf(request), proxies.ignores(request)]).toEqual([
      undefined,
      undefined,
      true,
    ])
    expect(proxies.ignores(requestFrom('10.0.0.1'))).toBe(false)
  })
})
