import { describe, expect, test } from 'vitest'
import { type Batch, createBatch, createWave, type Target } from '../../../../clients/typescript/src/batch.ts'
import { createSender } from '../../../../clients/typescript/src/sender.ts'

const target: Target = { path: 'x', takesBatches: true, bodyOf: (entries) => entries.join('') }
const batchOf = (text: string): Batch => createBatch(target, [text], text.length, createWave())

interface Call {
  readonly keepalive: boolean
  readonly key: string
  readonly body: string
  readonly signal: AbortSignal
  answer(): void
}

/** A sender whose requests are answered by hand. */
function createRig() {
  const page = { isHidden: false }
  const calls: Call[] = []
  const settled: Batch[] = []
  const retried: unknown[] = []
  const send: typeof fetch = (_url, { headers, body, keepalive = false, signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      const key = (headers as Record<string, string>)['idempotency-key'] ?? ''
      const answer = (): void => resolve(Response.json({ success: true, data: {} }))
      calls.push({ keepalive, key, body: String(body), signal: signal as AbortSignal, answer })
    })
  const sender = createSender(
    {
      fetch: send,
      urlOf: String,
      headers: {},
      maxInFlight: 1,
      requestTimeoutMs: 60_000,
      minBackOffMs: 1,
      maxBackOffMs: 1,
      isHidden: () => page.isHidden,
    },
    { onSettled: (batch) => settled.push(batch), onRetry: (retry) => retried.push(retry) },
  )
  return { page, sender, calls, settled, retried }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a page that may be gone at any moment', () => {
  test('what is under way is sent again under its key, and what waits is sent, as far as a browser has room', async () => {
    const { sender, calls, settled, retried } = createRig()
    const [first, second, large, third] = ['a'.repeat(20_000), 'b'.repeat(20_000), 'x'.repeat(40_000), 'c'].map(batchOf)
    for (const batch of [first, second, large, third]) sender.add(batch as Batch)
    expect(calls.map(({ keepalive, body }) => [keepalive, body[0]])).toEqual([[false, 'a']])
    sender.leave()
    expect(calls.slice(1).map(({ keepalive, body }) => [keepalive, body[0]])).toEqual([
      [true, 'a'],
      [true, 'b'],
      [true, 'c'],
    ])
    expect([calls[0]?.signal.aborted, calls[1]?.key]).toEqual([true, calls[0]?.key])
    // Hidden once more: what a browser carries on with is not sent a third time.
    sender.leave()
    expect(calls).toHaveLength(4)
    for (const call of calls) call.answer()
    await turn()
    // The page was not gone after all: the rest follows.
    expect(calls.slice(4).map(({ keepalive, body }) => [keepalive, body[0]])).toEqual([[false, 'x']])
    calls[4]?.answer()
    await turn()
    expect(new Set(settled)).toEqual(new Set([first, second, large, third]))
    expect([settled.length, retried]).toEqual([4, []])
  })

  test('what comes while it is hidden is sent at once, as far as a browser has room', () => {
    const { page, sender, calls } = createRig()
    page.isHidden = true
    const batches = ['a'.repeat(30_000), 'b'.repeat(30_000), 'x'.repeat(40_000), 'c'].map(batchOf)
    for (const batch of batches) sender.add(batch)
    expect(calls.map(({ keepalive, body }) => [keepalive, body[0]])).toEqual([
      [true, 'a'],
      [true, 'b'],
      [true, 'c'],
    ])
  })
})

test('what is given up is given back, once, and its requests end', async () => {
  const { sender, calls, settled } = createRig()
  const batches = ['a', 'b'].map(batchOf)
  for (const batch of batches) sender.add(batch)
  expect(sender.abandon()).toEqual(batches)
  expect([calls[0]?.signal.aborted, sender.abandon()]).toEqual([true, []])
  await turn()
  expect([calls.length, settled]).toEqual([1, []])
})
