/** Counts bytes that are held in memory for one purpose, so that they can be bounded. */
export interface ByteBudget {
  readonly held: number
  /** Whether so many bytes more may be taken. An empty budget takes anything, or a large request could never be served. */
  fits(bytes: number): boolean
  take(bytes: number): void
  give(bytes: number): void
}

export function createByteBudget(bytesMax: number): ByteBudget {
  let held = 0
  return {
    get held() {
      return held
    },
    fits: (bytes) => held === 0 || held + bytes <= bytesMax,
    take: (bytes) => {
      held += bytes
    },
    give: (bytes) => {
      held -= bytes
    },
  }
}
