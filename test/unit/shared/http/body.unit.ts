import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { refuse } from '../../../../shared/contract/errors.ts'
import { REFUSED_BODY_BYTES_MAX } from '../../../../shared/contract/refusals.ts'
import {
  type BodyReader,
  createBodyReader,
  decodeBinary,
  decodeText,
  GONE,
  type ReadBody,
  refusedBodyHeaders,
} from '../../../../shared/http/body.ts'
import { codingProblem } from '../../../../shared/http/media-type.ts'
import { type ByteShare, createByteBudget } from '../../../../shared/runtime/byte-budget.ts'
import { eventually } from '../../../support/eventually.ts'
import * as fc from '../../../support/fast-check.ts'

const HOUR_MS = 3_600_000
const GRANT = { owner: 'payments', wireBytesMax: 100_000, inflatedBytesMax: 400_000 }

const readerWith = (share: ByteShare, timeoutMs = 10_000, grant = GRANT): BodyReader =>
  createBodyReader({
    refusal: ({ headers }) => codingProblem(headers),
    decode: decodeText,
    grant: () => ({ value: { ...grant, share } }),
    timeoutMs,
  })

const binaryReaderWith = (share: ByteShare): BodyReader<Buffer> =>
  createBodyReader({
    refusal: () => undefined,
    decode: decodeBinary,
    grant: () => ({ value: { ...GRANT, share } }),
    timeoutMs: 10_000,
  })

/** A request whose body is what the test pushes. */
const requestWith = (headers: IncomingHttpHeaders = {}): Readable & IncomingMessage =>
  Object.assign(new Readable({ read: () => undefined }), { headers }) as unknown as Readable & IncomingMessage

function send(headers: IncomingHttpHeaders, body: Buffer): Readable & IncomingMessage {
  const request = requestWith(headers)
  request.push(body)
  request.push(null)
  return request
}

/** A budget that remembers the most that was held. */
function watched(bytesMax: number): ByteShare & { readonly peak: () => number } {
  const budget = createByteBudget(bytesMax)
  let peak = 0
  return {
    ...budget,
    get held() {
      return budget.held
    },
    take: (bytes) => {
      budget.take(bytes)
      peak = Math.max(peak, budget.held)
    },
    peak: () => peak,
  }
}

const textOf = (bytes: number): Buffer => Buffer.from(JSON.stringify('x'.repeat(bytes - 2)))
/** The outcome of a body; one that was read is let go of. */
function told(read: ReadBody): string {
  if (read === GONE) return 'gone'
  read.value?.memory.release()
  return read.problem?.code ?? 'read'
}

const NO_ROOM = {
  code: 'server_error',
  message: expect.stringMatching(/^Too many bytes of request bodies are being read\. Send the same request again/),
  details: { outcome: 'not_written' },
  retryable: true,
}

test('a binary body is its bytes, which need not be UTF-8 and may be none', async () => {
  const budget = createByteBudget(1_000_000)
  const read = binaryReaderWith(budget)
  const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 7) % 256))
  const inPieces = requestWith()
  for (let at = 0; at < bytes.length; at += 999) inPieces.push(bytes.subarray(at, at + 999))
  inPieces.push(null)
  const requests = [
    [bytes, send({}, bytes)],
    [bytes, inPieces],
    [bytes, send({ 'content-encoding': 'zstd' }, zstdCompressSync(bytes))],
    [Buffer.alloc(0), send({}, Buffer.alloc(0))],
  ] as const
  for (const [expected, request] of requests) {
    const body = await read(request)
    if (body === GONE || body.value === undefined) throw new Error('it was not read')
    expect(body.value).toMatchObject({ owner: 'payments', contentBytes: expected.length })
    expect(body.value.content.equals(expected)).toBe(true)
    expect(budget.held).toBeGreaterThanOrEqual(expected.length)
    body.value.memory.release()
    body.value.memory.release()
    expect(budget.held).toBe(0)
  }
})

