import { encodeRefusal, type RefusalRecord } from '../../shared/contract/refusals.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { Journal, NewRecord } from '../../shared/journal/journal.ts'
import type { BaseServices } from '../../shared/role.ts'
import { createByteBudget } from '../../shared/runtime/byte-budget.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import { byDeadline } from '../../shared/runtime/waiting.ts'

interface RefusalOutboxDeps extends Pick<BaseServices, 'clock' | 'logger' | 'metrics'> {
  readonly journal: Pick<Journal, 'append'>
  readonly topic: string
}

/** Notes of refusals on their way to the journal. No request waits for them. */
export interface RefusalOutbox extends Service {
  /** Takes a note if there is room; returns whether it did. */
  push(record: RefusalRecord): boolean
  /** Counts a refusal that is not noted. */
  miss(team: string, code: string): void
}

/** Milliseconds from the first note to the append, so that notes that come meanwhile go in the same request. */
const GATHER_MS = 250
/** Maximum bytes of waiting notes: one append takes them all, and brokers accept requests of up to 1 MiB. */
const WAITING_BYTES_MAX = 500_000
/** Maximum Teams whose counts go with one append; the others wait for the next one. */
const TEAMS_TOLD_MAX = 200
const PARTITION = 0

export function createRefusalOutbox({ journal, topic, clock, logger, metrics }: RefusalOutboxDeps): RefusalOutbox {
  const counter = metrics.counter('sluice_refusals_noted_total', { outcome: ['noted', 'unnoted', 'lost'] })
  let waiting: { readonly team: string; readonly size: number; readonly encoded: NewRecord }[] = []
  const bytes = createByteBudget(WAITING_BYTES_MAX)
  const missed = new Map<string, Map<string, number>>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let hasFailed = false

  function schedule(): void {
    if (timer !== undefined || sending !== undefined) return
    timer = setTimeout(send, GATHER_MS)
    timer.unref()
  }

  function send(): void {
    clearTimeout(timer)
    timer = undefined
    const records = [...waiting.map(({ encoded }) => encoded), ...takeMissed()]
    for (const { team, size } of waiting) bytes.share(team).give(size)
    waiting = []
    sending = append(records).finally(() => {
      sending = undefined
      if (waiting.length > 0 || missed.size > 0) schedule()
    })
  }

  async function append(records: readonly NewRecord[]): Promise<void> {
    try {
      await journal.append({ topic, partition: PARTITION, records })
      hasFailed = false
    } catch (err) {
      counter.inc({ outcome: 'lost' }, records.length)
      if (!hasFailed) logger.warn({ err, topic }, 'refusals could not be noted; further failures are not reported')
      hasFailed = true
    }
  }

  function takeMissed(): NewRecord[] {
    const at = timestampOf(clock.now())
    return [...missed].slice(0, TEAMS_TOLD_MAX).map(([team, counts]) => {
      missed.delete(team)
      return encodeRefusal({ kind: 'unnoted', team, at, counts: Object.fromEntries(counts) })
    })
  }

  return {
    name: 'refusals',
    push: (record) => {
      const encoded = encodeRefusal(record)
      const size = Buffer.byteLength(String(encoded.value))
      const { team } = record
      if (!bytes.share(team).fits(size)) return false
      waiting.push({ team, size, encoded })
      bytes.share(team).take(size)
      counter.inc({ outcome: 'noted' })
      schedule()
      return true
    },
    miss: (team, code) => {
      const counts = missed.get(team) ?? new Map<string, number>()
      missed.set(team, counts.set(code, (counts.get(code) ?? 0) + 1))
      counter.inc({ outcome: 'unnoted' })
      schedule()
    },
    start: async () => {},
    stop: async (deadline) => {
      await byDeadline(flush(), deadline, clock)
    },
  }

  /** Sends everything that waits, after the append under way has ended. */
  async function flush(): Promise<void> {
    await sending
    while (waiting.length > 0 || missed.size > 0) {
      send()
      await sending
    }
  }
}
