import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TOPICS } from '../../../../shared/contract/topics.ts'
import { AppendError, type Subscription, unpacked } from '../../../../shared/journal/journal.ts'
import { ReadNotBegunError } from '../../../../shared/log-store/log-store.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createOwnership } from '../../../../views/watches/ownership.ts'
import type { Posted } from '../../../../views/watches/poster.ts'
import { stateOf } from '../../../../views/watches/progress.ts'
import type { StoredWatch } from '../../../../views/watches/records.ts'
import { eventually } from '../../../support/eventually.ts'
import { createMemoryJournal, type MemoryJournal } from '../../../support/memory-journal.ts'
import { registryOf } from '../../../support/registry-topic.ts'
import { eventLog } from '../../../support/views-fixture.ts'
import { createObservedLogStore, type ObservedLogStore } from '../../../support/views-store.ts'
import {
  INTERVAL_MS,
  startWatches,
  storedWatch,
  WATCHES,
  type WatchesProcess,
  watchesJournal,
} from '../../../support/watches.ts'

const ID = '0198d5b2-7c1e-4000-8a3b-2f4c6d8e0a1b'
const OTHER = '0198d5b2-7c1e-4000-8a3b-2f4c6d8e0a1c'
const HOUR = 3_600_000
const DAY = 24 * HOUR

let journal: MemoryJournal
let store: ObservedLogStore
let clock: { now(): number; ahead: number }
let processes: WatchesProcess[]

beforeEach(() => {
  clock = { ahead: 0, now: () => systemClock.now() + clock.ahead }
  journal = watchesJournal(clock)
  store = createObservedLogStore()
  processes = []
})
afterEach(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await store.close()
})

async function start(options: Partial<Parameters<typeof startWatches>[0]> = {}): Promise<WatchesProcess> {
  const process = await startWatches({ journal: journal.anotherClient(), store, clock, ...options })
  processes.push(process)
  await eventually(() => process.book.ready())
  return process
}

const since = (): string => new Date(clock.now()).toISOString()
/** Changes a watch, or makes it. */
const put = async ({ book }: Pick<WatchesProcess, 'book'>, fields: Partial<StoredWatch> = {}): Promise<void> => {
  const { revision = 0 } = book.find('a', ID) ?? {}
  expect(await book.put('a', ID, { ...storedWatch(fields), revision })).toBe(true)
}
const errors = (count: number): void => {
  for (let made = 0; made < count; made += 1) store.add(eventLog({ level: 'Error', timestamp: since() }))
}
const looks = async (process: WatchesProcess): Promise<number> => {
  const results = await Promise.all(
    ['clear', 'met', 'error'].map((result) => process.metric('sluice_watch_evaluations_total', result)),
  )
  return results.reduce((sum, one) => sum + one, 0)
}
/** Waits until the evaluator has gone through the watches again and again. */
const severalTicks = async (book: WatchesProcess['book']): Promise<void> => {
  const ticks = vi.spyOn(book, 'all')
  await eventually(() => ticks.mock.calls.length > 20)
  ticks.mockRestore()
}
/** Waits until every watch was looked at again. */
const lookAgain = async (process: WatchesProcess, times = 3): Promise<void> => {
  const before = await looks(process)
  await eventually(async () => expect(await looks(process)).toBeGreaterThanOrEqual(before + times))
}
const known = (process: WatchesProcess, id = ID) => {
  const watch = process.book.find('a', id)
  if (watch === undefined) throw new Error('there is no such watch')
  return { ...watch, now: stateOf(watch) }
}
const outcomes = (process: WatchesProcess, id = ID): string[] =>
  known(process, id).now.history.map(({ outcome }) => outcome)
const failing = async (): Promise<Posted> => ({ delivered: false, status: 500, message: 'The receiver answered 500.' })

