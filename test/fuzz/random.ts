/** A source of choices that gives the same ones for the same seed, on every machine. */
export interface Random {
  /** A whole number from 0 to `below` - 1; 0 where `below` is 0. */
  int(below: number): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  /** A whole number from 1 to `most`, small ones far more often: every order of magnitude is as likely as the next. */
  size(most: number): number
  /** True once in `times`. */
  oneIn(times: number): boolean
  pick<T>(list: readonly T[]): T
  /** By the weights that stand before the values. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T
  bytes(length: number): Buffer
}

const UINT32 = 2 ** 32

/** One of the independent sequences of a seed: mulberry32, begun at a hash of both numbers. */
export function createRandom(seed: number, sequence: number): Random {
  let state = mixed(mixed(seed >>> 0) ^ Math.imul(sequence >>> 0, 0x9e3779b1))
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return (value ^ (value >>> 14)) >>> 0
  }
  const int = (below: number): number => Math.floor((next() / UINT32) * below)
  const between = (least: number, most: number): number => least + int(most - least + 1)
  return {
    int,
    between,
    size: (most) => Math.max(1, Math.floor(most ** (next() / UINT32))),
    oneIn: (times) => int(times) === 0,
    pick: (list) => {
      if (list.length === 0) throw new RangeError('there is nothing to pick from')
      return list[int(list.length)] as (typeof list)[number]
    },
    weighted: (choices) => {
      let left = int(choices.reduce((sum, [weight]) => sum + weight, 0))
      for (const [weight, value] of choices) {
        if (left < weight) return value
        left -= weight
      }
      throw new RangeError('there is nothing to pick from')
    },
    bytes: (length) => Buffer.from(Uint8Array.from({ length }, () => next() & 0xff)),
  }
}

/** The finaliser of MurmurHash3: neighbours become strangers. */
function mixed(value: number): number {
  let hash = value >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
