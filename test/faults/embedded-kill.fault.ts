import { describe, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { eventually, FAULT_SCALE } from '../support/eventually.ts'
import { createLedger, type Ledger, ledgerLine } from '../support/ledger.ts'
import { serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'kill-key-0123456789abcdef0123456789abcde'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]
projects: [{ id: ${PROJECT}, team: t, name: P }]
`
const CLIENTS = 8
const ENTRIES_A_BATCH = 20
const ROUNDS = 6 * FAULT_SCALE
const PATIENCE_MS = 180_000 * FAULT_SCALE

/** Sends single entries and batches, one after another, until the server is gone. */
async function sendUntilGone(url: string, name: string, ledger: Ledger): Promise<void> {
  const client = createClient(url, KEY)
  const entry = (mark: string) => ({ categoryName: 'Kill', message: mark, level: 'Information', correlationKey: name })
  for (let number = 0; ; number++) {
    const batched = number % 2 === 0
    const marks = Array.from({ length: batched ? ENTRIES_A_BATCH : 1 }, (_, index) => `${name}-${number}-${index}`)
    for (const mark of marks) ledger.sent(mark)
    try {
      const answer = batched
        ? await client.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries: marks.map(entry) })
        : await client.post('/api/ApplicationLogs', { uniqueIdentifier: PROJECT, ...entry(marks[0] ?? '') })
      if (answer.success) for (const mark of marks) ledger.answered(mark)
    } catch {
      return
    }
  }
}

describe('SIGKILL at any moment, embedded', () => {
  test(
    'every answered entry is there exactly once after the restart, and nothing else is',
    async () => {
      const { settings, ...folder } = serverFolder(REGISTRY)
      const ledger = createLedger()
      let answeredBefore = -1
      for (let round = 0; round < ROUNDS; round++) {
        const server = await startSluice(settings)
        const senders = Array.from({ length: CLIENTS }, (_, index) =>
          sendUntilGone(server.url, `r${round}c${index}`, ledger),
        )
        // The moment is chosen by progress, not by time: after a random number of further answers.
        const wanted = Math.max(answeredBefore, 0) + 50 + Math.floor(Math.random() * 1_500)
        await eventually(() => ledger.answeredCount() >= wanted, 30_000)
        server.kill('SIGKILL')
        await Promise.all([server.exited, ...senders])
        answeredBefore = ledger.answeredCount()
      }

      const server = await startSluice(settings)
      const client = createClient(server.url, KEY)
      await eventually(async () => {
        const lag = await (await fetch(`${server.url}/metrics`)).text()
        const gauges = [...lag.matchAll(/^sluice_consumer_lag_records\{.*\} (\d+)$/gm)].map(([, value]) =>
          Number(value),
        )
        expect(gauges.length).toBeGreaterThan(0)
        expect(gauges.every((value) => value === 0)).toBe(true)
      }, 30_000)
      const stored = await client.all('/api/application-logs')
      const result = ledger.settle(stored.map(({ message = '' }) => message))
      process.stdout.write(`${ledgerLine(`${ROUNDS} kills`, result)}\n`)
      const flow = await client.get<{ summary: { total: number } }>('/api/flows/r0c0')
      const inFlow = stored.filter(({ message }) => message?.startsWith('r0c0-')).length
      server.kill('SIGTERM')
      await server.exited
      folder.remove()

      expect(result.answered).toBeGreaterThan(ROUNDS * 50)
      expect(result.missing).toEqual([])
      expect(result.duplicates).toEqual([])
      expect(result.strangers).toEqual([])
      expect(flow.data.summary.total).toBe(inFlow)
    },
    PATIENCE_MS,
  )
})
