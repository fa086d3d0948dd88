import { describe, expect, test } from 'vitest'
import { type RunningGateway, startGateway } from '../../support/gateway.ts'

const PATH = '/api/ExternalLogs'
const EVENT = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Error' }
const APP = 'https://app.example'

const preflight = (gateway: RunningGateway, origin: string, path = PATH) =>
  fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' },
  })

describe('CORS_ORIGINS', () => {
  test('none by default: no header tells a browser anything', async () => {
    const gateway = await startGateway()
    const response = await preflight(gateway, APP)
    expect(response.status).toBe(405)
    expect(await response.text()).toContain('CORS_ORIGINS')
    const { headers } = await gateway.post(PATH, EVENT, { origin: APP })
    for (const answered of [response.headers, headers]) {
      expect([...answered.keys()].filter((name) => name.startsWith('access-control') || name === 'vary')).toEqual([])
    }
    await gateway.close()
  })

  test('a preflight of an allowed origin is answered on every ingestion path', async () => {
    const gateway = await startGateway({ config: { CORS_ORIGINS: [APP, 'http://localhost:5000'] } })
    for (const path of [PATH, '/api/ApplicationLogs', '/api/applicationlogs/BATCH/', '/v1/logs', '/ingest/clef']) {
      const { status, headers } = await preflight(gateway, APP, path)
      expect(status).toBe(204)
      expect(Object.fromEntries(headers)).toMatchObject({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers':
          'content-type, content-encoding, x-api-key, x-seq-apikey, x-project-id, authorization, idempotency-key, x-strict-status, traceparent',
        'access-control-max-age': '7200',
        vary: 'Origin',
      })
    }
    await gateway.close()
  })

  test('an origin that is not allowed learns nothing, but that the answer depends on the origin', async () => {
    const gateway = await startGateway({ config: { CORS_ORIGINS: [APP] } })
    for (const origin of ['https://evil.example', `${APP}.evil.example`, 'null', APP.toUpperCase()]) {
      const response = await preflight(gateway, origin)
      const { headers } = response
      expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([null, 'Origin'])
      expect([response.status, await response.text()]).toEqual([405, expect.stringContaining('CORS_ORIGINS')])
    }
    await gateway.close()
  })

  test('answers, refusals too, can be read by the page, with Retry-After', async () => {
    const gateway = await startGateway({ config: { CORS_ORIGINS: [APP] } })
    const answers = [
      await gateway.post(PATH, EVENT, { origin: APP }),
      await gateway.post(PATH, {}, { origin: APP }),
      await gateway.post(PATH, '{', { origin: APP }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    for (const { headers, body } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(APP)
      expect(headers.get('access-control-expose-headers')).toBe('Retry-After')
      expect(headers.get('vary')).toBe('Origin')
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(typeof body.success).toBe('boolean')
    }
    await gateway.close()
  })

  test('* allows every origin', async () => {
    const gateway = await startGateway({ config: { CORS_ORIGINS: ['*'] } })
    const { headers } = await preflight(gateway, 'https://anyone.example')
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual(['*', null])
    await gateway.close()
  })

  test('OPTIONS that is no preflight is 405', async () => {
    const gateway = await startGateway({ config: { CORS_ORIGINS: ['*'] } })
    const response = await fetch(`http://127.0.0.1:${gateway.port}${PATH}`, { method: 'OPTIONS' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    await gateway.close()
  })
})
