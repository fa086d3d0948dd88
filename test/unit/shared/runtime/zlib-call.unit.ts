import { PassThrough } from 'node:stream'
import zlib from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import {
  createZlibCall,
  gzip,
  type ZlibCallOptions,
  zstdCompress,
  zstdDecompress,
} from '../../../../shared/runtime/zlib-call.ts'
import * as fc from '../../../support/fast-check.ts'

const { ZSTD_c_checksumFlag, ZSTD_c_compressionLevel } = zlib.constants

const itself = (bytes: Uint8Array): Uint8Array => bytes
/** Each with what has to be equal of its results. The bytes of gzip may differ: after another text it may find a repetition more. */
const CALLS: readonly (readonly [string, ZlibCallOptions, (bytes: Uint8Array) => Uint8Array])[] = [
  ['gzip', gzip({ level: 1 }), zlib.gunzipSync],
  ['zstd', zstdCompress({ params: { [ZSTD_c_compressionLevel]: 1, [ZSTD_c_checksumFlag]: 1 } }), itself],
  ['zstd, decompressing', zstdDecompress(), itself],
]

const texts = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc
    .tuple(fc.string({ minLength: 1 }), fc.nat({ max: 20_000 }))
    .map(([text, times]) => Buffer.from(text.repeat(times))),
  fc.nat({ max: 65_536 }).map((length) => crypto.getRandomValues(new Uint8Array(length))),
)

describe.each(CALLS)('a call of %s', (name, options, of) => {
  const sent = (text: Uint8Array): Uint8Array => (name.includes('decompressing') ? zlib.zstdCompressSync(text) : text)

  test('gives what the function of node:zlib gives, whatever came before, and opens one stream', () => {
    const open = vi.fn(options.open)
    const call = createZlibCall({ ...options, open })
    fc.assert(
      fc.property(texts, (text) => {
        expect(Buffer.from(of(call(sent(text)))).equals(of(options.once(sent(text))))).toBe(true)
      }),
      { numRuns: 500, examples: [[Buffer.from('aaaaaaaaaaaaaaaaaaaa')], [Buffer.from('aaaaa')]] },
    )
    expect(open).toHaveBeenCalledTimes(1)
  })

  test('opens another stream after one has failed', () => {
    const fail = (): never => {
      throw new Error('out of memory')
    }
    const open = vi
      .fn(options.open)
      .mockImplementationOnce(() => Object.assign(options.open(), { _processChunk: fail }))
    const call = createZlibCall({ ...options, open })
    const text = sent(Buffer.from('text'))
    expect(() => call(text)).toThrow('out of memory')
    expect(call(text).equals(options.once(text))).toBe(true)
    expect(open).toHaveBeenCalledTimes(2)
  })

  test('uses the function itself if Node has no stream that can be used again', () => {
    const [open, once] = [vi.fn(() => new PassThrough()), vi.fn(options.once)]
    const call = createZlibCall({ ...options, open, once })
    const text = sent(Buffer.from('text'))
    for (let calls = 1; calls <= 2; calls += 1) {
      expect(call(text).equals(options.once(text))).toBe(true)
      expect(once).toHaveBeenCalledTimes(calls)
    }
    expect(open).toHaveBeenCalledTimes(1)
    expect(open.mock.results[0]?.value.destroyed).toBe(true)
  })
})
