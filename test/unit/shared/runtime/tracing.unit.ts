import { describe, expect, test } from 'vitest'
import { createSampler, traced } from '../../../../shared/runtime/tracing.ts'
import { createMemoryTracer } from '../../../support/memory-tracer.ts'

const REQUESTS = 100_000
const BURST = 100

const sampledOf = (wish: boolean | undefined, ratio: number, random?: () => number): number => {
  const sample = createSampler(ratio, random)
  let sampled = 0
  for (let request = 0; request < REQUESTS; request++) if (sample(wish)) sampled++
  return sampled
}

describe('a sampler', () => {
  test('takes no more than its share, whatever senders wish and however the lot falls', () => {
    for (const ratio of [0.001, 0.01, 0.3]) {
      const share = REQUESTS * ratio
      for (const sampled of [sampledOf(true, ratio), sampledOf(undefined, ratio, () => 0)]) {
        expect(sampled).toBeLessThanOrEqual(share + BURST)
        expect(sampled).toBeGreaterThanOrEqual(share)
      }
    }
  })

  test('takes its share by lot where nobody says anything, none of those that are not traced, and all at 1', () => {
    let turn = 0
    expect(sampledOf(undefined, 0.01, () => (turn++ % 1_000) / 1_000)).toBe(REQUESTS / 100)
    expect(sampledOf(false, 1)).toBe(0)
    expect(sampledOf(true, 1)).toBe(REQUESTS)
    expect(sampledOf(undefined, 1, () => 0.999)).toBe(REQUESTS)
  })

  test('counts the units of work that is many', () => {
    const sample = createSampler(0.01)
    while (sample(true, 0));
    expect([sample(true, 99), sample(true, 1), sample(true, 1)]).toEqual([false, true, false])
  })
})

test('a span ends with its work, and names the error that ended it', async () => {
  const tracer = createMemoryTracer()
  const start = () => tracer.start('work', { kind: 'client', attributes: {} })
  expect(await traced(start(), async () => 7)).toBe(7)
  const failing = traced(start(), () => Promise.reject(new RangeError('with a secret')))
  await expect(failing).rejects.toThrow('with a secret')
  expect(tracer.spans).toMatchObject([
    { ended: true, failure: undefined },
    { ended: true, failure: 'RangeError' },
  ])
})
