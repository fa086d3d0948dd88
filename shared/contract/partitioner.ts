import { UNIT_BYTES_MAX } from '../runtime/utf8.ts'

const SEED = 0x9747b28c
const MULTIPLIER = 0x5bd1e995
const ROTATION = 24

/**
 * The 32-bit murmur2 that Kafka's Java client hashes keys with (org.apache.kafka.common.utils.Utils), as a signed integer.
 * Producers in other languages that follow it send the same key to the same partition. `length`: only so many of the bytes count.
 */
export function murmur2(bytes: Uint8Array, length = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  const tail = length & ~3
  let h = SEED ^ length
  for (let at = 0; at < tail; at += 4) {
    let k = Math.imul(view.getInt32(at, true), MULTIPLIER)
    k = Math.imul(k ^ (k >>> ROTATION), MULTIPLIER)
    h = Math.imul(h, MULTIPLIER) ^ k
  }
  if (length > tail) {
    let k = 0
    for (let at = length - 1; at >= tail; at -= 1) k = (k << 8) | view.getUint8(at)
    h = Math.imul(h ^ k, MULTIPLIER)
  }
  h = Math.imul(h ^ (h >>> 13), MULTIPLIER)
  return h ^ (h >>> 15)
}

/** The buffer in which keys are hashed: one of its own for each key would take longer than the hash. */
const scratch = Buffer.allocUnsafeSlow(4_096)

/** The partition of a key, from 0 to `partitions` - 1, as Kafka's Java client chooses it for the key in UTF-8. */
export function partitionOf(key: string, partitions: number): number {
  const fits = key.length * UNIT_BYTES_MAX <= scratch.length
  const hash = fits ? murmur2(scratch, scratch.write(key)) : murmur2(Buffer.from(key))
  return (hash & 0x7fffffff) % partitions
}
