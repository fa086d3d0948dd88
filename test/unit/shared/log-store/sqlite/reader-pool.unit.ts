import { describe, expect, test } from 'vitest'
import { ReadNotBegunError } from '../../../../../shared/log-store/log-store.ts'
import type { Reader } from '../../../../../shared/log-store/sqlite/reader.ts'
import { openReaderPool } from '../../../../../shared/log-store/sqlite/reader-pool.ts'

const OPTIONS = { threadsMax: 4, endingMax: 1, graceMs: 0 }
const LONG_GRACE = { ...OPTIONS, graceMs: 60_000 }

/** A thread whose calls end when the test says so. */
interface FakeReader extends Reader {
  /** Ends the call that runs. */
  readonly finish: (result?: unknown) => void
  readonly fail: (error: Error) => void
  /** The calls of its methods, in order. */
  readonly told: string[]
  readonly endKilling: () => void
}

function fakeReader(): FakeReader {
  const told: string[] = []
  const killed = Promise.withResolvers<void>()
  let running = Promise.withResolvers<never>()
  return {
    told,
    run: (name) => {
      told.push(name)
      running = Promise.withResolvers<never>()
      return running.promise
    },
    callOff: () => void told.push('called off'),
    isGone: () => told.includes('gone'),
    kill: () => {
      told.push('killed')
      return killed.promise
    },
    close: async () => void told.push('closed'),
    finish: (result) => running.resolve(result as never),
    fail: (error) => running.reject(error),
    endKilling: killed.resolve,
  }
}

async function open(options = OPTIONS) {
  const readers: FakeReader[] = []
  const pool = await openReaderPool(async () => {
    readers.push(fakeReader())
    return readers.at(-1) as FakeReader
  }, options)
  return { readers, pool }
}

/** Lets everything run that is due. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

const readBy = (pool: Awaited<ReturnType<typeof open>>['pool'], owner: string, signal?: AbortSignal) =>
  pool.read({ owner, signal }, 'flow', owner, 'a key')

/** A pool whose only thread has ended. */
async function openWithoutThread() {
  const { readers, pool } = await open()
  const read = readBy(pool, 'a')
  await settle()
  readers[0]?.told.push('gone')
  readers[0]?.fail(new Error('out of memory'))
  await expect(read).rejects.toThrow('out of memory')
  return { readers, pool }
}

