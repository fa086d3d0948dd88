import type { Contents } from './contents.ts'
import type { Database } from './database.ts'

/** All that the calls of the store work with. They run in a transaction (store.ts). */
export interface StoreContext {
  readonly database: Database
  readonly contents: Contents
  readonly limits: StoreLimits
}

/** The sizes at which the store changes its behaviour; tests set them low to see this with few documents. */
export interface StoreLimits {
  /** Arrivals after which a new full-text table is begun. */
  readonly textTableArrivals: number
  /** Maximum arrivals that a tail searches before it answers. */
  readonly tailArrivals: number
  /** Entries of a list that are compared one by one before its full-text tables are searched (entry-reader.ts). */
  readonly nearEntries: number
  /** Combinations of facts per Team by which its entries are counted as they arrive (rollups.ts). */
  readonly factsOfTeam: number
  /** Combinations of names that are stored once for their entries (names.ts). */
  readonly namesMax: number
  /** Entries that are counted together. If more than three times as many are uncounted, reads do not use the counts. */
  readonly countedOfAStep: number
  /** Bytes of groups or numbers that a read counts in memory, about; more are sorted by SQLite, on disk. */
  readonly countedBytesMax: number
  /** Entries of an older version that are moved into blocks per transaction (renewal.ts). */
  readonly movedOfATurn: number
  /** Entries of an older version that are renewed per transaction (renewal.ts). */
  readonly renewedOfATurn: number
}

export const STORE_LIMITS: StoreLimits = {
  textTableArrivals: 32_768,
  tailArrivals: 50_000,
  nearEntries: 1_000,
  factsOfTeam: 10_000,
  namesMax: 65_536,
  countedOfAStep: 10_000,
  countedBytesMax: 32 * 1024 * 1024,
  movedOfATurn: 640,
  renewedOfATurn: 500,
}
