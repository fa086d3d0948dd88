import { setTimeout as delay } from 'node:timers/promises'
import { createClient, type Envelope, type List } from '../support/api.ts'
import { type AcceptedLedger, createStoredEntries, type Settlement, type StoredEntries } from './ledger.ts'
import { markIn } from './marks.ts'
import { TEAMS, type TeamMaterial } from './material.ts'
import type { Target } from './target.ts'

/** Teams whose logs a run may have written. The entries of the read-only Team have no marks, and would stand in for missing ones. */
const WRITTEN = [TEAMS.main, TEAMS.attacks, TEAMS.wide]
const KINDS = ['event-logs', 'application-logs']
/** How long accepted entries may take to become visible after the last request. */
const SHOWN_WITHIN_MS = 120_000
const PAUSE_MS = 2_000
/** Failed reads before the comparison is given up. */
const READINGS_MAX = 5
const PAGE_ENTRIES = 1_000

/**
 * Reads all entries of these Teams back until nothing is missing or the timeout passes, which starts with the first complete read: a
 * million entries take minutes. Rejects if they cannot be read.
 */
export async function settle(
  target: Pick<Target, 'port' | 'up'>,
  ledger: AcceptedLedger,
  teams: readonly TeamMaterial[] = WRITTEN,
): Promise<Settlement> {
  let end = Number.POSITIVE_INFINITY
  for (let failures = 0; ; ) {
    try {
      const settlement = ledger.settle(await readStored(target, teams))
      end = Math.min(end, performance.now() + SHOWN_WITHIN_MS)
      if (settlement.missing.length === 0 || performance.now() > end) return settlement
    } catch (error) {
      failures += 1
      if (failures === READINGS_MAX) throw error
    }
    await delay(PAUSE_MS)
  }
}

async function readStored(target: Pick<Target, 'port' | 'up'>, teams: readonly TeamMaterial[]): Promise<StoredEntries> {
  const stored = createStoredEntries()
  for (const { key } of teams) {
    for (const kind of KINDS) {
      await target.up()
      const entries = await readPages(`http://127.0.0.1:${target.port('views')}`, `/api/${kind}`, key)
      for (const [id, mark] of entries) stored.add(id, mark)
    }
  }
  return stored
}

/** An entry's id, and the mark of its request. */
type Read = readonly [id: string, mark: string | undefined]

/** A list has the beginnings of long texts, where the marks are. Exporting a million characters of each entry took minutes. */
async function readPages(url: string, path: string, key: string): Promise<readonly Read[]> {
  const client = createClient(url, key)
  const entries: Read[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Envelope<List> = await client.get(
      `${path}?limit=${PAGE_ENTRIES}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    if (!page.success) throw new Error(`${path}: ${page.error.message}`)
    for (const item of page.data.items) entries.push([item.id, markIn(JSON.stringify(item))])
    cursor = page.data.nextCursor
  }
  return entries
}
