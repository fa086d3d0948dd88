import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { createWaker } from '../../../../../shared/journal/kafka/waiting.ts'

const LONG_MS = 3_600_000

describe('a wait', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  test('ends by itself, and is then forgotten: waits come twice a second for as long as a process lives', async () => {
    const waker = createWaker(new AbortController().signal)
    await Promise.all([waker.wait(0), waker.wait(0), waker.wait(1)])
    const cleared = jest.spyOn(globalThis, 'clearTimeout')
    waker.wake()
    expect(cleared).not.toHaveBeenCalled()
  })

  test('ends when it is woken, with all the others', async () => {
    const waker = createWaker(new AbortController().signal)
    const waits = Promise.all([waker.wait(LONG_MS), waker.wait(LONG_MS)])
    waker.wake()
    await waits
  })

  test('ends when the signal aborts, and where it has', async () => {
    const abort = new AbortController()
    const waker = createWaker(abort.signal)
    const wait = waker.wait(LONG_MS)
    abort.abort()
    await wait
    await waker.wait(LONG_MS)
  })
})