describe('a pool of readers', () => {
  test('starts threads as there is work for them, and no more than it may', async () => {
    const { readers, pool } = await open()
    expect(readers).toHaveLength(1)
    const reads = ['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => readBy(pool, owner))
    await settle()
    expect(readers.map(({ told }) => told)).toEqual([['flow'], ['flow'], ['flow'], ['flow']])
    readers[2]?.finish('third')
    await settle()
    expect(readers.map(({ told }) => told.length)).toEqual([1, 1, 2, 1])
    expect(await reads[2]).toBe('third')
  })

  test('has the owner next that has the fewest threads, and was served longest ago', async () => {
    const { readers, pool } = await open({ ...OPTIONS, threadsMax: 3 })
    const ended: string[] = []
    const read = (owner: string): void => void readBy(pool, owner).then(() => ended.push(owner))
    for (const owner of ['a', 'a', 'b', 'b', 'b']) read(owner)
    await settle()
    // Two of a run, and one of b; whoever has none comes before the next of b.
    for (const owner of ['a', 'c', 'd']) read(owner)
    for (let count = 0; count < 3; count += 1) {
      readers[1]?.finish()
      await settle()
    }
    expect(ended).toEqual(['b', 'c', 'd'])
  })

  test('tells a call whose time was over before its turn', async () => {
    const { pool } = await open({ ...OPTIONS, threadsMax: 1 })
    void readBy(pool, 'a')
    const controller = new AbortController()
    const waiting = readBy(pool, 'b', controller.signal)
    controller.abort(new DOMException('the time is over', 'TimeoutError'))
    await expect(waiting).rejects.toThrow(ReadNotBegunError)
  })

  test('leaves a thread for others, however many calls an owner makes', async () => {
    const { readers, pool } = await open()
    for (let count = 0; count < 10; count += 1) void readBy(pool, 'greedy')
    await settle()
    expect(readers.filter(({ told }) => told.length > 0)).toHaveLength(3)
    const other = readBy(pool, 'other')
    await settle()
    readers[3]?.finish('other')
    expect(await other).toBe('other')
    await settle()
    expect(readers.map(({ told }) => told.length)).toEqual([1, 1, 1, 1])
  })

  test('answers at once what is called off, and goes on with the thread that ends it', async () => {
    const { readers, pool } = await open(LONG_GRACE)
    const giving = new AbortController()
    const read = readBy(pool, 'a', giving.signal)
    await settle()
    giving.abort(new Error('nobody waits'))
    await expect(read).rejects.toThrow('nobody waits')
    expect(readers[0]?.told).toEqual(['flow', 'called off'])
    readers[0]?.fail(new Error('called off'))
    await settle()
    const next = readBy(pool, 'a')
    await settle()
    expect(readers).toHaveLength(1)
    readers[0]?.finish('next')
    expect(await next).toBe('next')
  })

  test('does not begin what is called off before its turn', async () => {
    const { readers, pool } = await open()
    for (let count = 0; count < 4; count += 1) void readBy(pool, `owner ${count}`)
    await settle()
    const giving = new AbortController()
    const read = readBy(pool, 'late', giving.signal)
    giving.abort(new Error('nobody waits'))
    await expect(read).rejects.toThrow('nobody waits')
    await expect(readBy(pool, 'late', giving.signal)).rejects.toThrow('nobody waits')
    for (const reader of readers) reader.finish()
    await settle()
    expect(readers.map(({ told }) => told)).toEqual([['flow'], ['flow'], ['flow'], ['flow']])
  })

  const stick = async (pool: Awaited<ReturnType<typeof open>>['pool'], owner: string): Promise<void> => {
    const giving = new AbortController()
    const read = readBy(pool, owner, giving.signal)
    await settle()
    giving.abort(new Error('too slow'))
    await expect(read).rejects.toThrow('too slow')
    await settle()
  }

  test('replaces a thread that is stuck, but not without end', async () => {
    const { readers, pool } = await open()
    await stick(pool, 'a')
    await stick(pool, 'a')
    expect(readers.map(({ told }) => told.at(-1))).toEqual(['killed', 'killed'])
    const waits = readBy(pool, 'b')
    await settle()
    expect(readers).toHaveLength(2)
    expect(pool.health().ready).toBe(false)
    readers[0]?.endKilling()
    await settle()
    readers[2]?.finish('after all')
    expect(await waits).toBe('after all')
    expect(pool.health().ready).toBe(true)
  })

  test('leaves threads for others, however many calls of an owner are stuck', async () => {
    const { readers, pool } = await open({ ...OPTIONS, threadsMax: 3, endingMax: 2 })
    await stick(pool, 'greedy')
    await stick(pool, 'greedy')
    const waits = readBy(pool, 'greedy')
    await settle()
    expect(readers.map(({ told }) => told.at(-1))).toEqual(['killed', 'killed'])
    const other = readBy(pool, 'other')
    await settle()
    readers[2]?.finish('other')
    expect(await other).toBe('other')
    readers[0]?.endKilling()
    await settle()
    readers[2]?.finish('in the end')
    expect(await waits).toBe('in the end')
  })

  test('does not use a thread again that is gone', async () => {
    const { readers, pool } = await openWithoutThread()
    const next = readBy(pool, 'a')
    await settle()
    readers[1]?.finish('next')
    expect(await next).toBe('next')
  })

  test('is ready after its only thread is gone, and starts another without a read', async () => {
    const { readers, pool } = await openWithoutThread()
    expect(pool.health().ready).toBe(true)
    await settle()
    expect(readers).toHaveLength(2)
  })

  test('is ready again once a thread can be started, without a read', async () => {
    const first = fakeReader()
    const starts = [async () => first, () => Promise.reject(new Error('no more threads'))]
    const pool = await openReaderPool(() => starts.shift()?.() ?? Promise.resolve(fakeReader()), OPTIONS)
    const read = readBy(pool, 'a')
    first.told.push('gone')
    first.fail(new Error('out of memory'))
    await expect(read).rejects.toThrow('out of memory')
    await expect(readBy(pool, 'a')).rejects.toThrow('no more threads')
    expect(pool.health()).toMatchObject({ ready: false, reason: 'no more threads' })
    await settle()
    expect(pool.health().ready).toBe(true)
  })

  test('does not try again and again to start a thread while another one works', async () => {
    const first = fakeReader()
    let starts = 0
    const pool = await openReaderPool(async () => {
      starts += 1
      if (starts === 1) return first
      // Without an end, the test would wait forever.
      if (starts < 100) throw new Error('no more threads')
      return fakeReader()
    }, OPTIONS)
    const reads = [readBy(pool, 'a'), readBy(pool, 'b')]
    await settle()
    expect(starts).toBe(2)
    first.finish('one')
    expect(await reads[0]).toBe('one')
    await settle()
    first.finish('other')
    expect(await reads[1]).toBe('other')
  })

  test('that is closed lets calls finish, and takes no more', async () => {
    const { readers, pool } = await open()
    const read = readBy(pool, 'a')
    await settle()
    await pool.close()
    readers[0]?.finish('done')
    expect(await read).toBe('done')
    expect(readers[0]?.told).toContain('closed')
    await expect(readBy(pool, 'a')).rejects.toThrow('the log store is closed')
    expect(pool.health()).toMatchObject({ ready: false, reason: 'it is closed' })
  })

  test('whose threads cannot be started says why', async () => {
    const first = fakeReader()
    const starts = [async () => first, () => Promise.reject(new Error('no more threads'))]
    const pool = await openReaderPool(() => starts.shift()?.() ?? Promise.reject(new Error('still none')), OPTIONS)
    const read = readBy(pool, 'a')
    first.told.push('gone')
    first.fail(new Error('out of memory'))
    await expect(read).rejects.toThrow('out of memory')
    await expect(readBy(pool, 'a')).rejects.toThrow('no more threads')
    expect(pool.health()).toMatchObject({ ready: false, reason: 'no more threads' })
  })
})
