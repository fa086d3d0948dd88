import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RefusedCount } from '../../views/schemas/answers.ts'
import { createClient, type Envelope } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLedger, type Ledger } from '../support/ledger.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const NOISY_KEY = 'noisy-key-0123456789abcdef0123456789abc'
const QUIET_KEY = 'quiet-key-0123456789abcdef0123456789abc'
const NOISY_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const QUIET_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'

const QUOTA = 50
const BURST_SECONDS = 2
const BATCH = 10
const QUIET_REQUESTS = 300

const REGISTRY = `
teams:
  - { id: noisy, apiKeys: ["${NOISY_KEY}"], limits: { entriesPerSecond: ${QUOTA}, burstSeconds: ${BURST_SECONDS} } }
  - { id: quiet, apiKeys: ["${QUIET_KEY}"] }
projects:
  - { id: ${NOISY_PROJECT}, team: noisy, name: Noisy }
  - { id: ${QUIET_PROJECT}, team: quiet, name: Quiet }
`

interface Sender {
  readonly ledger: Ledger
  /** The requests by how they were answered: the status and the code. */
  readonly answers: Map<string, number>
  /** Sends a request of so many entries. */
  send(entries: number): Promise<void>
}

function createSender(url: string, apiKey: string, uniqueIdentifier: string): Sender {
  const ledger = createLedger()
  const answers = new Map<string, number>()
  let count = 0
  const send = async (entries: number): Promise<void> => {
    const marks = Array.from({ length: entries }, (_, index) => `${uniqueIdentifier} ${count + index}`)
    count += entries
    for (const mark of marks) ledger.sent(mark)
    const logEntries = marks.map((message) => ({ categoryName: 'c', message, level: 'Information' }))
    const [path, body] =
      entries === 1 ? ['', { uniqueIdentifier, ...logEntries[0] }] : ['/batch', { uniqueIdentifier, logEntries }]
    const response = await fetch(`${url}/api/ApplicationLogs${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { success, error } = (await response.json()) as Envelope
    if (success) for (const mark of marks) ledger.answered(mark)
    const answer = `${response.status} ${success ? 'taken' : error.code}`
    answers.set(answer, (answers.get(answer) ?? 0) + 1)
  }
  return { ledger, answers, send }
}

describe('a Team far beyond its quota', () => {
  const folder = serverFolder(REGISTRY)
  let server: SluiceProcess
  beforeAll(async () => {
    server = await startSluice(folder.settings)
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
  })

  test('gets its quota and no more, and another Team does not notice; what was answered is stored, each once', async () => {
    const noisy = createSender(server.url, NOISY_KEY, NOISY_PROJECT)
    const quiet = createSender(server.url, QUIET_KEY, QUIET_PROJECT)
    const begin = performance.now()
    let isDone = false
    const refused = (): number => noisy.answers.get('429 rate_limited') ?? 0
    const flood = async (): Promise<void> => {
      while (!isDone) await noisy.send(refused() % 2 === 0 ? BATCH : 1)
    }
    const floods = [flood(), flood(), flood(), flood()]
    for (let sent = 0; sent < QUIET_REQUESTS; sent += 1) await quiet.send(sent % 2 === 0 ? 1 : BATCH)
    await eventually(() => noisy.ledger.settle([]).sent > 10 * noisy.ledger.answeredCount(), 60_000)
    isDone = true
    await Promise.all(floods)
    const seconds = (performance.now() - begin) / 1_000

    expect([...quiet.answers]).toEqual([['200 taken', QUIET_REQUESTS]])
    expect([...noisy.answers.keys()].sort()).toEqual(['200 taken', '429 rate_limited'])
    expect(noisy.ledger.answeredCount()).toBeGreaterThanOrEqual(QUOTA * BURST_SECONDS)
    expect(noisy.ledger.answeredCount()).toBeLessThanOrEqual(QUOTA * (BURST_SECONDS + seconds) + BATCH)

    for (const [{ ledger }, key] of [
      [noisy, NOISY_KEY],
      [quiet, QUIET_KEY],
    ] as const) {
      const client = createClient(server.url, key)
      await eventually(async () => {
        const stored = (await client.all('/api/application-logs')).map(({ message = '' }) => message)
        const { answered, duplicates, missing, strangers } = ledger.settle(stored)
        expect({ stored: stored.length, duplicates, missing, strangers }).toEqual({
          ...{ stored: answered, duplicates: [], missing: [], strangers: [] },
        })
      }, 60_000)
    }
  })

  test('sees its quota, and that it was limited; the other Team has nothing of it', async () => {
    const teamOf = async (key: string) =>
      (
        await createClient(server.url, key).get<{ limits: object; refused: readonly RefusedCount[] | null }>(
          '/api/team',
        )
      ).data
    await eventually(async () => {
      const { limits, refused } = await teamOf(NOISY_KEY)
      expect(limits).toEqual({
        ...{ entriesPerSecond: QUOTA, bytesPerSecond: null, burstSeconds: BURST_SECONDS, shadow: false },
      })
      expect(new Set(refused?.map(({ code }) => code))).toEqual(new Set(['rate_limited']))
    })
    expect((await teamOf(QUIET_KEY)).refused).toEqual([])
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toMatch(/^sluice_quota_limited_total\{team="noisy",mode="enforced"\} [1-9]/m)
    expect(metrics).toMatch(/^sluice_live_gateways 1$/m)
    expect(metrics).not.toContain('team="quiet"')
  })
})
