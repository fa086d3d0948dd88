import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CANARY_EVENT, CANARY_PROJECT, type Hop, runRound } from '../../../../deploy/canary/round.ts'
import { parseRegistryFile } from '../../../../shared/registry/file.ts'
import { pause } from '../../../../shared/runtime/waiting.ts'
import { cliOnMemory } from '../../../support/cli.ts'
import { eventually } from '../../../support/eventually.ts'
import { startBare } from '../../../support/raw-http.ts'

interface Sent {
  readonly method: string
  readonly url: string
  readonly key: unknown
  readonly body: string
}
/** A status and a body; null answers nothing at all. */
type Answer = readonly [status: number, body: string] | null

const success = (data: object): Answer => [200, JSON.stringify({ success: true, data })]
const failure = (status: number, code: string, retryable: boolean): Answer => [
  status,
  JSON.stringify({ success: false, error: { code, message: `Told by ${code}.`, details: null, retryable } }),
]
const ACCEPTED = success({ id: 'x' })
const FOUND = success({ items: [{ total: 2 }] })
const EMPTY = success({ items: [] })

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that answers by these functions, and what was sent to it. */
async function serverOf(gateway: () => Answer, views: (path: string) => Answer | Promise<Answer>) {
  const sent: Sent[] = []
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { method = '', url = '', headers } = request
    sent.push({ method, url, key: headers['x-api-key'], body })
    const answer = method === 'POST' ? gateway() : await views(url.split('?')[0] ?? '')
    if (answer !== null) response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1])
  }
  const { port, close } = await startBare(listener)
  closing.push(close)
  return { url: `http://127.0.0.1:${port}`, sent }
}

/** A deadline that is not meant to pass, also where this process is busy. */
const PATIENCE_MS = 30_000
/** A deadline that is meant to pass. */
const SHORT_MS = 300

async function roundWith(
  gateway: () => Answer,
  views: (path: string) => Answer | Promise<Answer>,
  deadlineMs = PATIENCE_MS,
) {
  const { url, sent } = await serverOf(gateway, views)
  const hops: Hop['name'][] = []
  const target = { gatewayUrl: url, viewsUrl: url, apiKey: 'the-key', deadlineMs }
  return { round: await runRound(target, ({ name }) => hops.push(name)), hops, sent }
}