test.each([
  ['as long as it is', 100, 100],
  ['its beginning', 90_000, REFUSED_BODY_BYTES_MAX + 1],
])('of a body that is not UTF-8 no more becomes text than is kept: %s', async (_what, bytes, characters) => {
  const body = await readerWith(createByteBudget(1_000_000))(send({}, Buffer.alloc(bytes, 0xff)))
  if (body === GONE) throw new Error('it was not read')
  expect([body.problem?.code, body.text]).toEqual(['malformed_json', '\ufffd'.repeat(characters)])
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('a body in %s is inflated, whether it is short, long or becomes long', async (coding, compress) => {
  const budget = createByteBudget(2_000_000)
  const random = Array.from({ length: 30_000 }, (_, index) => String.fromCharCode(33 + ((index * index * 7919) % 89)))
  for (const text of ['', 'short', random.join(''), 'x'.repeat(350_000)]) {
    const sent = compress(JSON.stringify(text))
    const body = await readerWith(budget)(send({ 'content-encoding': coding }, sent))
    if (body === GONE || body.value === undefined) throw new Error('it was not read')
    expect(body.value.content).toBe(JSON.stringify(text))
    expect(budget.held).toBeGreaterThanOrEqual(text.length)
    body.value.memory.release()
    expect(budget.held).toBe(0)
    // A part of it, however short, is none.
    const cut = await readerWith(budget)(send({ 'content-encoding': coding }, sent.subarray(0, -1)))
    expect(told(cut)).toBe('malformed_body')
  }
})

test('a body in brotli, of which a few bytes can take long, does not keep other requests waiting', async () => {
  let othersRan = false
  const turn = nextTurn().then(() => {
    othersRan = true
  })
  const sent = brotliCompressSync(JSON.stringify('x'.repeat(200_000)))
  const body = await readerWith(createByteBudget(2_000_000))(send({ 'content-encoding': 'br' }, sent))
  expect([told(body), othersRan]).toEqual(['read', true])
  await turn
})

test('a request that lives until its answer keeps nothing of what was read', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const request = send({}, Buffer.from('{"logEntries":[]}'))
  const body = await readerWith(createByteBudget(1_000))(request).then(
    (read) => new WeakRef(read === GONE ? {} : (read.value ?? {})),
  )
  await eventually(() => {
    collectGarbage()
    return body.deref() === undefined
  })
  expect(request.readableEnded).toBe(true)
})

describe('a body of several frames of zstd', () => {
  const frames = (...texts: readonly string[]) => Buffer.concat(texts.map((text) => zstdCompressSync(text)))
  const skipped = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7])
  const read = async (bytes: Buffer, budget = createByteBudget(1_000_000), grant = GRANT) => {
    const { held } = budget
    const body = await readerWith(budget, 10_000, grant)(send({ 'content-encoding': 'zstd' }, bytes))
    if (body === GONE) return 'gone'
    body.value?.memory.release()
    expect(budget.held).toBe(held)
    return body.value?.content ?? body.problem?.message
  }

  test('is read to its end, without those to be skipped', async () => {
    expect(await read(frames('one', '', 'two', 'x'.repeat(200_000)))).toBe(`onetwo${'x'.repeat(200_000)}`)
    expect(await read(Buffer.concat([skipped, frames('one'), skipped, frames('two'), skipped]))).toBe('onetwo')
  })

  test('has the limits of one', async () => {
    expect(await read(frames('x'.repeat(300_000), 'x'.repeat(100_001)))).toContain(
      'more than 400000 bytes after decompression',
    )
    const shared = createByteBudget(350_000)
    shared.take(1)
    expect(await read(frames('x'.repeat(300_000), 'x'.repeat(90_000)), shared)).toContain('Too many')
    expect(await read(frames(...Array<string>(24).fill('')))).toContain('more than 16 frames')
    // The length of this body allows more than a thousand frames. Skippable frames inflate to nothing.
    const long = Buffer.concat([skipped.subarray(0, 4), Buffer.from([0xf8, 3, 0, 0]), Buffer.alloc(1_016)])
    const many = Buffer.concat(Array<Buffer>(1_001).fill(long))
    expect(await read(many, createByteBudget(2_000_000), { ...GRANT, wireBytesMax: 2_000_000 })).toContain(
      'more than 1000 frames',
    )
  })

  test('that is damaged after the first is refused', async () => {
    expect(await read(Buffer.concat([frames('one'), Buffer.from('more')]))).toContain('goes on after the end')
    expect(await read(Buffer.concat([frames('one'), frames('two').subarray(0, -2)]))).toContain('not valid zstd')
    expect(await read(Buffer.concat([frames('one'), frames('two').subarray(0, 3)]))).toContain('goes on after the end')
  })
})