describe('a watch', () => {
  test('whose condition becomes true is told of once, with a body that says so, and has it in its history', async () => {
    const process = await start()
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(2)
    await lookAgain(process)
    expect(process.posted).toEqual([])
    errors(1)
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'delivered']))
    errors(3)
    await lookAgain(process)
    expect(process.posted).toHaveLength(1)
    const [{ id, url, body } = { id: '', url: '', body: '' }] = process.posted
    expect([id, url]).toEqual([expect.stringMatching(/^msg_/), 'https://hooks.example.com/'])
    expect(JSON.parse(body)).toEqual({
      type: 'watch.fired',
      timestamp: expect.any(String),
      data: {
        team: { id: 'a', name: 'Team A' },
        watch: { id: ID, name: 'Errors', condition: storedWatch().condition },
        text: '3 logs within 5 min, more than 2.',
        count: 3,
        samples: [],
        others: 3,
        url: null,
      },
    })
    expect(known(process).now.delivery).toBeNull()
    await eventually(() => expect(known(process).lastEvaluatedAt).toEqual(expect.any(String)))
  })

  test('shows when it was looked at also where that could not be written at first', async () => {
    const own = journal.anotherClient()
    let failures = 0
    const append: typeof own.append = (batch) => {
      if (failures > 0 || !String(batch.records.map(unpacked)[0]?.key).startsWith('evaluated/'))
        return own.append(batch)
      failures += 1
      return Promise.reject(new AppendError('no leader', 'not_written'))
    }
    let counts = 0
    const count: typeof store.count = (filter, signal) => {
      counts += 1
      return counts === 1 ? store.count(filter, signal) : hang(signal)
    }
    const process = await start({ journal: { ...own, append }, store: { ...store, count }, deadlineMs: 60_000 })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await eventually(() => expect(known(process).lastEvaluatedAt).toEqual(expect.any(String)))
    expect(failures).toBe(1)
  })

  test('is shown with its latest look also where the process before looks again, which could not write its own', async () => {
    let owner = 'one'
    const own = journal.anotherClient()
    const append: typeof own.append = (batch) =>
      owner === 'one' && clock.ahead === 0 && String(batch.records.map(unpacked)[0]?.key).startsWith('evaluated/')
        ? Promise.reject(new AppendError('no leader', 'not_written'))
        : own.append(batch)
    const one = await start({ journal: { ...own, append }, owns: () => owner === 'one' })
    await one.book.put('a', ID, storedWatch({ since: since() }))
    await lookAgain(one)
    owner = 'two'
    clock.ahead = HOUR
    const two = await start({ writer: 'two', owns: () => owner === 'two' })
    const times = () =>
      journal
        .recordsOf(WATCHES)
        .filter(({ key }) => String(key).startsWith('evaluated/'))
        .map(({ value }) => String(JSON.parse(String(value))[ID]))
    await eventually(() => expect(times()).not.toEqual([]))
    await two.stop()
    const noted = times().length
    owner = 'one'
    await eventually(() => expect(times().length).toBeGreaterThan(noted))
    expect(times()).toEqual(times().toSorted())
  })

  test('that is paused is neither looked at nor told of; once it goes on it begins anew', async () => {
    const process = await start()
    await process.book.put('a', ID, storedWatch({ since: since(), paused: true }))
    await process.book.put(
      'a',
      OTHER,
      storedWatch({
        since: since(),
        condition: { type: 'count', list: 'event-logs', params: {}, more: 99, minutes: 5 },
      }),
    )
    errors(5)
    await lookAgain(process)
    expect(process.posted).toEqual([])
    await put(process, { since: since() })
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'delivered']))
  })

  test('is looked at as often after the time of day was set back', async () => {
    const process = await start()
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await lookAgain(process)
    clock.ahead -= HOUR
    await lookAgain(process)
  })

  test('that is deleted leaves nothing on the topic', async () => {
    const process = await start({ answer: failing })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(outcomes(process)).toContain('failed'))
    await process.book.remove('a', ID)
    await eventually(() => {
      const last = new Map(journal.recordsOf(WATCHES).map(({ key, value }) => [String(key), value]))
      expect([last.get(`watch/a/${ID}`), last.get(`state/a/${ID}`)]).toEqual([null, null])
      expect(process.book.find('a', ID)).toBeUndefined()
    })
  })

  test('of a Team that was deleted is deleted too, but not when the registry was lost', async () => {
    const { book, stop } = await start()
    await book.put('gone', OTHER, storedWatch())
    await book.put('a', ID, storedWatch())
    const looked = vi.spyOn(book, 'all')
    await eventually(() => looked.mock.calls.length > 3)
    expect(book.find('gone', OTHER)).toBeDefined()
    clock.ahead += HOUR
    await eventually(() => book.find('a', ID) !== undefined && book.find('gone', OTHER) === undefined)
    await stop()
    let present = registryOf('teams: []')
    const team = (id: string) => present.team(id)
    const lost = await start({ registry: { ...present, team, teams: () => present.teams() } })
    const ticks = vi.spyOn(lost.book, 'all')
    await eventually(() => ticks.mock.calls.length > 3)
    clock.ahead += HOUR
    // The first Team of those that are restored.
    present = registryOf('teams: [{ id: other, name: Other }]')
    const restored = ticks.mock.calls.length
    await eventually(() => ticks.mock.calls.length > restored + 3)
    expect(lost.book.find('a', ID)).toBeDefined()
  })

  test('of a Team that is missing for a while stays, also if the time of day is set ahead', async () => {
    let passed = 0
    const process = await start({ steady: { now: () => passed } })
    const { book } = process
    await book.put('gone', OTHER, storedWatch())
    await severalTicks(book)
    clock.ahead += HOUR
    passed = HOUR - 1
    await severalTicks(book)
    expect(book.find('gone', OTHER)).toBeDefined()
    expect(await looks(process)).toBe(0)
  })

  test('whose condition cannot be evaluated says so once, and that it can again; others go on', async () => {
    const process = await start()
    await process.book.put('b', OTHER, storedWatch({ since: since() }))
    const broken = { type: 'count', list: 'event-logs', params: { level: 'Loud' }, more: 2, minutes: 5 } as const
    await process.book.put('a', ID, storedWatch({ since: since(), condition: broken }))
    await eventually(() => expect(outcomes(process)).toEqual(['error']))
    expect(known(process).now.error).toMatch(/^level: must be one of/)
    await lookAgain(process, 10)
    expect(outcomes(process)).toEqual(['error'])
    store.add(...[1, 2, 3].map(() => eventLog({ level: 'Error', timestamp: since(), team: 'b' })))
    await eventually(() => expect(process.posted).toHaveLength(1))
    await put(process, { since: known(process).since })
    await eventually(() => expect(outcomes(process)).toEqual(['error', 'recovered']))
  })

  test.each(['fails', 'breaks'])(
    'whose evaluation %s is looked at ever more seldom, up to 32 intervals, until it is changed',
    async (how) => {
      let [time, looked, isBroken] = [0, 0, false]
      const steady = vi.spyOn(performance, 'now').mockImplementation(() => time)
      const count = async (): Promise<number> => {
        looked += 1
        isBroken = how === 'breaks'
        throw new Error('down')
      }
      const now = (): number => {
        if (!isBroken) return clock.now()
        isBroken = false
        throw new Error('broken')
      }
      try {
        const { book } = await start({ store: { ...store, count }, clock: { now }, steady: clock })
        await book.put('a', ID, storedWatch({ since: since() }))
        for (const [times, intervals] of [2, 4, 8, 16, 32, 32].entries()) {
          await eventually(() => looked === times + 1)
          await severalTicks(book)
          time += intervals * INTERVAL_MS - 1
          await severalTicks(book)
          expect(looked).toBe(times + 1)
          time += 1
        }
        await eventually(() => looked === 7)
        await put({ book }, { since: '2026-02-01T12:00:00.000Z' })
        await eventually(() => looked === 8)
      } finally {
        steady.mockRestore()
      }
    },
  )

  test('whose store answers nothing at all does not blame the condition', async () => {
    const silent = { ...store, count: (_filter: unknown, signal?: AbortSignal) => hang(signal), health: () => hang() }
    const process = await start({ store: silent as never, deadlineMs: 30 })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await eventually(() => expect(known(process).now.error).toBe('The log store could not answer.'))
  })

  test('whose read waited for others until the deadline does not blame the condition either', async () => {
    const busy = {
      ...store,
      count: (_filter: unknown, signal?: AbortSignal) =>
        hang(signal).catch(() => Promise.reject(new ReadNotBegunError())),
    }
    const process = await start({ store: busy as never, deadlineMs: 30 })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await eventually(() => expect(known(process).now.error).toBe('The log store was busy with other reads.'))
  })

  test('whose condition never answers is given up at the deadline and says so, and the store that is down is told of', async () => {
    const hung = { ...store, count: (_filter: unknown, signal?: AbortSignal) => hang(signal) }
    const process = await start({ store: hung as never, deadlineMs: 30 })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await eventually(() =>
      expect(known(process).now.error).toBe(
        'The condition took longer than 0.03 seconds. Narrow its search or shorten its time.',
      ),
    )
    const other = await start({
      store: { ...store, count: async () => Promise.reject(new Error('down')) },
      writer: 'two',
    })
    await eventually(() => expect(known(other).now.error).toBe('The log store could not answer.'))
  })
})

