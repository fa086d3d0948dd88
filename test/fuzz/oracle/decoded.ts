import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Answer } from '../answer-parser.ts'

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

/** The decompressed body; undefined if its compression does not match its header. */
export function decoded({ headers, body }: Answer): Buffer | undefined {
  const coding = headers.get('content-encoding')?.join()
  if (coding === undefined || body.length === 0) return body
  try {
    return DECODERS[coding]?.(body)
  } catch {
    return undefined
  }
}