test('a body is not inflated behind all those of another Team', async () => {
  const readBody = createBodyReader({
    refusal: () => undefined,
    decode: decodeText,
    grant: ({ headers }) => ({
      value: { ...GRANT, owner: String(headers['from']), share: createByteBudget(10_000_000) },
    }),
    timeoutMs: HOUR_MS,
  })
  const body = gzipSync(textOf(390_000))
  let read = 0
  const readOf = async (team: string): Promise<number> => {
    await readBody(send({ 'content-encoding': 'gzip', from: team }, body))
    return ++read
  }
  const many = Array.from({ length: 100 }, () => readOf('billing'))
  expect(await readOf('payments')).toBeLessThan(50)
  await Promise.all(many)
})

describe('the bytes of bodies', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])(
    'many small bodies in %s that become large ones are inflated as far as the budget goes',
    async (coding, compress) => {
      const budget = watched(1_000_000)
      const readBody = readerWith(budget)
      const body = compress(textOf(350_000))
      const reads = await Promise.all(
        Array.from({ length: 30 }, () => readBody(send({ 'content-encoding': coding }, body))),
      )
      const refused = reads.flatMap((read) => (read === GONE || read.problem === undefined ? [] : [read.problem]))
      for (const read of reads) told(read)
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.length).toBeLessThan(30)
      for (const problem of refused) expect(problem).toEqual(NO_ROOM)
      expect(budget.peak()).toBeGreaterThan(350_000)
      expect(budget.peak()).toBeLessThanOrEqual(1_000_000)
      expect(budget.held).toBe(0)
      expect(told(await readBody(send({ 'content-encoding': coding }, body)))).toBe('read')
    },
  )

  test('a small body reserves no more than it has', async () => {
    const budget = createByteBudget(30_000)
    const readBody = readerWith(budget)
    const body = gzipSync(textOf(500))
    const reads = Array.from({ length: 20 }, () => readBody(send({ 'content-encoding': 'gzip' }, body)))
    expect((await Promise.all(reads)).map(told)).toEqual(Array(20).fill('read'))
  })

  test.each([5, 70, 1_000])('a body in pieces of %i bytes takes about as many bytes as it has', async (pieceBytes) => {
    const budget = watched(1_000_000)
    const request = requestWith()
    const reading = readerWith(budget)(request)
    const text = 'abcdefghij'.repeat(1_000)
    for (let at = 0; at < text.length; at += pieceBytes) request.push(text.slice(at, at + pieceBytes))
    request.push(null)
    const read = await reading
    expect(read === GONE ? read : read.value?.content).toBe(text)
    expect(budget.peak()).toBeLessThan(text.length * 1.75)
    expect([told(read), budget.held]).toEqual(['read', 0])
  })

  test('a body that dawdles holds what came of it; what comes whole is read all the same', async () => {
    const budget = createByteBudget(14_000)
    const readBody = readerWith(budget)
    const slow = requestWith()
    const reading = readBody(slow)
    slow.push(Buffer.alloc(9_000, ' '))
    await nextTurn()
    expect(budget.held).toBe(9_000)
    const other = requestWith({ 'content-length': '9000' })
    const refused = readBody(other)
    other.push(Buffer.alloc(6_000, ' '))
    expect(await refused).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(9_000)
    expect(told(await readBody(send({ 'content-length': '2000' }, textOf(2_000))))).toBe('read')
    // Inflated it would wait for other turns of the event loop.
    const body = gzipSync(textOf(20_000))
    const compressed = { 'content-length': String(body.length), 'content-encoding': 'gzip' }
    expect(await readBody(send(compressed, body))).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(9_000)
    slow.push('1')
    slow.push(null)
    expect(told(await reading)).toBe('read')
    expect(budget.held).toBe(0)
  })

  test('bodies that fill the budget as they were sent are not inflated', async () => {
    const budget = createByteBudget(100)
    const readBody = readerWith(budget)
    // An attempt to inflate it would find that it is no gzip.
    const body = textOf(40)
    const headers = { 'content-length': String(body.length), 'content-encoding': 'gzip' }
    budget.take(99)
    expect(await readBody(send(headers, body))).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(99)
  })

  test.each([240_000, 390_000])('a body that is alone is inflated to %i bytes, whatever its share', async (bytes) => {
    const share = createByteBudget(bytes + 10_000).share('payments', 3)
    const body = gzipSync(textOf(bytes))
    expect(told(await readerWith(share)(send({ 'content-encoding': 'gzip' }, body)))).toBe('read')
    expect(share.held).toBe(0)
  })

  test('values take of the same share, and all is given back at once', async () => {
    const budget = createByteBudget(10_000)
    const read = await readerWith(budget.share('payments', 1))(send({}, textOf(1_000)))
    const body = read === GONE ? undefined : read.value
    const other = budget.share('billing', 1)
    other.take(1_000)
    expect([body?.memory.hold(2_000), budget.held]).toEqual([true, 4_000])
    expect([body?.memory.hold(4_000), budget.held]).toEqual([false, 4_000])
    other.give(1_000)
    expect([body?.memory.hold(40_000), budget.held]).toEqual([true, 43_000])
    body?.memory.release()
    expect(budget.held).toBe(0)
  })

  test('the memory of a binary body is freed with it, not by the garbage collector', async () => {
    const budget = createByteBudget(1_000_000)
    const read = binaryReaderWith(budget)
    const request = requestWith()
    for (const piece of ['a', 'b']) request.push(Buffer.alloc(30_000, piece))
    request.push(null)
    const body = await read(request)
    if (body === GONE || body.value === undefined) throw new Error('not read')
    const { content, memory } = body.value
    expect(content.toString()).toBe('a'.repeat(30_000) + 'b'.repeat(30_000))
    memory.release()
    expect([content.length, budget.held]).toEqual([0, 0])
    memory.release()
  })

  test.each([10, 5_000])('%i bytes that came with those of other calls of HTTP/2 keep none of these', async (bytes) => {
    const received = Buffer.alloc(64 * 1024, 'x')
    const body = await binaryReaderWith(createByteBudget(1_000_000))(send({}, received.subarray(0, bytes)))
    if (body === GONE || body.value === undefined) throw new Error('not read')
    expect(body.value.content.toString()).toBe('x'.repeat(bytes))
    expect(body.value.content.buffer.byteLength).toBe(bytes)
  })

  test('a body in too many small pieces is refused', async () => {
    const request = requestWith()
    const reading = readerWith(createByteBudget(1_000_000), HOUR_MS)(request)
    const push = (count: number): void => {
      for (let piece = 0; piece < count; piece += 1) request.push(' ')
    }
    // 64 bytes pay for one piece more.
    push(2_048 + 36)
    await eventually(() => expect(request.readableLength).toBe(0))
    push(1)
    const read = await reading
    expect(read).toMatchObject({
      problem: { code: 'malformed_request', message: expect.stringContaining('chunks of at least 64 bytes') },
    })
    // The rest of the body is not read for ever, so nothing that follows it on the connection is answered.
    const problem = typeof read === 'object' ? read.problem : undefined
    expect(problem && refusedBodyHeaders(problem, request as never)).toMatchObject({ connection: 'close' })
    push(2_076)
    await eventually(() => expect(request.readableLength).toBe(0))
    expect(request.destroyed).toBe(false)
    push(1)
    await eventually(() => expect(request.destroyed).toBe(true))
  })

  test('a body that ends because its request was cut off, as in HTTP/2, is not taken for whole', async () => {
    const budget = createByteBudget(1_000_000)
    const request = Object.assign(send({}, textOf(9_000)), { aborted: true })
    expect(told(await readerWith(budget)(request))).toBe('gone')
    expect(budget.held).toBe(0)
  })

  test('a refused body that does not end is cut when the time is up', async () => {
    const request = requestWith({ 'content-length': '1000000000' })
    expect(told(await readerWith(createByteBudget(1_000), 20)(request))).toBe('payload_too_large')
    await eventually(() => expect(request.destroyed).toBe(true))
  })

  test('a body whose framing is refused gives its bytes back, and a fault of ours reaches the caller', async () => {
    const budget = createByteBudget(1_000_000)
    const grant = () => ({ value: { ...GRANT, share: budget } })
    const options = { timeoutMs: 10_000, refusal: () => undefined, grant }
    const unwrap = () => refuse('malformed_request')
    const unframed = createBodyReader({ ...options, decode: decodeText, unwrap })
    expect(told(await unframed(send({}, textOf(9_000))))).toBe('malformed_request')
    expect(budget.held).toBe(0)
    const decode = (): never => {
      throw new Error('a fault')
    }
    await expect(createBodyReader({ ...options, decode })(send({}, textOf(9_000)))).rejects.toThrow('a fault')
  })

  test('a request whose body was read in time may take longer than that to be answered', async () => {
    const read = readerWith(createByteBudget(1_000_000), 20)
    const stream = new Readable({ read: () => undefined, autoDestroy: false })
    const answered = Object.assign(stream, { headers: {} }) as unknown as Readable & IncomingMessage
    answered.push('1')
    answered.push(null)
    expect(told(await read(answered))).toBe('read')
    expect(told(await read(requestWith()))).toBe('request_timeout')
    expect(answered.destroyed).toBe(false)
  })

  test('a body in many pieces that are long enough is read', async () => {
    const request = requestWith()
    const reading = readerWith(createByteBudget(20_000_000), 10_000, { ...GRANT, wireBytesMax: 2_000_000 })(request)
    for (let piece = 0; piece < 3_000; piece += 1) request.push('x'.repeat(64))
    request.push(null)
    expect(told(await reading)).toBe('read')
  })

  test('a refused body is read on only so far', async () => {
    const request = requestWith({ 'content-length': '1000000000' })
    expect(told(await readerWith(createByteBudget(1_000), HOUR_MS)(request))).toBe('payload_too_large')
    const piece = Buffer.alloc(1024 * 1024)
    for (let count = 0; count < 64; count += 1) request.push(piece)
    await eventually(() => expect(request.readableLength).toBe(0))
    expect(request.destroyed).toBe(false)
    request.push(piece)
    await eventually(() => expect(request.destroyed).toBe(true))
  })

  test('whatever becomes of requests, all of them are given back', async () => {
    const large = gzipSync(textOf(500_000))
    const body = fc.constantFrom<readonly [string, Buffer]>(
      ['identity', textOf(9_000)],
      ['identity', textOf(120_000)],
      ['identity', Buffer.alloc(0)],
      ['identity', Buffer.from([0x22, 0xff, 0x22])],
      ['gzip', gzipSync(textOf(300_000))],
      ['gzip', large],
      ['gzip', large.subarray(0, 300)],
      ['gzip', Buffer.concat([gzipSync(textOf(60_000)), Buffer.from('more')])],
      ['gzip', textOf(9_000)],
      ['zstd', zstdCompressSync(textOf(300_000))],
      ['br', brotliCompressSync(textOf(300_000)).subarray(0, 12)],
      ['lzma', textOf(9_000)],
    )
    const sending = fc.record({
      body,
      pieces: fc.integer({ min: 1, max: 4 }),
      announced: fc.boolean(),
      end: fc.constantFrom('whole', 'whole', 'cut', 'stalled'),
    })
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(sending, { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 600_000 }),
        async (all, max) => {
          const budget = createByteBudget(max)
          const readBody = readerWith(budget, 20)
          const requests = all.map(({ body: [coding, bytes], announced }) =>
            requestWith({ 'content-encoding': coding, ...(announced && { 'content-length': String(bytes.length) }) }),
          )
          const reads = Promise.all(requests.map(readBody))
          for (let piece = 0; piece < 4; piece += 1) {
            for (const [
              at,
              {
                body: [, bytes],
                pieces,
                end,
              },
            ] of all.entries()) {
              const size = Math.ceil(bytes.length / pieces)
              const isLast = piece === pieces - 1
              if (isLast && end !== 'whole') {
                if (end === 'cut') requests[at]?.destroy()
                continue
              }
              if (piece < pieces) requests[at]?.push(bytes.subarray(piece * size, (piece + 1) * size))
              if (isLast) requests[at]?.push(null)
            }
            await nextTurn()
          }
          for (const read of await reads) seen.add(told(read))
          expect(budget.held).toBe(0)
          for (const request of requests) request.destroy()
        },
      ),
      { numRuns: 60 },
    )
    const every = ['gone', 'malformed_body', 'malformed_json', 'payload_too_large', 'read', 'request_timeout']
    expect([...seen].sort()).toEqual([...every, 'server_error', 'unsupported_media_type'])
  })
})