describe('a round', () => {
  test('sends both kinds under one correlationKey, and looks for it in every list', async () => {
    const { round, hops, sent } = await roundWith(
      () => ACCEPTED,
      () => FOUND,
    )
    expect(round).toMatchObject({ outcome: 'found', reason: '' })
    expect(hops.toSorted()).toEqual(['accepted', 'accepted', 'application-logs', 'event-logs', 'flows'])
    const [event, application] = sent.map(({ body }) => (body === '' ? {} : JSON.parse(body)))
    expect(event).toMatchObject({ uniqueIdentifier: CANARY_EVENT, correlationKey: expect.stringMatching(/^canary-/) })
    expect(application).toMatchObject({ uniqueIdentifier: CANARY_PROJECT, correlationKey: event.correlationKey })
    const paths = ['/api/application-logs', '/api/event-logs', '/api/flows']
    expect(
      sent
        .slice(2)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(paths.map((path) => `${path}?correlationKey=${event.correlationKey}`))
    expect(new Set(sent.map(({ key }) => key))).toEqual(new Set(['the-key']))
  })

  test.each<[string, Answer, string, string]>([
    ['refuses', failure(403, 'invalid_api_key', false), 'gateway_refused', 'invalid_api_key: Told by invalid_api_key.'],
    ['does not get it confirmed', failure(503, 'server_error', true), 'not_accepted', 'server_error'],
    ['is something else', [502, '<html>'], 'gateway_refused', 'status 502, and no answer of Sluice'],
    ['answers without end', success({ text: 'x'.repeat(300_000) }), 'gateway_refused', 'more than 262144 bytes'],
  ])('a gateway that %s', async (_, answer, outcome, reason) => {
    const { round, hops } = await roundWith(
      () => answer,
      () => FOUND,
    )
    expect(round).toMatchObject({ outcome, reason: expect.stringContaining(reason) })
    expect(hops).toEqual([])
  })

  test('a gateway that does not answer by the deadline', async () => {
    const { round } = await roundWith(
      () => null,
      () => FOUND,
      SHORT_MS,
    )
    expect(round).toMatchObject({ outcome: 'not_accepted', reason: expect.stringContaining('within 300 ms') })
  })

  test('a gateway that is not there', async () => {
    const { url } = await serverOf(
      () => ACCEPTED,
      () => FOUND,
    )
    for (const close of closing.splice(0)) close()
    const target = { gatewayUrl: url, viewsUrl: url, apiKey: 'k', deadlineMs: PATIENCE_MS }
    expect(await runRound(target, () => undefined)).toMatchObject({
      outcome: 'gateway_refused',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test.each<[string, (path: string) => Answer]>([
    ['is empty', (path) => (path === '/api/flows' ? EMPTY : FOUND)],
    ['has one of the two', (path) => (path === '/api/flows' ? success({ items: [{ total: 1 }] }) : FOUND)],
  ])('a list that %s until the deadline is named', async (_, views) => {
    // On a busy machine it may not get as far by the deadline.
    await eventually(async () => {
      const { round, hops } = await roundWith(() => ACCEPTED, views, SHORT_MS)
      expect(round).toMatchObject({ outcome: 'not_searchable', reason: expect.stringMatching(/^flows has not shown/) })
      expect(hops).toHaveLength(4)
    })
  })

  test('views that answer are not blamed for a search that begins just before the deadline', async () => {
    await eventually(async () => {
      let asked = 0
      const { round, sent } = await roundWith(
        () => ACCEPTED,
        async () => {
          asked += 1
          if (asked > 3) await pause(SHORT_MS)
          return EMPTY
        },
        SHORT_MS,
      )
      // On a busy machine the deadline may pass before the second search.
      expect(sent.length).toBeGreaterThan(5)
      expect(round).toMatchObject({ outcome: 'not_searchable' })
    })
  })

  test('views that refuse the key are not asked again', async () => {
    const { round, sent } = await roundWith(
      () => ACCEPTED,
      () => failure(401, 'invalid_api_key', false),
    )
    expect(round).toMatchObject({ outcome: 'views_refused', reason: expect.stringContaining('invalid_api_key') })
    expect(sent).toHaveLength(5)
  })

  test.each<[string, Answer]>([
    ['fail', failure(503, 'server_error', true)],
    ['do not answer', null],
    ['are something else', [200, '']],
  ])('views that %s until the deadline', async (_, answer) => {
    await eventually(async () => {
      const { round } = await roundWith(
        () => ACCEPTED,
        () => answer,
        SHORT_MS,
      )
      expect(round).toMatchObject({ outcome: 'views_refused' })
    })
  })

  test('views that are gone for a moment are asked again', async () => {
    let asked = 0
    const { round } = await roundWith(
      () => ACCEPTED,
      () => {
        asked += 1
        return asked < 4 ? failure(503, 'server_error', true) : asked < 7 ? [502, ''] : asked < 10 ? EMPTY : FOUND
      },
    )
    expect(round.outcome).toBe('found')
  })

  test('ends when it is told to', async () => {
    const stop = new AbortController()
    const { url } = await serverOf(
      () => {
        stop.abort()
        return null
      },
      () => FOUND,
    )
    const target = { gatewayUrl: url, viewsUrl: url, apiKey: 'k', deadlineMs: PATIENCE_MS }
    await expect(runRound(target, () => undefined, stop.signal)).rejects.toThrow('aborted')
  })
})

describe('the command', () => {
  test('without --once runs until it is stopped', async () => {
    const { run, calls } = cliOnMemory()
    expect((await run('canary')).code).toBe(7)
    expect(calls).toEqual([['canary']])
  })

  test('--once prints each hop with its time', async () => {
    const { url } = await serverOf(
      () => ACCEPTED,
      () => FOUND,
    )
    const { run } = cliOnMemory({ env: { GATEWAY_URL: `${url}/`, CANARY_API_KEY: 'k' } })
    const { code, stdout } = await run('canary', '--once')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^(accepted {10}\d\.\d{3} s\n){2}([a-z-]+ +\d\.\d{3} s\n){3}found {13}\d\.\d{3} s\n$/)
  })

  test('--once fails with the hop, the answer and what to check', async () => {
    const { url } = await serverOf(
      () => failure(403, 'invalid_api_key', false),
      () => FOUND,
    )
    const { run } = cliOnMemory({ env: { GATEWAY_INTERNAL_URL: url, CANARY_API_KEY: 'secret-key' } })
    const { code, stderr } = await run('canary', '--once')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^sluice canary: gateway_refused after .*invalid_api_key.*\nCheck GATEWAY_INTERNAL_URL or/)
    expect(stderr).not.toContain('secret-key')
  })

  test.each(['someone:hunter2', 'hunter2'])(
    'takes no credentials (%s) in an address, and does not repeat them',
    async (login) => {
      const env = { GATEWAY_URL: `http://${login}@127.0.0.1:1`, CANARY_API_KEY: 'k' }
      const { code, stderr } = await cliOnMemory({ env }).run('canary', '--once')
      expect(code).toBe(1)
      expect(stderr).toContain('must have no user or password')
      expect(stderr).not.toContain('hunter2')
    },
  )

  test('names every setting that is missing', async () => {
    const { code, stderr } = await cliOnMemory().run('canary', '--once')
    expect(code).toBe(1)
    expect(stderr).toContain('GATEWAY_URL or GATEWAY_INTERNAL_URL must be set')
    expect(stderr).toContain('CANARY_API_KEY must be set')
  })
})

test('the Team of the canary can be registered as the file has it', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../deploy/canary/registry.yaml'), 'utf8')
  const { file, problems } = parseRegistryFile(text)
  expect(problems).toEqual([])
  expect(file.events.map(({ id }) => id)).toEqual([CANARY_EVENT])
  expect(file.projects.map(({ id }) => id)).toEqual([CANARY_PROJECT])
})