const hang = (signal?: AbortSignal) =>
  new Promise<number>((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )

describe('many watches', () => {
  const TEAMS = ['a', 'b', 'c', 'd', 'e']
  const many = registryOf(`teams: [${TEAMS.map((id) => `{ id: ${id}, name: ${id} }`).join()}]`)
  const putTwoEach = async ({ book }: WatchesProcess): Promise<void> => {
    for (const team of TEAMS) for (const id of [ID, OTHER]) await book.put(team, id, storedWatch({ since: since() }))
  }

  test('are evaluated two at a time, and one of a Team', async () => {
    const counted: string[] = []
    const count: typeof store.count = ({ team }, signal) => {
      counted.push(team)
      return hang(signal)
    }
    const process = await start({ store: { ...store, count }, registry: many, deadlineMs: 60_000 })
    for (const id of [ID, OTHER]) await process.book.put('a', id, storedWatch({ since: since() }))
    await severalTicks(process.book)
    expect(counted).toEqual(['a'])
    await putTwoEach(process)
    await severalTicks(process.book)
    expect(counted).toHaveLength(2)
  })

  test('of one Team take turns, however long each takes', async () => {
    let time = 0
    const steady = vi.spyOn(performance, 'now').mockImplementation(() => time)
    try {
      const counted: (string | null)[] = []
      let isSlow = false
      const count: typeof store.count = async ({ environment }) => {
        counted.push(environment)
        time += 10 * INTERVAL_MS
        if (isSlow && counted.length < 9) await severalTicks(book)
        return 0
      }
      const { book } = await start({ store: { ...store, count } })
      const names = ['first', 'second', 'third']
      for (const [index, environment] of names.entries()) {
        const condition = { type: 'count', list: 'event-logs', params: { environment }, more: 2, minutes: 5 } as const
        await book.put('a', ID.replace(/.$/, String(index)), storedWatch({ since: since(), condition }))
      }
      isSlow = true
      counted.length = 0
      await eventually(() => counted.length >= 9)
      expect([...new Set(counted.slice(0, 9))].toSorted()).toEqual(names)
    } finally {
      steady.mockRestore()
    }
  })

  test('are posted eight at a time', async () => {
    const answered = Promise.withResolvers<Posted>()
    const process = await start({
      store: { ...store, count: async () => 3 },
      registry: many,
      answer: () => answered.promise,
    })
    await putTwoEach(process)
    await eventually(() => process.posted.length >= 8)
    await severalTicks(process.book)
    expect(process.posted).toHaveLength(8)
    answered.resolve({ delivered: true, status: 200, message: '' })
    await eventually(() => expect(process.posted).toHaveLength(10))
  })
})

describe('a receiver that fails', () => {
  test('is tried again with the same message, ever more seldom, and given up after a day', async () => {
    const process = await start({ answer: failing })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'failed']))
    const { delivery } = known(process).now
    expect(delivery).toMatchObject({ attempts: 1, reason: 'The receiver answered 500.' })
    // Nothing is posted before its time.
    await lookAgain(process)
    expect(process.posted).toHaveLength(1)
    for (let attempts = 2; outcomes(process).at(-1) !== 'gave_up'; attempts += 1) {
      const next = Date.parse(known(process).now.delivery?.nextAt ?? '')
      clock.ahead += next - clock.now() + 1
      await eventually(() => expect(process.posted).toHaveLength(attempts))
      await eventually(() =>
        expect(known(process).now.delivery === null || known(process).now.delivery?.attempts === attempts).toBe(true),
      )
      await eventually(() => expect(outcomes(process).filter((one) => one === 'failed')).toHaveLength(attempts))
      expect(attempts).toBeLessThan(20)
    }
    expect(new Set(process.posted.map(({ id }) => id)).size).toBe(1)
    expect(process.posted).toHaveLength(13)
    // Each delay is up to a fifth longer or shorter, by chance.
    const took = Date.parse(known(process).now.history.at(-1)?.at ?? '') - Date.parse(delivery?.at ?? '')
    expect(took).toBeLessThan(1.2 * DAY + HOUR)
    expect(await process.metric('sluice_watch_deliveries_total', 'gave_up')).toBe(1)
  })

  test('is tried again without an evaluation at the same time, also where both are due', async () => {
    let [time, looked, posted] = [0, 0, 0]
    const steady = vi.spyOn(performance, 'now').mockImplementation(() => time)
    const count = async (): Promise<number> => {
      looked += 1
      return 3
    }
    const answer = Promise.withResolvers<Posted>()
    try {
      const process = await start({
        store: { ...store, count },
        answer: () => {
          posted += 1
          return posted === 1 ? failing() : answer.promise
        },
      })
      await process.book.put('a', ID, storedWatch({ since: since() }))
      await eventually(() => outcomes(process).at(-1) === 'failed')
      await severalTicks(process.book)
      expect(looked).toBe(1)
      clock.ahead += HOUR
      time += INTERVAL_MS
      await eventually(() => posted === 2)
      await severalTicks(process.book)
      expect(looked).toBe(1)
      answer.resolve({ delivered: true, status: 200, message: '' })
      await eventually(() => looked === 2)
    } finally {
      steady.mockRestore()
    }
  })

  test('gets what happened meanwhile as one message, once it takes messages again', async () => {
    let isDown = true
    const process = await start({
      answer: async (message) => (isDown ? failing() : { delivered: true, status: 200, message: message.id }),
    })
    await process.book.put(
      'a',
      ID,
      storedWatch({ since: since(), condition: { type: 'flows', state: 'failed', event: null } }),
    )
    const fail = (key: string) => store.add(eventLog({ correlationKey: key, level: 'Error', timestamp: since() }))
    fail('first')
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'failed']))
    for (const key of ['second', 'third', 'fourth']) {
      fail(key)
      await eventually(() =>
        expect(outcomes(process).filter((one) => one === 'fired')).toHaveLength(
          ['', 'second', 'third', 'fourth'].indexOf(key) + 1,
        ),
      )
    }
    expect(process.posted).toHaveLength(1)
    isDown = false
    clock.ahead += 60_000
    await eventually(() => expect(outcomes(process).filter((one) => one === 'delivered')).toHaveLength(2))
    expect(process.posted.map(({ body }) => JSON.parse(body).data.samples)).toEqual([
      ['first'],
      ['first'],
      ['second', 'third', 'fourth'],
    ])
    expect(new Set(process.posted.map(({ id }) => id)).size).toBe(2)
  })

  test.each([
    { what: 'a clock that was a year ahead was set back', before: 365 * DAY, after: 0 },
    { what: 'the clock was set two days ahead', before: 0, after: 2 * DAY },
  ])('is tried again after $what', async ({ before, after }) => {
    let isDown = true
    const process = await start({
      answer: async (message) => (isDown ? failing() : { delivered: true, status: 200, message: message.id }),
    })
    clock.ahead = before
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'failed']))
    clock.ahead = after
    if (after > before) {
      await eventually(() => expect(outcomes(process)).toEqual(['fired', 'failed', 'failed']))
      clock.ahead += HOUR
    }
    isDown = false
    await eventually(() => expect(outcomes(process).at(-1)).toBe('delivered'))
    expect(outcomes(process)).not.toContain('gave_up')
  })

  test('that never answers holds up no other Team', async () => {
    const process = await start({
      answer: (message) =>
        message.body.includes('"id":"a"')
          ? new Promise(() => undefined)
          : Promise.resolve({ delivered: true, status: 200, message: '' }),
    })
    processes.pop()
    for (let made = 0; made < 10; made += 1)
      await process.book.put(
        'a',
        ID.replace(/.$/, String(made)),
        storedWatch({ since: since(), name: `Watch ${made}` }),
      )
    await process.book.put('b', OTHER, storedWatch({ since: since() }))
    errors(3)
    store.add(...[1, 2, 3].map(() => eventLog({ level: 'Error', timestamp: since(), team: 'b' })))
    await eventually(() => expect(process.posted.filter(({ body }) => body.includes('"id":"b"'))).toHaveLength(1))
    expect(process.posted.filter(({ body }) => body.includes('"id":"a"')).length).toBeLessThanOrEqual(2)
    await process.stop(0)
  })
})

