import { type Batch, createBatch, createWave, type Target, utf8Bytes, type Wave } from './batch.ts'
import { later } from './times.ts'

export interface BufferOptions {
  /** Most entries and bytes of a batch, and the longest that its first entry waits for others. */
  readonly maxBatchEntries: number
  readonly maxBatchBytes: number
  readonly maxDelayMs: number
  /** Most bytes of entries that are not settled. */
  readonly maxBufferBytes: number
}

/** The entries that were handed over and are not settled: gathers them to batches, and bounds the memory of all of them. */
export interface EntryBuffer {
  /** Takes an entry, a JSON text; false where there is no room for it. */
  add(target: Target, json: string): boolean
  /** Completes the batch that is being gathered. */
  complete(): void
  /** A batch is settled: its memory is free, and those who wait for it are told. */
  release(batch: Batch): void
  /** From now on batches are no larger. */
  limit(limits: { readonly entries?: number; readonly bytes?: number }): void
  /** Resolves when all that was added so far is settled. */
  settled(): Promise<void>
  readonly entries: number
  readonly bytes: number
}

export function createBuffer(options: BufferOptions, onBatch: (batch: Batch) => void): EntryBuffer {
  const { maxDelayMs, maxBufferBytes } = options
  let { maxBatchEntries, maxBatchBytes } = options
  const waves = new Set<Wave>()
  let wave = createWave()
  const gathered = { target: undefined as Target | undefined, entries: [] as string[], bytes: 0 }
  const held = { entries: 0, bytes: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined

  function complete(): void {
    clearTimeout(timer)
    timer = undefined
    const { target, entries, bytes } = gathered
    if (target === undefined || entries.length === 0) return
    Object.assign(gathered, { entries: [], bytes: 0 })
    onBatch(createBatch(target, entries, bytes, wave))
  }

  function gather(target: Target, json: string, bytes: number): void {
    if (gathered.bytes + bytes > maxBatchBytes) complete()
    gathered.target = target
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
      // The wave that is open may come to have entries again: those who wait are told of the ones so far.
      if (its === wave) wave = createWave()
      its.settle()
    },
    limit: ({ entries = maxBatchEntries, bytes = maxBatchBytes }) => {
      maxBatchEntries = Math.max(1, Math.min(entries, maxBatchEntries))
      maxBatchBytes = Math.max(1, Math.min(bytes, maxBatchBytes))
    },
    settled: async () => {
      complete()
      wave = createWave()
      await Promise.all([...waves].map(({ settled }) => settled))
    },
    get entries() {
      return held.entries
    },
    get bytes() {
      return held.bytes
    },
  }
}
