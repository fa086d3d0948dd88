/** Bytes that are held in memory for one purpose, counted so that they can be bounded. */
export interface ByteShare {
  readonly held: number
  /**
   * Whether so many bytes more may be taken by a request that holds `own` already. While nobody else holds anything all may, or a large
   * request could never be served.
   */
  fits(bytes: number, own?: number): boolean
  take(bytes: number): void
  give(bytes: number): void
}

export interface ByteBudget extends ByteShare {
  /**
   * The part of the budget that one owner takes and gives back. It may grow up to `weight` times of what is left free, so that one
   * owner holds `weight / (weight + 1)` of the budget at most and whoever comes next always finds room: dynamic thresholds, as
   * switches share their buffers between ports (Choudhury and Hahne, 1998). Shares are kept: owners have to be few.
   */
  share(owner: string, weight: number): ByteShare
}

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
    share: (owner, weight) => {
      const share = shares.get(owner) ?? createShare(weight)
      shares.set(owner, share)
      return share
    },
  }
}