describe('two processes', () => {
  test('that both take themselves for the one that evaluates tell of each firing once', async () => {
    const [one, two] = [await start({ writer: 'one' }), await start({ writer: 'two' })]
    const ids = Array.from({ length: 10 }, (_, made) => ID.replace(/.$/, String(made)))
    for (const id of ids) await one.book.put('a', id, storedWatch({ since: since(), name: id }))
    for (let round = 1; round <= 3; round += 1) {
      errors(3)
      await eventually(() => expect(one.posted.length + two.posted.length).toBe(round * ids.length))
      await Promise.all([lookAgain(one, 20), lookAgain(two, 20)])
      await eventually(() => {
        for (const id of ids) expect(known(one, id).now.delivery).toBeNull()
      })
      expect(one.posted.length + two.posted.length).toBe(round * ids.length)
      clock.ahead += 6 * 60_000
      await eventually(() => {
        for (const id of ids) expect(known(one, id).now.memory.isMet).toBe(false)
      })
    }
    const all = [...one.posted, ...two.posted].map(({ id }) => id)
    expect(new Set(all).size).toBe(all.length)
  })

  test('of which the one that posted is gone: the other posts the same message again in time', async () => {
    const one = await start({ writer: 'one', answer: () => new Promise(() => undefined) })
    processes.pop()
    await one.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(one.posted).toHaveLength(1))
    const two = await start({ writer: 'two' })
    await lookAgain(two)
    expect(two.posted).toEqual([])
    // For all that is known, it still posts.
    clock.ahead += 17_000
    await lookAgain(two)
    expect(two.posted).toEqual([])
    clock.ahead += 6_000
    await eventually(() => expect(outcomes(two)).toEqual(['fired', 'delivered']))
    expect(two.posted.map(({ id }) => id)).toEqual(one.posted.map(({ id }) => id))
    await one.stop(0)
  })

  test('of which one stops while it evaluates: nothing is noted', async () => {
    const counting = Promise.withResolvers<AbortSignal | undefined>()
    const count: typeof store.count = (_filter, signal) => {
      counting.resolve(signal)
      return hang(signal)
    }
    const one = await start({ writer: 'one', store: { ...store, count }, deadlineMs: 60_000 })
    await one.book.put('a', ID, storedWatch({ since: since() }))
    const signal = await counting.promise
    await one.stop()
    expect(signal?.aborted).toBe(true)
    const two = await start({ writer: 'two', owns: () => false })
    expect(outcomes(two)).toEqual([])
  })

  test.each([
    [true, ['fired', 'delivered']],
    [false, ['fired']],
  ])('of which one stops while it posts: delivered or cut off is %j, and is noted as %j', async (delivered, noted) => {
    const answer = Promise.withResolvers<Posted>()
    const own = journal.anotherClient()
    let isOpen = true
    const append: typeof own.append = (batch) =>
      isOpen ? own.append(batch) : Promise.reject(new AppendError('it is closed', 'not_written'))
    const one = await start({ writer: 'one', journal: { ...own, append }, answer: () => answer.promise })
    processes.pop()
    const two = await start({ writer: 'two', owns: () => false })
    await one.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(one.posted).toHaveLength(1))
    const stopped = one.stop().then(() => {
      isOpen = false
    })
    setImmediate(() => answer.resolve({ delivered, status: null, message: '' }))
    await stopped
    await two.book.put('a', OTHER, storedWatch({ since: since() }))
    await eventually(() => expect(two.book.find('a', OTHER)?.name).toBe('Errors'))
    expect(outcomes(two)).toEqual(noted)
  })

  test('of which one does not own the watches do nothing twice', async () => {
    let owner = 'one'
    const [one, two] = [
      await start({ writer: 'one', owns: () => owner === 'one' }),
      await start({ writer: 'two', owns: () => owner === 'two' }),
    ]
    await one.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(outcomes(two)).toEqual(['fired', 'delivered']))
    expect([one.posted.length, two.posted.length, await looks(two)]).toEqual([1, 0, 0])
    owner = 'two'
    await lookAgain(two)
    expect(two.posted).toEqual([])
  })

  test('of which two change a watch at once: the first change counts, and none undoes a deletion', async () => {
    const [one, two] = [await start({ writer: 'one' }), await start({ writer: 'two', owns: () => false })]
    await put(one, { since: since() })
    await eventually(() => expect(two.book.find('a', ID)).toBeDefined())
    const { team: _team, id: _id, state: _state, lastEvaluatedAt: _at, ...seen } = known(two)
    const put1 = one.book.put('a', ID, { ...seen, name: 'One' })
    expect(await Promise.all([put1, two.book.put('a', ID, { ...seen, name: 'Two' })])).toEqual([true, false])
    expect([known(one).name, known(two).name]).toEqual(['One', 'One'])
    await one.book.remove('a', ID)
    expect(await two.book.put('a', ID, { ...seen, revision: 9 })).toBe(false)
    const last = () => journal.recordsOf(WATCHES).findLast(({ key }) => String(key).startsWith('watch/'))
    await eventually(() => expect(last()?.value).toBeNull())
    journal.compact(WATCHES)
    expect((await start({ writer: 'three', owns: () => false })).book.all()).toEqual([])
  })

  test('come to the same states after compaction, also if one wrote a state that came too late', async () => {
    const [one, late] = [await start({ writer: 'one' }), await start({ writer: 'late', owns: () => false })]
    await one.book.put('a', ID, storedWatch({ since: since() }))
    await lookAgain(one)
    await eventually(() => expect(known(late).state).toBeDefined())
    const seen = known(late)
    errors(3)
    await eventually(() => expect(outcomes(one)).toEqual(['fired', 'delivered']))
    expect(await late.book.advance(seen, seen.now)).toBe(false)
    const lastState = () => journal.recordsOf(WATCHES).findLast(({ key }) => String(key).startsWith('state/'))
    await eventually(() => expect(JSON.parse(String(lastState()?.value))).toEqual(known(one).state))
    journal.compact(WATCHES)
    const two = await start({ writer: 'two', owns: () => false })
    expect(known(two).state).toEqual(known(one).state)
  })
})

