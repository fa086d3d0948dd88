/** A source of random choices that are the same for the same seed, on every machine. */
export interface Random {
  /** An integer from 0 to `below` - 1; 0 if `below` is 0. */
  int(below: number): number
  /** An integer from `least` to `most`. */
  between(least: number, most: number): number
  /** An integer from 1 to `most`; each order of magnitude is equally likely. */
  size(most: number): number
  /** True with a probability of 1 / `times`. */
  oneIn(times: number): boolean
  pick<T>(list: readonly T[]): T
  /** Picks by the weights given before the values. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T
  bytes(length: number): Buffer
}

const UINT32 = 2 ** 32

/** One of a seed's independent sequences: mulberry32, initialised with a hash of both numbers. */
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
    bytes: (length) => {
      const bytes = Buffer.allocUnsafe(length)
      for (let index = 0; index < length; index += 1) bytes[index] = next() & 0xff
      return bytes
    },
  }
}

/** The finaliser of MurmurHash3: neighbouring values become unrelated. */
function mixed(value: number): number {
  let hash = value >>> 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
