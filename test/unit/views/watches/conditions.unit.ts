import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createLearntWaits } from '../../../../views/api/flow-waits.ts'
import type { KnownWatch } from '../../../../views/watches/book.ts'
import { type Evaluation, evaluate } from '../../../../views/watches/conditions.ts'
import { stateOf } from '../../../../views/watches/progress.ts'
import type { Memory } from '../../../../views/watches/records.ts'
import { applicationLog, at, eventLog, NOW } from '../../../support/views-fixture.ts'
import { createObservedLogStore, type ObservedLogStore } from '../../../support/views-store.ts'
import { knownWatch, registry } from '../../../support/watches.ts'

const SINCE = at(0)
const MINUTE = 60_000
const HOUR = NOW

let store: ObservedLogStore
let now: number
let watch: KnownWatch

/** Evaluates as the watch would, and remembers what that leaves behind. */
async function next(): Promise<Evaluation> {
  const clock = { now: () => now }
  const waits = createLearntWaits({ store, clock, logger: createLogger('silent', 'test'), deadlineMs: 5_000 })
  const { memory } = stateOf(watch)
  const signal = AbortSignal.timeout(5_000)
  const evaluation = await evaluate({ store, registry, waits, watch, memory, now, signal })
  watch = { ...watch, state: stateWith(evaluation.memory), lastEvaluatedAt: new Date(now).toISOString() }
  return evaluation
}

const stateWith = (memory: Memory) => ({
  revision: 1,
  by: 'test',
  memory,
  error: null,
  delivery: null,
  next: null,
  history: [],
})

const ago = (ms: number): string => new Date(now - ms).toISOString()

beforeEach(() => {
  store = createObservedLogStore()
  now = HOUR
})
afterEach(() => store.close())

describe('a count', () => {
  beforeEach(() => {
    watch = knownWatch({ since: SINCE })
  })
  const errors = (count: number) => {
    for (let made = 0; made < count; made += 1) store.add(eventLog({ level: 'Error', timestamp: ago(1_000) }))
  }

  test('is met by more logs than its number, told of once, and again after it was not met', async () => {
    errors(2)
    expect(await next()).toMatchObject({ match: null, memory: { isMet: false } })
    errors(1)
    expect((await next()).match).toEqual({ count: 3, samples: [] })
    errors(40)
    expect(await next()).toMatchObject({ match: null, memory: { isMet: true } })
    now += 6 * MINUTE
    expect(await next()).toMatchObject({ match: null, memory: { isMet: false } })
    errors(5)
    expect((await next()).match).toEqual({ count: 5, samples: [] })
  })

  test('takes logs of its list, of its Team, that its parameters select, and of its time', async () => {
    store.add(eventLog({ timestamp: ago(1_000) }), eventLog({ level: 'Error', timestamp: ago(6 * MINUTE) }))
    store.add(eventLog({ level: 'Error', timestamp: ago(1_000), team: 'b' }))
    store.add(applicationLog({ level: 'Error', timestamp: ago(1_000) }))
    errors(2)
    expect((await next()).match).toBeNull()
    watch = {
      ...watch,
      state: undefined,
      condition: { type: 'count', list: 'application-logs', params: { q: 'hello' }, more: 0, minutes: 5 },
    }
    expect((await next()).match).toEqual({ count: 1, samples: [] })
  })

  test('takes a log that is dated ahead when its time comes, and is not kept met by it', async () => {
    store.add(eventLog({ level: 'Error', timestamp: ago(-60 * MINUTE) }))
    errors(3)
    expect((await next()).match).toEqual({ count: 3, samples: [] })
    now += 30 * MINUTE
    expect(await next()).toMatchObject({ match: null, memory: { isMet: false } })
    errors(3)
    expect((await next()).match).toEqual({ count: 3, samples: [] })
    now += 31 * MINUTE
    expect(await next()).toMatchObject({ match: null, memory: { isMet: false } })
    errors(2)
    expect((await next()).match).toEqual({ count: 3, samples: [] })
  })

  test('leaves the same memory where nothing changed, so that nothing is written', async () => {
    const { memory } = await next()
    expect((await next()).memory).toBe(memory)
  })
})

