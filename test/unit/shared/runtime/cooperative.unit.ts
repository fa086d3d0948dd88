import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createCooperative, inOneStep, runSteps, type Steps } from '../../../../shared/runtime/cooperative.ts'
import { runAtOnce } from '../../../support/run-at-once.ts'

describe('long work', () => {
  test('leaves the event loop to others between two slices, and gives back its result', async () => {
    const { run } = createCooperative('one', 0)
    let turns = 0
    const counting = setInterval(() => {
      turns += 1
    }, 0)
    function* work(): Steps<string> {
      for (const until = turns + 3; turns < until; ) yield
      return 'done'
    }
    expect(await run('payments', work())).toBe('done')
    clearInterval(counting)
  })

  test('of one owner is done one after the other, that of several by turns', async () => {
    const { run } = createCooperative('one', 0)
    const told: string[] = []
    function* work(name: string, steps: number): Steps<void> {
      for (let step = 0; step < steps; step += 1) {
        told.push(name)
        yield
      }
    }
    await Promise.all([run('a', work('a1', 2)), run('a', work('a2', 1)), run('b', work('b1', 3))])
    expect(told.join(' ')).toBe('a1 b1 a1 b1 b1 a2')
    told.length = 0
    await Promise.all([run('a', work('a1', 2)), run('a', work('a2', 1)), run('a', work('short', 1), 'short')])
    expect(told.join(' ')).toBe('a1 short a1 a2')
  })

  test('that is short shares a slice with other work of its owner, where all that fit are done', async () => {
    const { run } = createCooperative('all')
    let turns = 0
    const count = (): void => {
      turns += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        run(
          String(index % 3),
          inOneStep(() => index),
        ),
      ),
    )
    clearImmediate(counting)
    expect(turns).toBeLessThan(500)
  })

  test('is begun at once until that has taken a slice of the turn, and again in the next one', async () => {
    const { begin } = createCooperative('one', 0)
    const one = () =>
      begin(
        inOneStep(() => 1),
        1,
      )
    expect([one()?.value, one()]).toEqual([1, undefined])
    await nextTurn()
    expect([one()?.value, one()]).toEqual([1, undefined])
  })

  test('that throws fails by itself', async () => {
    const { run } = createCooperative()
    // biome-ignore lint/correctness/useYield: it ends at once.
    function* fail(): Steps<void> {
      throw new Error('a fault')
    }
    // biome-ignore lint/correctness/useYield: it ends at once.
    function* promise(): Steps<Promise<number>> {
      return Promise.resolve(1)
    }
    const failed = run('a', fail())
    await expect(failed).rejects.toThrow('a fault')
    expect(await run('a', promise())).toBe(1)
  })

  test('can be done at once', () => {
    function* count(): Steps<number> {
      yield
      yield
      return 2
    }
    expect(runAtOnce(count())).toBe(2)
  })

  test('can be begun at once, and run to its end later', async () => {
    const seen: number[] = []
    function* count(): Steps<number> {
      for (let step = 0; step < 5; step += 1) {
        seen.push(step)
        yield
      }
      return 5
    }
    const work = count()
    expect(runSteps(work, 3)).toEqual({ done: false, value: undefined })
    expect(seen).toEqual([0, 1, 2])
    expect(await createCooperative().run('a', work)).toBe(5)
    expect(seen).toEqual([0, 1, 2, 3, 4])
    expect(runSteps(count(), 6)).toEqual({ done: true, value: 5 })
  })
})
