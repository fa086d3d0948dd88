import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { runSluice, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'drain-key-0123456789abcdef0123456789abcd'

interface Sent {
  answer: string | undefined
  failure: string | undefined
}

/** Sends the headers and the first half of a body, and the other half when asked to. */
function halfRequest(url: string): { sent: Sent; finish(): void } {
  const body = JSON.stringify({ uniqueIdentifier: 'started', payload: 'half', level: 'Information' })
  const sent: Sent = { answer: undefined, failure: undefined }
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json', 'content-length': body.length }
  const outgoing = request(`${url}/api/ExternalLogs`, { method: 'POST', headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    response.on('end', () => {
      sent.answer = text
    })
  })
  outgoing.on('error', (error) => {
    sent.failure = error.message
  })
  outgoing.write(body.slice(0, 20))
  return { sent, finish: () => void outgoing.end(body.slice(20)) }
}

describe('SIGTERM', () => {
  test('every request that was taken is answered, new connections are refused, and the exit code is 0', async () => {
    const folder = serverFolder(
      `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]\nevents: [{ identifier: started, team: t, name: S }]\n`,
    )
    const server = await startSluice(folder.settings)
    const taken = Array.from({ length: 20 }, () => halfRequest(server.url))
    await eventually(async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      // Each half request holds a connection of its own; the metric of Node counts them as active resources.
      expect(Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)/m.exec(text)?.[1])).toBeGreaterThanOrEqual(
        20,
      )
    })

    server.kill('SIGTERM')
    await eventually(async () => {
      await expect(fetch(`${server.url}/health/live`)).rejects.toThrow()
    })
    for (const { finish } of taken) finish()
    expect(await server.exited).toBe(0)
    for (const { sent } of taken) {
      expect(sent.failure).toBeUndefined()
      expect(sent.answer).toContain('"success":true')
    }
    folder.remove()
  })

  test('an Elasticsearch that takes connections and never answers does not hold up the end', async () => {
    const frozen = createServer().listen(0, '127.0.0.1')
    await once(frozen, 'listening')
    const connected = once(frozen, 'connection')
    const folder = serverFolder(`teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]\n`)
    const settings = {
      ...folder.settings,
      ELASTICSEARCH_URL: `http://127.0.0.1:${(frozen.address() as AddressInfo).port}`,
      AUTO_CREATE: 'false',
      DRAIN_TIMEOUT_MS: '500',
    }
    expect(await runSluice(['topics', 'apply'], settings)).toMatchObject({ code: 0 })
    const server = await startSluice(settings)
    await connected
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    frozen.close()
    folder.remove()
  })
})
