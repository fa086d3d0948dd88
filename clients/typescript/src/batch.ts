/** Where a kind of log goes, and how the body of a request is made of entries. */
export interface Target {
  readonly path: string
  /** Whether a request can have more than one entry. */
  readonly takesBatches: boolean
  /** The same text for the same entries, always: the server derives the ids of entries from it. */
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
  /** Whether an earlier attempt may have stored entries of it, although no answer said so. */
  maybeStored: boolean
}

/** The entries between two calls of `flush`. */
export interface Wave {
  /** How many of them are not settled yet. */
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

/** 128 random bits. `crypto.randomUUID` is missing on pages of plain http. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const encoder = new TextEncoder()

export const utf8Bytes = (text: string): number => encoder.encode(text).length

/** The halves of a batch that is too large, each a request of its own. Only for a batch that is certainly not stored. */
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
