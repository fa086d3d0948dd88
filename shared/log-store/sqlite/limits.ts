/** The sizes at which the store changes its ways; tests set them low to see it do so with few documents. */
export interface StoreLimits {
  /** Arrivals after which a new full-text table is begun. */
  readonly textTableArrivals: number
  /** A tail looks through so many arrivals at most before it answers. */
  readonly tailArrivals: number
  /** Combinations of facts of a Team by which its entries are counted as they arrive (rollups.ts). */
  readonly factsOfTeam: number
  /** Entries that are counted together. Where three times as many are not counted yet, reads do not use the counts. */
  readonly countedOfAStep: number
  /** Entries of an older version that are renewed in a transaction (renewal.ts). */
  readonly renewedOfATurn: number
}

export const STORE_LIMITS: StoreLimits = {
  textTableArrivals: 32_768,
  tailArrivals: 50_000,
  factsOfTeam: 10_000,
  countedOfAStep: 10_000,
  renewedOfATurn: 500,
}
