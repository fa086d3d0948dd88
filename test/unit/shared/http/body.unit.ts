import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type ByteBudget, createByteBudget } from '../../../../shared/byte-budget.ts'
import { createBodyReader, createJsonReader, GONE, JSON_FORMAT, type ReadJson } from '../../../../shared/http/body.ts'
import { eventually } from '../../../support/eventually.ts'

const LIMITS = { wireBytesMax: 100_000, inflatedBytesMax: 400_000, timeoutMs: 10_000 }

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
function watched(bytesMax: number): ByteBudget & { readonly peak: () => number } {
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
const told = (read: ReadJson): string => (read === GONE ? 'gone' : (read.problem?.code ?? 'read'))

const NO_ROOM = {
  code: 'server_error',
  message: expect.stringMatching(/^Too many bytes of request bodies are being read\. Send the same request again/),
  details: { outcome: 'not_written' },
  retryable: true,
}

test('a request that lives until its answer keeps nothing of what was read', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const request = send({}, Buffer.from('{"logEntries":[]}'))
  const json = await createJsonReader(LIMITS)(request).then(
    (read) => new WeakRef(read === GONE ? {} : (read.value?.json as object)),
  )
  await eventually(() => {
    collectGarbage()
    return json.deref() === undefined
  })
  expect(request.readableEnded).toBe(true)
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
      const readJson = createJsonReader({ ...LIMITS, budget })
      const body = compress(textOf(350_000))
      const reads = await Promise.all(
        Array.from({ length: 30 }, () => readJson(send({ 'content-encoding': coding }, body))),
      )
      const refused = reads.flatMap((read) => (read === GONE || read.problem === undefined ? [] : [read.problem]))
      expect(refused.length).toBeGreaterThan(0)
      expect(refused.length).toBeLessThan(30)
      for (const problem of refused) expect(problem).toEqual(NO_ROOM)
      expect(budget.peak()).toBeGreaterThan(350_000)
      expect(budget.peak()).toBeLessThanOrEqual(1_000_000)
      expect(budget.held).toBe(0)
      expect(told(await readJson(send({ 'content-encoding': coding }, body)))).toBe('read')
    },
  )

  test('a small body reserves no more than it has', async () => {
    const budget = createByteBudget(30_000)
    const readJson = createJsonReader({ ...LIMITS, budget })
    const body = gzipSync(textOf(500))
    const reads = Array.from({ length: 20 }, () => readJson(send({ 'content-encoding': 'gzip' }, body)))
    expect((await Promise.all(reads)).map(told)).toEqual(Array(20).fill('read'))
  })

  test('a body in many tiny pieces counts for the objects that they are', async () => {
    const budget = createByteBudget(100_000)
    const readJson = createJsonReader({ ...LIMITS, budget })
    const request = requestWith()
    const reading = readJson(request)
    for (let count = 0; count < 1_000; count += 1) request.push(' ')
    expect(await reading).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(0)
  })

  test('a body that dawdles holds what came of it; what comes whole is read all the same', async () => {
    const budget = createByteBudget(10_000)
    const readJson = createJsonReader({ ...LIMITS, budget })
    const slow = requestWith()
    const reading = readJson(slow)
    slow.push(Buffer.alloc(9_000, ' '))
    await nextTurn()
    expect(budget.held).toBe(9_000)
    const other = requestWith({ 'content-length': '5000' })
    const refused = readJson(other)
    other.push(Buffer.alloc(2_000, ' '))
    expect(await refused).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(9_000)
    expect(told(await readJson(send({ 'content-length': '2000' }, textOf(2_000))))).toBe('read')
    // Inflated it would wait for other turns of the event loop.
    const body = gzipSync(textOf(20_000))
    const compressed = { 'content-length': String(body.length), 'content-encoding': 'gzip' }
    expect(await readJson(send(compressed, body))).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(9_000)
    slow.push('1')
    slow.push(null)
    expect(told(await reading)).toBe('read')
    expect(budget.held).toBe(0)
  })

  test('bodies that fill the budget as they were sent are not inflated', async () => {
    const budget = createByteBudget(100)
    const readJson = createJsonReader({ ...LIMITS, budget })
    // Whoever began to inflate it would find that it is no gzip.
    const body = textOf(40)
    const headers = { 'content-length': String(body.length), 'content-encoding': 'gzip' }
    budget.take(99)
    expect(await readJson(send(headers, body))).toMatchObject({ problem: NO_ROOM })
    expect(budget.held).toBe(99)
  })

  test('are given back where a format throws', async () => {
    const budget = createByteBudget(10_000)
    const parse = () => {
      throw new RangeError('a fault')
    }
    const readJson = createBodyReader({ ...LIMITS, budget }, { ...JSON_FORMAT, parse })
    await expect(readJson(send({}, textOf(500)))).rejects.toThrow('a fault')
    await expect(readJson(send({ 'content-encoding': 'gzip' }, gzipSync(textOf(500))))).rejects.toThrow('a fault')
    expect(budget.held).toBe(0)
  })

  test('whatever becomes of requests, all of them are given back', async () => {
    const large = gzipSync(textOf(500_000))
    const body = fc.constantFrom<readonly [string, Buffer]>(
      ['identity', textOf(9_000)],
      ['identity', textOf(120_000)],
      ['identity', Buffer.from('{"a":')],
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
          const readJson = createJsonReader({ ...LIMITS, timeoutMs: 20, budget })
          const requests = all.map(({ body: [coding, bytes], announced }) =>
            requestWith({ 'content-encoding': coding, ...(announced && { 'content-length': String(bytes.length) }) }),
          )
          const reads = Promise.all(requests.map(readJson))
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