describe('a journal', () => {
  test('that does not take a state leaves the firing to the next look', async () => {
    const process = await start()
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await lookAgain(process)
    journal.failAppends('not_written', 3)
    errors(3)
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'delivered']))
    expect(process.posted).toHaveLength(1)
  })

  test('that may have taken a state is asked what stands', async () => {
    const process = await start()
    await process.book.put('a', ID, storedWatch({ since: since() }))
    await lookAgain(process)
    errors(3)
    for (let times = 0; times < 5; times += 1) journal.failAppends('unknown')
    await eventually(() => expect(outcomes(process)).toContain('fired'))
    clock.ahead += 60_000
    await eventually(() => expect(outcomes(process).at(-1)).toBe('delivered'))
    expect(new Set(process.posted.map(({ id }) => id)).size).toBe(1)
  })

  test('that takes no attempt gets none: nothing is posted that is not noted before', async () => {
    const own = journal.anotherClient()
    let refused = 0
    const append: typeof own.append = (batch) => {
      if (refused === 3 || !String(batch.records.map(unpacked)[0]?.value).includes('"attempts":1'))
        return own.append(batch)
      refused += 1
      expect(process.posted).toEqual([])
      return Promise.reject(new AppendError('no leader', 'not_written'))
    }
    const process = await start({ journal: { ...own, append } })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(() => expect(outcomes(process)).toEqual(['fired', 'delivered']))
    expect([refused, process.posted.length]).toEqual([3, 1])
  })

  test('that takes no outcome of a post is asked again for a while', async () => {
    const own = journal.anotherClient()
    let [isDown, asked] = [false, 0]
    const append: typeof own.append = (batch) => {
      if (!isDown) return own.append(batch)
      if (String(batch.records.map(unpacked)[0]?.key).startsWith('state/')) asked += 1
      return Promise.reject(new AppendError('no leader', 'not_written'))
    }
    const process = await start({
      journal: { ...own, append },
      answer: async () => {
        isDown = true
        return { delivered: true, status: 200, message: '' }
      },
    })
    await process.book.put('a', ID, storedWatch({ since: since() }))
    errors(3)
    await eventually(async () => expect(await process.metric('sluice_watch_deliveries_total', 'delivered')).toBe(1))
    expect(asked).toBe(30)
    expect(process.posted).toHaveLength(1)
  })

  test('without the topic is asked again until there is one', async () => {
    journal = createMemoryJournal()
    const process = await startWatches({ journal, store, clock })
    processes.push(process)
    await wait(0)
    expect(process.book.ready()).toBe(false)
    await journal.createTopics([{ ...TOPICS.watches, name: WATCHES }])
    await eventually(() => process.book.ready())
  })
})

