import { describe, expect, test } from 'vitest'
import { ProblemError } from '../../../shared/contract/errors.ts'
import {
  createReadGate,
  READ_BYTES,
  type ReadGate,
  TEAM_READS_MAX,
  TEAM_READS_WAITING_MAX,
} from '../../../views/api/read-gate.ts'

const never = new AbortController().signal
const PLENTY = 1_000 * READ_BYTES

/** Reads that end when the test says so. */
function createReads(gate: ReadGate) {
  const ends: (() => void)[] = []
  let begun = 0
  const read = (team: string, signal = never, options = {}) =>
    gate.run(
      team,
      signal,
      () => {
        begun += 1
        return new Promise<void>((resolve) => ends.push(resolve))
      },
      options,
    )
  return { read, ends, begun: () => begun }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const codeOf = (failed: Promise<unknown>) =>
  failed.then(
    () => 'done',
    (error: unknown) => (error instanceof ProblemError ? error.problem.code : String(error)),
  )

describe('the reads of a process', () => {
  test('of one Team work a few at a time, in their order; another Team waits for none of them', async () => {
    const { read, ends, begun } = createReads(createReadGate(PLENTY))
    for (let count = 0; count < TEAM_READS_MAX + 2; count += 1) void read('a')
    await settle()
    expect(begun()).toBe(TEAM_READS_MAX)
    void read('b')
    await settle()
    expect(begun()).toBe(TEAM_READS_MAX + 1)
    ends[0]?.()
    await settle()
    expect(begun()).toBe(TEAM_READS_MAX + 2)
  })

  test('that would wait behind too many of their Team are refused for now, but for streams', async () => {
    const { read } = createReads(createReadGate(PLENTY))
    for (let count = 0; count < TEAM_READS_MAX + TEAM_READS_WAITING_MAX; count += 1) void read('a')
    await settle()
    expect(await codeOf(read('a'))).toBe('rate_limited')
    let settled = false
    void read('a', never, { isStream: true }).then(() => {
      settled = true
    })
    await settle()
    expect(settled).toBe(false)
  })

  test('hold bytes until their readers have taken them, and no Team holds them all', async () => {
    const gate = createReadGate(8 * READ_BYTES)
    const all = await Promise.all(Array.from({ length: 6 }, () => gate.run('a', never, async () => 'text')))
    expect(gate.held).toBe(6 * READ_BYTES)
    const waits = gate.run('a', never, async () => 'waited')
    const other = await gate.run('b', never, async () => 'other')
    expect(gate.held).toBe(7 * READ_BYTES)
    all[0]?.keep(100)
    all[1]?.release()
    all[1]?.release()
    expect((await waits).result).toBe('waited')
    expect(gate.held).toBe(6 * READ_BYTES + 100)
    for (const held of [...all, other, await waits]) held.release()
    expect(gate.held).toBe(0)
  })

  test('wait neither for streams of their Team nor of others, which leave a quarter of the bytes', async () => {
    const gate = createReadGate(16 * READ_BYTES)
    for (let team = 0; team < 8; team += 1)
      for (let count = 0; count < 2; count += 1)
        void gate.run(`stream ${team}`, never, async () => 'page', { isStream: true })
    await settle()
    expect(gate.held).toBe(12 * READ_BYTES)
    const reads = ['other', 'stream 7'].map((team) => gate.run(team, never, async () => 'text'))
    expect(await Promise.all(reads)).toMatchObject([{ result: 'text' }, { result: 'text' }])
  })

  test('whose answers nobody takes leave no room for another Team, until the oldest of the largest holder is let go', async () => {
    const gate = createReadGate(16 * READ_BYTES, 20)
    const letGo: string[] = []
    const unread = async (team: string, count: number): Promise<void> => {
      for (let number = 1; number <= count; number += 1) {
        const held = await gate.run(team, never, async () => 'text')
        held.keep(READ_BYTES, () => {
          letGo.push(`${team}${number}`)
          held.release()
        })
      }
    }
    await unread('a', 12)
    await unread('b', 3)
    await gate.run('c', never, async () => 'text')
    expect(letGo).toEqual(['a1'])
    expect(gate.held).toBe(15 * READ_BYTES)
  })

  test('of a Team that holds less begin before those that came earlier', async () => {
    const gate = createReadGate(16 * READ_BYTES)
    const read = (team: string) => gate.run(team, never, async () => team)
    const first = await read('a')
    for (const team of [...Array<string>(10).fill('a'), 'b', 'b', 'd', 'd']) await read(team)
    const begun: string[] = []
    for (const team of ['b', 'c']) void read(team).then(({ result }) => begun.push(result))
    first.release()
    await settle()
    expect(begun).toEqual(['c'])
  })

  test('that fail hold nothing, and let the next begin', async () => {
    const gate = createReadGate(PLENTY)
    const failed = gate.run('a', never, () => Promise.reject(new Error('the store is down')))
    await expect(failed).rejects.toThrow('the store is down')
    expect(gate.held).toBe(0)
  })

  test('do not begin when nobody waits for them any more, or their time is over', async () => {
    const gate = createReadGate(PLENTY)
    const { read, begun, ends } = createReads(gate)
    for (let count = 0; count < TEAM_READS_MAX; count += 1) void read('a')
    const gone = new AbortController()
    const left = read('a', gone.signal)
    const late = new AbortController()
    const tooLate = read('a', late.signal)
    await settle()
    gone.abort(new Error('the reader is gone'))
    late.abort(new DOMException('over', 'TimeoutError'))
    expect(await codeOf(left)).toBe('Error: the reader is gone')
    expect(await codeOf(tooLate)).toBe('rate_limited')
    await expect(read('a', AbortSignal.abort(new Error('gone before')))).rejects.toThrow('gone before')
    for (const end of ends) end()
    await settle()
    expect([begun(), gate.held]).toEqual([TEAM_READS_MAX, TEAM_READS_MAX * READ_BYTES])
  })
})
