/**
 * The proof of delivery: what was sent, what was answered `success:true`, and what is finally stored. Entries are identified by a unique
 * mark in their text, since the response to a batch contains no ids.
 */
export interface Ledger {
  sent(mark: string): void
  answered(mark: string): void
  answeredCount(): number
  /** Compares with the marks found in the store, including repeats. */
  settle(stored: readonly string[]): LedgerResult
}

export interface LedgerResult {
  readonly sent: number
  readonly answered: number
  readonly stored: number
  /** Stored more than once. */
  readonly duplicates: readonly string[]
  /** Answered but not stored. */
  readonly missing: readonly string[]
  /** Stored but never sent. */
  readonly strangers: readonly string[]
}

export function createLedger(): Ledger {
  const sent = new Set<string>()
  const answered = new Set<string>()
  return {
    sent: (mark) => void sent.add(mark),
    answered: (mark) => void answered.add(mark),
    answeredCount: () => answered.size,
    settle: (stored) => {
      const once = new Set(stored)
      const seen = new Set<string>()
      const duplicates = stored.filter((mark) => seen.size === seen.add(mark).size)
      return {
        sent: sent.size,
        answered: answered.size,
        stored: stored.length,
        duplicates: [...new Set(duplicates)],
        missing: [...answered].filter((mark) => !once.has(mark)),
        strangers: [...once].filter((mark) => !sent.has(mark)),
      }
    },
  }
}

/** One line for the log of a run: `fault: sent 100, answered 90, stored 92, duplicates 0, missing 0`. */
export const ledgerLine = (fault: string, { sent, answered, stored, duplicates, missing }: LedgerResult): string =>
  `${fault}: sent ${sent}, answered ${answered}, stored ${stored}, duplicates ${duplicates.length}, missing ${missing.length}`
