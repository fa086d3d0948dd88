import { afterEach, describe, expect, test, vi } from 'vitest'
import { askWithin, createWaker, restingFlight, singleFlight } from '../../../../shared/runtime/waiting.ts'

/** Work that is done when told to. */
function heldWork() {
  const begun: PromiseWithResolvers<string>[] = []
  const work = (): Promise<string> => {
    const one = Promise.withResolvers<string>()
    begun.push(one)
    return one.promise
  }
  return { begun, work }
}

describe('work that is shared', () => {
  test('is done once for all who ask while it is under way, and again afterwards', async () => {
    const { begun, work } = heldWork()
    const shared = singleFlight(work)
    const first = [shared(), shared()]
    begun[0]?.resolve('first')
    expect(await Promise.all(first)).toEqual(['first', 'first'])
    const second = shared()
    begun[1]?.resolve('second')
    expect(await second).toBe('second')
    expect(begun).toHaveLength(2)
  })

  test('fails for all who asked, and can succeed the next time', async () => {
    const { begun, work } = heldWork()
    const shared = singleFlight(work)
    const first = Promise.allSettled([shared(), shared()])
    begun[0]?.reject(new Error('no'))
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const second = shared()
    begun[1]?.resolve('yes')
    expect(await second).toBe('yes')
  })
})

describe('work that rests', () => {
  afterEach(() => vi.useRealTimers())

  test.each([
    ['four times as long as it took', 20, 80],
    ['no longer than it may', 1_000, 250],
  ])('begins again after a rest, %s, for all who asked meanwhile', async (_name, tookMs, restMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const { begun, work } = heldWork()
    const resting = restingFlight(work, { times: 4, restMsMax: 250 })
    const first = resting()
    await vi.advanceTimersByTimeAsync(tookMs)
    begun[0]?.resolve('first')
    expect(await first).toBe('first')
    const next = [resting(), resting()]
    await vi.advanceTimersByTimeAsync(restMs - 1)
    expect(begun).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toHaveLength(2)
    begun[1]?.resolve('second')
    expect(await Promise.all(next)).toEqual(['second', 'second'])
    await vi.advanceTimersByTimeAsync(10_000)
    void resting()
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toHaveLength(3)
  })
})

describe('asking within a limit', () => {
  test('gives what comes in time', async () => {
    expect(await askWithin(10_000, async () => 'answer')()).toBe('answer')
    await expect(askWithin(10_000, () => Promise.reject(new Error('no')))()).rejects.toThrow('no')
  })

  test('gives undefined when the time is up, and asks again only once there was an answer', async () => {
    const { begun, work } = heldWork()
    const ask = askWithin(5, work)
    expect([await ask(), await ask(), await ask()]).toEqual([undefined, undefined, undefined])
    expect(begun).toHaveLength(1)
    begun[0]?.resolve('late')
    await begun[0]?.promise
    const next = ask()
    begun[1]?.resolve('in time')
    expect(await next).toBe('in time')
  })
})

const LONG_MS = 3_600_000

describe('a wait', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('ends by itself, and is then forgotten: waits come twice a second for as long as a process lives', async () => {
    const waker = createWaker(new AbortController().signal)
    await Promise.all([waker.wait(0), waker.wait(0), waker.wait(1)])
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
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
