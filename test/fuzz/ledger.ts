/** The entries of a run: those answered as accepted, compared in the end with those that can be read. */
export interface AcceptedLedger {
  /** One entry was answered with this id. */
  acceptedId(id: string, mark: string): void
  /** Enters that so many entries of the request with this mark were accepted. */
  acceptedCount(count: number, mark: string): void
  /** It is not known what became of the request with this mark: no answer came. */
  unknown(mark: string): void
  accepted(): number
  /** Compares with what is stored. */
  settle(stored: StoredEntries): Settlement
}

export interface Settlement {
  readonly accepted: number
  readonly stored: number
  /** Accepted and not there, by id or by mark. */
  readonly missing: readonly string[]
  /** There more than once. */
  readonly duplicates: readonly string[]
}

/** The entries that were read back, gathered one by one. */
export interface StoredEntries {
  /** `mark` is that of the request that the entry came with; undefined where it was destroyed. */
  add(id: string, mark: string | undefined): void
  readonly count: () => number
  readonly has: (id: string) => boolean
  /** Ids that were there more than once. */
  readonly repeated: () => readonly string[]
  /** Entries with this mark. */
  readonly withMark: (mark: string) => number
  /** Entries whose mark was destroyed, each of which may be of any request. */
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
  /** The number of accepted entries by mark, those with an id included. */
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
      // An entry whose mark was destroyed may be one that is looked for; only what they cannot explain is missing.
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
