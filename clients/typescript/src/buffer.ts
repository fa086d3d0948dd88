import { type Batch, createBatch, createWave, type Target, utf8Bytes, type Wave } from './batch.ts'
import { later } from './times.ts'

interface BufferOptions {
  /** Maximum entries and bytes of a batch, and how long its first entry waits for others. */
  readonly maxBatchEntries: number
  readonly maxBatchBytes: number
  readonly maxDelayMs: number
  /** Maximum bytes of unsettled entries. */
  readonly maxBufferBytes: number
}

/** The entries that were handed over but are not settled: collects them into batches, and bounds their memory. */
export interface EntryBuffer {
  /** Takes an entry as JSON text; false if there is no room for it. */
  add(target: Target, json: string): boolean
  /** Completes the current batch. */
  complete(): void
  /** Frees a settled batch's memory, and notifies those waiting for it. */
  release(batch: Batch): void
  /** Lowers the limits for further batches. */
  limit(limits: { readonly entries?: number; readonly bytes?: number }): void
  /** Resolves when all entries added so far are settled. */
  settled(): Promise<void>
  readonly entries: number
  readonly bytes: number
}

export function createBuffer(options: BufferOptions, onBatch: (batch: Batch) => void): EntryBuffer {
  const { maxDelayMs, maxBufferBytes } = options
  let { maxBatchEntries, maxBatchBytes } = options
  const waves = new Set<Wave>()
  let wave = createWave()
  const gathered = { target: undefined as Target | undefined, entries: [] as string[], bytes: 0, wave }
  const held = { entries: 0, bytes: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined

  function complete(): void {
    clearTimeout(timer)
    timer = undefined
    const { target, entries, bytes, wave: its } = gathered
    if (target === undefined || entries.length === 0) return
    Object.assign(gathered, { entries: [], bytes: 0 })
    onBatch(createBatch(target, entries, bytes, its))
  }

  function gather(target: Target, json: string, bytes: number): void {
    if (gathered.bytes + bytes > maxBatchBytes) complete()
    Object.assign(gathered, { target, wave })
    gathered.entries.push(json)
    gathered.bytes += bytes
    if (gathered.entries.length >= maxBatchEntries || gathered.bytes >= maxBatchBytes) complete()
    else timer ??= later(complete, maxDelayMs)
  }

  return {
    add: (target, json) => {
      const bytes = utf8Bytes(json)
      if (held.bytes + bytes > maxBufferBytes) return false
      held.entries += 1
      held.bytes += bytes
      wave.left += 1
      waves.add(wave)
      if (target.takesBatches) gather(target, json, bytes)
      else onBatch(createBatch(target, [json], bytes, wave))
      return true
    },
    complete,
    release: ({ entries, bytes, wave: its }) => {
      held.entries -= entries.length
      held.bytes -= bytes
      its.left -= entries.length
      if (its.left > 0) return
      waves.delete(its)
      // The current wave may receive further entries; those waiting are notified about the entries so far.
      if (its === wave) wave = createWave()
      its.settle()
    },
    limit: ({ entries = maxBatchEntries, bytes = maxBatchBytes }) => {
      maxBatchEntries = Math.max(1, Math.min(entries, maxBatchEntries))
      maxBatchBytes = Math.max(1, Math.min(bytes, maxBatchBytes))
    },
    settled: async () => {
      const before = [...waves]
      // Ended first: an application's `fetch` may log while the batch is handed over to it.
      wave = createWave()
      complete()
      await Promise.all(before.map(({ settled }) => settled))
    },
    get entries() {
      return held.entries
    },
    get bytes() {
      return held.bytes
    },
  }
}
