import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startThread, type Thread, ThreadGoneError } from '../../../../../shared/runtime/threads/thread.ts'
import { EchoError } from './echo-error.ts'
import type { EchoCalls, EchoData } from './echo-thread.ts'

const started: Thread<EchoCalls>[] = []

const start = async (greeting = 'hello') => {
  const closed = new Int32Array(new SharedArrayBuffer(4))
  const data: EchoData = { greeting, closed }
  const thread = await startThread<EchoCalls>({
    name: 'echo',
    module: new URL('./echo-thread.ts', import.meta.url),
    data,
    errors: [EchoError],
  })
  started.push(thread)
  return { thread, closed }
}

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: Error) => error,
  )

afterEach(async () => {
  await Promise.all(started.splice(0).map((thread) => thread.close()))
})

describe('a call', () => {
  test('gives what the thread gives', async () => {
    const { thread } = await start()
    expect(await Promise.all([thread.call('add', [1, 2]), thread.call('greet', [])])).toEqual([3, 'hello'])
  })

  test('may be answered after later ones', async () => {
    const { thread } = await start()
    const waiting = thread.call('wait', [])
    expect(await thread.call('add', [1, 1])).toBe(2)
    await thread.call('letGo', [])
    expect(await waiting).toBe('at last')
  })

  test('rejects with an error of the class that was thrown there, its fields and its cause', async () => {
    const { thread } = await start()
    const error = await failureOf(thread.call('fail', ['not today']))
    expect(error).toBeInstanceOf(EchoError)
    expect(error).toMatchObject({ name: 'EchoError', message: 'not today', mood: 'loud' })
    expect(error.stack).toContain('echo-thread.ts')
    expect(error.cause).toMatchObject({ name: 'TypeError', message: 'the cause' })
  })

  test('rejects with an error also where something else was thrown', async () => {
    const { thread } = await start()
    expect(await failureOf(thread.call('throwText', []))).toMatchObject({ message: 'no error' })
  })

  test('of something that cannot be cloned fails alone, there and back', async () => {
    const { thread } = await start()
    const unfit = { toString: () => 'a function cannot be cloned' } as unknown as number
    const calls = [
      failureOf(thread.call('add', [unfit, 1])),
      thread.call('add', [2, 3]),
      failureOf(thread.call('unfit', [])),
    ]
    const [there, between, back] = await Promise.all(calls)
    expect(there).toMatchObject({ message: expect.stringContaining('could not be cloned') })
    expect(between).toBe(5)
    expect(back).toMatchObject({ message: expect.stringContaining('could not be cloned') })
  })

  test('moves the buffers it is told to', async () => {
    const { thread } = await start()
    const buffer = new ArrayBuffer(64)
    expect(await thread.call('byteLength', [buffer], [buffer])).toBe(64)
    expect(buffer.byteLength).toBe(0)
  })
})

describe('a thread', () => {
  test('whose set-up fails does not start, for the reason thrown there', async () => {
    const error = await failureOf(start(''))
    expect(error).toBeInstanceOf(EchoError)
    expect(error).toMatchObject({ mood: 'quiet', cause: { message: 'why' } })
  })

  test('whose set-up fails is gone by then, whatever it has open', async () => {
    const module = new URL('./listening-thread.ts', import.meta.url)
    const error = await failureOf(startThread({ name: 'listening', module, data: null, errors: [EchoError] }))
    expect(error).toMatchObject({ message: 'too late', mood: expect.stringMatching(/^\d+$/) })
    const socket = connect(Number((error as EchoError).mood), '127.0.0.1')
    await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('whose module is missing does not start', async () => {
    const module = new URL('./missing-thread.ts', import.meta.url)
    const error = await failureOf(startThread({ name: 'missing', module, data: null, errors: [] }))
    expect(error).toBeInstanceOf(ThreadGoneError)
    expect(error.message).toContain('missing-thread.ts')
  })

  test('that may not open its files names the limit', async () => {
    const module = new URL('data:text/javascript,throw new Error("Worker initialization failure: EMFILE")')
    const error = await failureOf(startThread({ name: 'echo', module, data: null, errors: [] }))
    expect(error.message).toMatch(/EMFILE \(.* ulimit -n/)
  })

  test.each([
    ['crash', 'the thread echo failed: the thread fell over'],
    ['exit', 'the thread echo ended with code 7'],
  ] as const)('that ends (%s) rejects what is under way and what comes, and is not healthy', async (how, message) => {
    const { thread } = await start()
    expect(thread.health()).toEqual({ name: 'echo', ready: true })
    const underWay = failureOf(thread.call('wait', []))
    thread.call(how, []).catch(() => {})
    expect(await underWay).toMatchObject({ name: 'ThreadGoneError', message, mayHaveRun: true })
    expect(await failureOf(thread.call('greet', []))).toMatchObject({ message, mayHaveRun: false })
    expect(thread.health()).toEqual({ name: 'echo', ready: false, reason: message })
    await thread.close()
  })

  test('that is closed answers the calls made before, then closes what it holds, once', async () => {
    const { thread, closed } = await start()
    const calls = [thread.call('wait', []), thread.call('letGo', []), thread.call('add', [1, 1])]
    await Promise.all([thread.close(), thread.close()])
    expect(await Promise.all(calls)).toEqual(['at last', undefined, 2])
    expect(closed[0]).toBe(1)
    expect(await failureOf(thread.call('greet', []))).toMatchObject({
      message: 'the thread echo is closed',
      mayHaveRun: false,
    })
    expect(thread.health().ready).toBe(false)
  })
})
