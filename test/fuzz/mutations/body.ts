import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Draft, mutation, withHeader } from '../draft.ts'
import { documentOf, treeOf } from '../json-tree.ts'
import type { Random } from '../random.ts'
import { mutatedBytes } from './bytes.ts'
import { mutatedJson } from './json.ts'

type Change = (draft: Draft, random: Random) => Draft

/** After a mutation, the number of entries is unknown. */
const uncounted = ({ stores }: Draft): Partial<Draft> => ({ stores: stores && { ...stores, entries: undefined } })

/** Mutates the JSON structure; other bodies are left unchanged. */
export const otherStructure: Change = (draft, random) => {
  const tree = draft.json ?? (draft.value === undefined ? undefined : treeOf(draft.value))
  if (tree === undefined) return draft
  const [name, json] = mutatedJson(tree, random)
  return mutation(draft, `JSON: ${name}`, { json, value: undefined, ...uncounted(draft) })
}

/** The body as bytes. */
export function rendered(draft: Draft): Draft {
  const { json, value } = draft
  if (json === undefined && value === undefined) return draft
  const text = json === undefined ? JSON.stringify(value) : documentOf(json)
  return { ...draft, ...NOT_YET_BYTES, body: Buffer.from(text) }
}

/** The fields that are dropped when the body is serialised. */
const NOT_YET_BYTES = { json: undefined, value: undefined }

export const otherBytes: Change = (draft, random) => {
  const { body = Buffer.alloc(0) } = rendered(draft)
  const [name, changed] = mutatedBytes(body, random)
  return mutation({ ...draft, ...NOT_YET_BYTES }, `body: ${name}`, { body: changed, ...uncounted(draft) })
}

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const CODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes) => deflateSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, FAST),
  zstd: (bytes) => zstdCompressSync(bytes),
  'x-gzip': (bytes) => gzipSync(bytes, { level: 1 }),
}

const compressedAs = (draft: Draft, coding: string, body: Buffer): Partial<Draft> => ({
  ...NOT_YET_BYTES,
  body,
  headers: withHeader(draft, 'Content-Encoding', coding),
})

const isCompressed = ({ headers }: Draft): boolean => headers.some(([name]) => name === 'Content-Encoding')

/** Compressed as declared in its header. */
export const compressed: Change = (draft, random) => {
  const { body } = rendered(draft)
  if (body === undefined || isCompressed(draft)) return draft
  const [coding, compress] = random.pick(Object.entries(CODINGS))
  return mutation(draft, coding, compressedAs(draft, coding, compress(body)))
}

/** Decompressed sizes below and above the body limit. */
const BOMB_BYTES = [
  [40, 100_000],
  [10, 1_000_000],
  [1, 19_900_000],
  [1, 21_000_000],
] as const

/** Compression that is mislabelled, damaged, followed by extra bytes, or a decompression bomb. */
export const strangelyCompressed: Change = (draft, random) => {
  const { body } = rendered(draft)
  if (body === undefined) return draft
  const [coding, compress] = random.pick(Object.entries(CODINGS))
  const whole = compress(body)
  const [name, said, bytes] = random.weighted<() => readonly [string, string, Buffer]>([
    [4, () => ['damaged', coding, mutatedBytes(whole, random)[1]]],
    [2, () => ['with more behind it', coding, Buffer.concat([whole, random.bytes(random.size(100))])]],
    [1, () => ['twice in a row', coding, Buffer.concat([whole, whole])]],
    [1, () => ['twice inside', `${coding}, ${coding}`, compress(whole)]],
    [2, () => ['as another', random.pick(Object.keys(CODINGS)), whole]],
    [1, () => ['not', coding, body]],
    [1, () => ['raw', 'deflate', deflateRawSync(body)]],
    [1, () => ['unknown', random.pick(['compress', 'identity', '*', 'gzip;q=1', '']), whole]],
    [1, () => ['with nothing', coding, compress(Buffer.alloc(0))]],
    [1, () => ['bomb of blanks', coding, compress(Buffer.alloc(random.weighted(BOMB_BYTES), ' '))]],
    [
      1,
      () => [
        'bomb around it',
        coding,
        compress(Buffer.concat([body, Buffer.alloc(random.weighted(BOMB_BYTES), '\n')])),
      ],
    ],
  ])()
  return mutation(draft, `${coding}: ${name}`, { ...compressedAs(draft, said, bytes), ...uncounted(draft) })
}

/** Half the number of chunks that a body may have regardless of their size. */
const CHUNKS_MAX = 1_000

/** Sends the same body in chunks of odd sizes. */
export const inChunks: Change = (draft, random) => {
  const { body } = rendered(draft)
  if (body === undefined) return draft
  const tiny = body.length < CHUNKS_MAX
  const least = Math.ceil(body.length / CHUNKS_MAX)
  const size = (): number => Math.max(least, tiny && random.oneIn(4) ? 1 : random.size(20_000))
  const sizes = Array.from({ length: 1 + random.int(6) }, size)
  const extension = random.pick(['', '', '', ';a=b', ';x="y z"'])
  return mutation(draft, 'chunked', { ...NOT_YET_BYTES, body, chunks: { sizes, extension } })
}

/** Adds a body where there should be none. */
export const unaskedBody: Change = (draft, random) =>
  draft.body !== undefined || draft.json !== undefined || draft.value !== undefined
    ? draft
    : mutation(draft, 'a body', { body: random.oneIn(2) ? Buffer.from('{"a":1}') : random.bytes(random.size(3_000)) })

const LENGTHS = [
  '0',
  '00',
  '1',
  '-1',
  '+5',
  '5, 5',
  '99999999999999999999',
  '0x10',
  '1e3',
  'abc',
  '',
  '4294967296',
] as const

/** Declares a wrong length, or two different ones. */
export const tearingFraming: Change = (draft, random) => {
  const whole = rendered(draft)
  const { body = Buffer.alloc(0) } = whole
  const length = (value: string) => withHeader(draft, 'Content-Length', value)
  const coding = (value: string) => withHeader(draft, 'Transfer-Encoding', value)
  const sized = { sizes: [random.size(500)], extension: '' }
  const [name, change] = random.pick<readonly [string, Partial<Draft>]>([
    ['Content-Length wrong', { headers: length(random.pick(LENGTHS)) }],
    ['Content-Length too long', { headers: length(String(body.length + random.size(5_000))) }],
    ['Content-Length too short', { headers: length(String(random.int(body.length))) }],
    ['Content-Length and chunks', { headers: length(String(body.length)), chunks: sized, body }],
    ['Content-Length and Transfer-Encoding', { headers: coding('chunked'), body }],
    [
      'Transfer-Encoding odd',
      {
        headers: coding(
          random.pick(['gzip', 'chunked, gzip', 'gzip, chunked', 'xchunked', ' chunked', 'CHUNKED', 'identity', '']),
        ),
        chunks: sized,
        body,
      },
    ],
    [
      'chunks with an odd extension',
      {
        chunks: {
          ...sized,
          extension: random.pick([';', ';\0', ' ', ';a=\r', 'g', `;${'x'.repeat(random.size(20_000))}`]),
        },
        body,
      },
    ],
  ])
  return mutation(whole, name, { ...change, ...uncounted(draft), torn: true })
}
