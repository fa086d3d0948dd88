import { setTimeout as delay } from 'node:timers/promises'
import { type AcceptedLedger, createStoredEntries, type Settlement, type StoredEntries } from './ledger.ts'
import { TEAMS } from './material.ts'

/** Teams whose logs a run may have written to. */
const WRITTEN = [TEAMS.main, TEAMS.attacks, TEAMS.reads, TEAMS.wide]
const KINDS = ['event-logs', 'application-logs']
/** How long what was accepted may take to be shown once nothing more comes. */
const SHOWN_WITHIN_MS = 120_000
const PAUSE_MS = 2_000

/** Reads everything back, until nothing is missing or the time is up. */
export async function settle(views: () => string, ledger: AcceptedLedger): Promise<Settlement> {
  const end = performance.now() + SHOWN_WITHIN_MS
  for (;;) {
    const stored = createStoredEntries()
    for (const { key } of WRITTEN) for (const kind of KINDS) await readAll(`${views()}/api/${kind}/export`, key, stored)
    const settlement = ledger.settle(stored)
    if (settlement.missing.length === 0 || performance.now() > end) return settlement
    await delay(PAUSE_MS)
  }
}

async function readAll(url: string, key: string, stored: StoredEntries): Promise<void> {
  const answer = await fetch(url, { headers: { 'x-api-key': key } })
  if (!answer.ok || answer.body === null) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  let rest = ''
  const decoder = new TextDecoder()
  for await (const piece of answer.body) {
    const lines = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) stored.add((JSON.parse(line) as { id: string }).id, line)
  }
}
