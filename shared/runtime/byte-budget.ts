/** Whether bytes are at least half of the memory that they keep: a part of all that a connection read at once may be far less. */
export const isMostOfItsMemory = ({ byteLength, buffer }: Uint8Array): boolean => 2 * byteLength >= buffer.byteLength

/** Bytes that are held in memory for one purpose, counted so that they can be limited. */
export interface ByteShare {
  readonly held: number
  /**
   * Whether a request that already holds `own` bytes may take this many more. If no other request holds anything, it always may, as a large
   * request could otherwise never be served.
   */
  fits(bytes: number, own?: number): boolean
  take(bytes: number): void
  give(bytes: number): void
}

export interface ByteBudget extends ByteShare {
  /**
   * The part of the budget that one owner takes and returns. It may grow up to `weight` times the free rest, so that one owner holds at
   * most `weight / (weight + 1)` of the budget and others always find room: dynamic thresholds, as switches share their buffers between
   * ports (Choudhury and Hahne, 1998). The default weight is that of a Team. Shares are never dropped, so there have to be few owners.
   */
  share(owner: string, weight?: number): ByteShare
}

/** The weight of a Team's share of a budget. */
const TEAM_WEIGHT = 3

/** The most bytes that a Team's share of a budget can hold: three quarters of it. */
export const teamBytesMax = (bytesMax: number): number => Math.floor((bytesMax * TEAM_WEIGHT) / (TEAM_WEIGHT + 1))

export function createByteBudget(bytesMax: number): ByteBudget {
  const shares = new Map<string, ByteShare>()
  let held = 0
  const take = (bytes: number): void => {
    held += bytes
  }
  const give = (bytes: number): void => {
    held -= bytes
  }

  function createShare(weight: number): ByteShare {
    let own = 0
    return {
      get held() {
        return own
      },
      fits: (bytes, mine = 0) => held === mine || own + bytes <= weight * (bytesMax - held - bytes),
      take: (bytes) => {
        own += bytes
        take(bytes)
      },
      give: (bytes) => {
        own -= bytes
        give(bytes)
      },
    }
  }

  return {
    get held() {
      return held
    },
    fits: (bytes, mine = 0) => held === mine || held + bytes <= bytesMax,
    take,
    give,
    share: (owner, weight = TEAM_WEIGHT) => {
      const share = shares.get(owner) ?? createShare(weight)
      shares.set(owner, share)
      return share
    },
  }
}
