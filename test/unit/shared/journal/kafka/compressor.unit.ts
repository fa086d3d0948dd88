import { PassThrough } from 'node:stream'
import { constants, createGzip, createZstdCompress, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { createCompressor } from '../../../../../shared/journal/kafka/compressor.ts'
import * as fc from '../../../../support/fast-check.ts'

const unused = (): never => {
  throw new Error('node:zlib has no stream that can be used again')
}

const KINDS = {
  gzip: { open: () => createGzip({ level: 1 }), end: constants.Z_FINISH, inflate: gunzipSync },
  zstd: { open: () => createZstdCompress(), end: constants.ZSTD_e_end, inflate: zstdDecompressSync },
}

describe.each(Object.entries(KINDS))('a compressor with %s', (_name, { open, end, inflate }) => {
  test('gives each buffer back, whatever came before it', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc
        .tuple(fc.string({ minLength: 1 }), fc.nat({ max: 20_000 }))
        .map(([text, times]) => Buffer.from(text.repeat(times))),
      fc.nat({ max: 100_000 }).map((length) => crypto.getRandomValues(new Uint8Array(length % 65_536))),
    )
    const opened = vi.fn(open)
    const compress = createCompressor(opened, end, unused)
    fc.assert(
      fc.property(bytes, (content) => {
        expect(inflate(compress(Buffer.from(content))).equals(content)).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(opened).toHaveBeenCalledTimes(1)
  })

  test('opens another stream after one has failed', () => {
    let failing = true
    const compress = createCompressor(
      () => {
        const stream = open()
        if (failing) Object.assign(stream, { _processChunk: unused })
        failing = false
        return stream
      },
      end,
      unused,
    )
    expect(() => compress(Buffer.from('one'))).toThrow(/can be used again/)
    expect(inflate(compress(Buffer.from('two'))).toString()).toBe('two')
  })
})

test('a compressor compresses each buffer by itself if Node has no stream that can be used again', () => {
  const compress = createCompressor(() => new PassThrough(), constants.Z_FINISH, gzipSync)
  for (const text of ['one', 'two']) expect(gunzipSync(compress(Buffer.from(text))).toString()).toBe(text)
})