describe('the ownership', () => {
  test('is given up by a process that joined only while it stopped', async () => {
    const joining = Promise.withResolvers<Subscription>()
    const done = Promise.withResolvers<void>()
    const ownership = createOwnership({
      journal: {
        subscribe: ({ onAssigned }) => {
          onAssigned?.(1, 'assigned')
          return joining.promise
        },
      },
      ...{ topic: WATCHES, group: WATCHES, clock, logger: createLogger('silent', 'test') },
    })
    await ownership.start()
    const stopped = ownership.stop(clock.now() + 10_000)
    const close = vi.fn(async () => done.resolve())
    joining.resolve({ done: done.promise, health: () => ({ name: 'group', ready: true }), close })
    await stopped
    expect(close).toHaveBeenCalled()
    expect(ownership.owns()).toBe(false)
  })

  test('is lost with its subscription, and the health says why; the subscription is closed', async () => {
    const done = Promise.withResolvers<void>()
    const close = vi.fn(async () => undefined)
    const ownership = createOwnership({
      journal: {
        subscribe: async ({ onAssigned }) => {
          onAssigned?.(1, 'assigned')
          return { done: done.promise, health: () => ({ name: 'group', ready: true }), close }
        },
      },
      ...{ topic: WATCHES, group: WATCHES, clock, logger: createLogger('silent', 'test') },
    })
    await ownership.start()
    await eventually(async () => expect(await ownership.health()).toMatchObject({ ready: true }))
    expect(ownership.owns()).toBe(true)
    done.reject(new Error('the journal is gone'))
    const lost = { ready: false, reason: 'the journal is gone' }
    await eventually(async () => expect(await ownership.health()).toMatchObject(lost))
    await eventually(() => !ownership.owns())
    expect(close).toHaveBeenCalledOnce()
    await ownership.stop(clock.now() + 10_000)
  })

  test('tells of a topic that takes no states, and takes no process out of service', async () => {
    let reason: string | null = null
    const ownership = createOwnership({
      journal: { ...watchesJournal(), refusalOf: async () => reason },
      ...{ topic: WATCHES, group: WATCHES, clock, logger: createLogger('silent', 'test') },
    })
    await ownership.start()
    await eventually(async () => expect(await ownership.health()).toEqual({ name: 'watches', ready: true }))
    reason = `the right to write ${WATCHES} is missing`
    expect(await ownership.health()).toEqual({ name: 'watches', ready: true, reason })
    await ownership.stop(clock.now() + 10_000)
  })
})
