/** The entries accepted during a run, which are finally compared with the readable ones. */
export interface AcceptedLedger {
  /** Records that an entry was accepted with this id. */
  acceptedId(id: string, mark: string): void
  /** Records how many entries of the request with this mark were accepted. */
  acceptedCount(count: number, mark: string): void
  /** Records that the request with this mark was not answered, so that its outcome is unknown. */
  unknown(mark: string): void
  accepted(): number
  /** Compares the ledger with the stored entries. */
  settle(stored: StoredEntries): Settlement
}

export interface Settlement {
  readonly accepted: number
  readonly stored: number
  /** Accepted but missing, by id or by mark. */
  readonly missing: readonly string[]
  /** Stored more than once. */
  readonly duplicates: readonly string[]
}

/** The entries that were read back, added one by one. */
export interface StoredEntries {
  /** `mark` is that of the request that the entry came with; undefined if it was destroyed. */
  add(id: string, mark: string | undefined): void
  readonly count: () => number
  readonly has: (id: string) => boolean
  /** Ids that occurred more than once. */
  readonly repeated: () => readonly string[]
  /** The number of entries with this mark. */
  readonly withMark: (mark: string) => number
  /** The number of entries whose mark was destroyed; each may belong to any request. */
  readonly unmarked: () => number
}

export function createStoredEntries(): StoredEntries {
  const ids = new Set<string>()
  const repeated: string[] = []
  const byMark = new Map<string, number>()
  let unmarked = 0
  return {
    add: (id, mark) => {
      if (ids.has(id)) return void repeated.push(id)
      ids.add(id)
      if (mark === undefined) unmarked += 1
      else byMark.set(mark, (byMark.get(mark) ?? 0) + 1)
    },
    count: () => ids.size,
    has: (id) => ids.has(id),
    repeated: () => repeated,
    withMark: (mark) => byMark.get(mark) ?? 0,
    unmarked: () => unmarked,
  }
}

export function createAcceptedLedger(): AcceptedLedger {
  const ids = new Map<string, string>()
  /** Accepted entries by mark, including those with an id. */
  const counts = new Map<string, number>()
  const unknown = new Set<string>()
  let accepted = 0
  const count = (mark: string, entries: number): void => {
    accepted += entries
    counts.set(mark, (counts.get(mark) ?? 0) + entries)
  }
  return {
    acceptedId: (id, mark) => {
      if (!ids.has(id)) count(mark, 1)
      ids.set(id, mark)
    },
    acceptedCount: (entries, mark) => count(mark, entries),
    unknown: (mark) => void unknown.add(mark),
    accepted: () => accepted,
    settle: (stored) => {
      const missing = [...ids].filter(([id]) => !stored.has(id)).map(([id, mark]) => `${id} (${mark})`)
      // Entries with a destroyed mark may be any of the missing ones; only the excess counts as missing.
      let spare = stored.unmarked()
      const duplicates = [...stored.repeated()]
      for (const [mark, expected] of counts) {
        const found = stored.withMark(mark)
        if (found > expected && !unknown.has(mark)) duplicates.push(`${mark}: ${found} of ${expected}`)
        const lacking = Math.max(0, expected - found)
        if (lacking > spare) missing.push(`${mark}: ${found} of ${expected}`)
        spare -= Math.min(spare, lacking)
      }
      return { accepted, stored: stored.count(), missing, duplicates }
    },
  }
}
