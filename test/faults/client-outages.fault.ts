import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient as createSluiceClient, type Dropped } from '../../clients/typescript/src/index.ts'
import { createRandom, type Random } from '../fuzz/random.ts'
import { createClient } from '../support/api.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { createLedger, type Ledger, ledgerLine } from '../support/ledger.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'outage-key-0123456789abcdef0123456789abc'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]
projects: [{ id: ${PROJECT}, team: t, name: P }]
events: [{ identifier: e, team: t, name: E }]
`
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const OUTAGES = 6 * FAULT_SCALE
/** Shorter than an outage, so that requests which a frozen server has are given up and sent again. */
const REQUEST_TIMEOUT_MS = 700
const PENDING_MAX = 1_000
const PATIENCE_MS = 120_000 * FAULT_SCALE

const folder = serverFolder(REGISTRY)
const logging = new AbortController()
let server: SluiceProcess

afterEach(async () => {
  logging.abort()
  server.kill('SIGCONT')
  server.kill('SIGKILL')
  await server.exited
  folder.remove()
})

/** Loses one answer in 32, and tells of another that an entry was not confirmed, which makes the client send all of it again. */
const unreliable =
  (random: Random): typeof fetch =>
  async (...request) => {
    const response = await fetch(...request)
    const fate = random.int(32)
    if (fate === 0) throw new TypeError('the answer was lost')
    const answer = (await response.json()) as { success: boolean; data?: { count?: number } }
    if (fate > 1 || answer.data?.count === undefined || answer.data.count < 2) return Response.json(answer)
    const unconfirmed = { index: random.int(answer.data.count), code: 'server_error', message: '', retryable: true }
    const data = { count: answer.data.count - 1, rejected: 1, errors: [unconfirmed] }
    return Response.json({ success: true, data }, { status: 207, headers: { 'retry-after': '0' } })
  }

describe(`a server that is killed and frozen while the TypeScript client logs, seed ${SEED}`, () => {
  test(
    'every log is stored exactly once',
    async () => {
      const random = createRandom(SEED, 0)
      server = await startSluice(folder.settings)
      const { port } = new URL(server.url)
      const ledger = createLedger()
      const dropped: Dropped[] = []
      const client = createSluiceClient({
        url: server.url,
        apiKey: KEY,
        project: PROJECT,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        maxDelayMs: 20,
        minBackOffMs: 10,
        maxBackOffMs: 500,
        maxBatchEntries: 20,
        onDropped: (report) => dropped.push(report),
        onRetry: () => undefined,
        fetch: unreliable(createRandom(SEED, 1)),
      })

      const logger = logUntil(logging.signal, client, ledger)
      for (let outage = 0; outage < OUTAGES; outage += 1) {
        // The moment is chosen by progress: after a random number of further entries.
        const wanted = client.stats().stored + 300 + random.int(600)
        await eventually(() => client.stats().stored >= wanted, 30_000)
        if (random.oneIn(2)) {
          server.kill('SIGKILL')
          await server.exited
          await delay(random.int(1_000))
          server = await startSluice({ ...folder.settings, PORT: port })
        } else {
          server.kill('SIGSTOP')
          await delay(random.int(2 * REQUEST_TIMEOUT_MS))
          server.kill('SIGCONT')
        }
      }
      logging.abort()
      await logger
      await client.flush()
      const { stored: confirmed, pending, retries } = client.stats()
      await client.close()

      const reader = createClient(server.url, KEY)
      const readAll = async (): Promise<readonly string[]> => [
        ...(await reader.all('/api/application-logs')).map(({ message = '' }) => message),
        ...(await reader.all('/api/event-logs')).map(({ payload = '' }) => payload),
      ]
      await eventually(async () => expect(new Set(await readAll()).size).toBeGreaterThanOrEqual(confirmed), 30_000)
      const result = ledger.settle(await readAll())
      process.stdout.write(`${ledgerLine(`${OUTAGES} outages, seed ${SEED}, ${retries} retries`, result)}\n`)

      expect({ dropped, pending, confirmed }).toEqual({ dropped: [], pending: 0, confirmed: result.sent })
      expect(result).toMatchObject({ stored: result.sent, missing: [], duplicates: [], strangers: [] })
      expect(retries).toBeGreaterThan(OUTAGES)
      expect(result.sent).toBeGreaterThan(300 * OUTAGES)
    },
    PATIENCE_MS,
  )
})

/** Logs a few entries at a time, nine of ten for a Project; all of them are as good as answered, since none may be lost. */
async function logUntil(
  end: AbortSignal,
  client: ReturnType<typeof createSluiceClient>,
  ledger: Ledger,
): Promise<void> {
  for (let number = 0; !end.aborted; number += 1) {
    for (let index = 0; index < 10; index += 1) {
      const mark = `${number}-${index}`
      ledger.sent(mark)
      ledger.answered(mark)
      if (index === 0) client.event({ uniqueIdentifier: 'e', payload: mark, level: 'Information' })
      else client.log({ categoryName: 'Outage', message: mark, level: 'Information', scopeData: { number } })
    }
    // No faster than it is sent for long, so that a busy machine has the same number of entries to look at.
    do await delay(10)
    while (client.stats().pending > PENDING_MAX && !end.aborted)
  }
}
