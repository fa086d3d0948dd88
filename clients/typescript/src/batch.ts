/** The endpoint for a kind of log, and how to build a request body from entries. */
export interface Target {
  readonly path: string
  /** Whether a request can contain more than one entry. */
  readonly takesBatches: boolean
  /** Must be deterministic: the server derives entry ids from the body. */
  readonly bodyOf: (entries: readonly string[]) => string
}

/** Entries that are sent together, under one `Idempotency-Key`, until they are settled. */
export interface Batch {
  readonly target: Target
  readonly idempotencyKey: string
  /** JSON texts. */
  readonly entries: readonly string[]
  /** Bytes of the entries in UTF-8. */
  readonly bytes: number
  readonly wave: Wave
  /** Whether an earlier attempt may have stored entries, although no response confirmed it. */
  maybeStored: boolean
}

/** The entries between two calls of `flush`. */
export interface Wave {
  /** The number of entries not yet settled. */
  left: number
  readonly settled: Promise<void>
  readonly settle: () => void
}

export function createWave(): Wave {
  let settle = (): void => undefined
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { left: 0, settled, settle }
}

export const createBatch = (target: Target, entries: readonly string[], bytes: number, wave: Wave): Batch => ({
  target,
  idempotencyKey: randomKey(),
  entries,
  bytes,
  wave,
  maybeStored: false,
})

/** 128 random bits. `crypto.randomUUID` is unavailable on pages served over plain http. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const encoder = new TextEncoder()

export const utf8Bytes = (text: string): number => encoder.encode(text).length

/** The halves of a batch that is too large, as requests of their own. Only for a batch that is certainly not stored. */
export function halves({ target, entries, wave }: Batch): readonly Batch[] {
  const middle = Math.ceil(entries.length / 2)
  return [entries.slice(0, middle), entries.slice(middle)].map((half) =>
    createBatch(
      target,
      half,
      half.reduce((sum, entry) => sum + utf8Bytes(entry), 0),
      wave,
    ),
  )
}