describe('flows', () => {
  beforeEach(() => {
    watch = knownWatch({
      since: ago(HOUR - NOW + 10 * MINUTE),
      condition: { type: 'flows', state: 'failed', event: null },
    })
  })
  const fail = (key: string, timestamp = ago(1_000)) =>
    store.add(eventLog({ correlationKey: key, level: 'Error', timestamp }))

  test('that failed before the watch was made are not told of, those that fail after it once each', async () => {
    fail('old', ago(30 * MINUTE))
    fail('new')
    expect((await next()).match).toEqual({ count: 1, samples: ['new'] })
    expect((await next()).match).toBeNull()
    fail('newer')
    expect((await next()).match).toEqual({ count: 1, samples: ['newer'] })
    fail('new', ago(500))
    expect((await next()).match).toBeNull()
  })

  test('of one Event alone, where the watch names one', async () => {
    watch = { ...watch, condition: { type: 'flows', state: 'failed', event: 'order' } }
    store.add(applicationLog({ correlationKey: 'elsewhere', level: 'Error', timestamp: ago(1_000) }))
    fail('here')
    expect((await next()).match).toEqual({ count: 1, samples: ['here'] })
  })

  test('that stall are told of when they do, though they logged before', async () => {
    watch = { ...watch, condition: { type: 'flows', state: 'stalled', event: null } }
    store.add(eventLog({ correlationKey: 'waits', timestamp: ago(4 * MINUTE) }))
    expect((await next()).match).toBeNull()
    now += 2 * MINUTE
    expect((await next()).match).toEqual({ count: 1, samples: ['waits'] })
  })

  test('that fail by the thousand are one match with their number, and the others are not told of later', async () => {
    for (let made = 0; made < 1_000; made += 1) fail(`flow-${made}`, ago(1_000 - made / 10))
    const { match } = await next()
    expect([match?.count, match?.samples.length]).toEqual([1_000, 10])
    expect((await next()).match).toBeNull()
    // Flows that recover make room among those that are looked at.
    for (let made = 950; made < 1_000; made += 1)
      store.add(eventLog({ correlationKey: `flow-${made}`, timestamp: ago(0) }))
    now += MINUTE
    expect((await next()).match).toBeNull()
    fail('one more')
    expect((await next()).match).toEqual({ count: 1, samples: ['one more'] })
  })

  test('that are dated ahead by the hundred hide no others', async () => {
    for (let made = 0; made < 250; made += 1) fail(`ahead-${made}`, ago(-60 * MINUTE - made))
    fail('one')
    expect((await next()).match?.count).toBeGreaterThan(200)
    now += MINUTE
    fail('another')
    expect((await next()).match).toEqual({ count: 1, samples: ['another'] })
    expect((await next()).match).toBeNull()
  })

  test('are remembered in bounds', async () => {
    for (let round = 0; round < 5; round += 1) {
      for (let made = 0; made < 190; made += 1) fail(`flow-${round}-${made}`, ago(1_000 - made))
      now += MINUTE
      const { match, memory } = await next()
      expect(match?.count).toBeGreaterThanOrEqual(190)
      expect(memory.told.length).toBeLessThanOrEqual(500)
    }
    expect((await next()).match).toBeNull()
  })
})

describe('groups', () => {
  const thrown = (type: string, timestamp = ago(1_000), fields = {}) =>
    store.add(
      applicationLog({
        level: 'Error',
        exception: `${type}: it broke\n   at Acme.Shop.${type}()`,
        timestamp,
        ...fields,
      }),
    )

  beforeEach(() => {
    watch = knownWatch({ since: ago(10 * MINUTE), condition: { type: 'newGroup', by: 'exception', params: {} } })
  })

  test('that were there before the watch are known, and new ones are told of once', async () => {
    thrown('OldError', ago(20 * MINUTE))
    thrown('OldError')
    expect((await next()).match).toBeNull()
    thrown('NewError')
    expect((await next()).match).toEqual({ count: 1, samples: ['NewError'] })
    thrown('NewError')
    expect((await next()).match).toBeNull()
  })

  test('are those of the logs that the parameters select', async () => {
    watch = { ...watch, condition: { type: 'newGroup', by: 'exception', params: { environment: 'Production' } } }
    thrown('TestError')
    expect((await next()).match).toBeNull()
    thrown('TestError', ago(1_000), { environment: 'Production' })
    expect((await next()).match).toEqual({ count: 1, samples: ['TestError'] })
  })

  test('of messages are those of their templates', async () => {
    watch = { ...watch, condition: { type: 'newGroup', by: 'template', params: {} } }
    store.add(applicationLog({ message: 'order 4711 was lost', timestamp: ago(1_000) }))
    store.add(applicationLog({ message: 'order 4712 was lost', timestamp: ago(900) }))
    expect((await next()).match?.count).toBe(1)
    store.add(applicationLog({ message: 'order 4713 was lost', timestamp: ago(800) }))
    expect((await next()).match).toBeNull()
  })

  test('are told of also after a clock that was a year ahead was set back', async () => {
    watch = { ...watch, since: ago(-8_760 * 60 * MINUTE) }
    thrown('OldError')
    expect((await next()).match).toBeNull()
    now += MINUTE
    thrown('OldError')
    thrown('NewError')
    expect((await next()).match).toEqual({ count: 1, samples: ['NewError'] })
    const { memory } = await next()
    expect((await next()).memory).toBe(memory)
  })

  test('that are too many are told of in part, and the watch says so', async () => {
    for (let made = 0; made < 230; made += 1)
      thrown(`Error${String.fromCharCode(97 + (made % 26), 97 + Math.floor(made / 26))}`)
    const { match, problem } = await next()
    expect(match?.count).toBe(20)
    expect(problem).toMatch(/^There are more than 200 groups within the last hour/)
    const calls = store.calls.length
    await next()
    expect(store.calls.length - calls).toBeLessThan(30)
  })
})
