import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { LEVELS, levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps, timestampOf, toNanos } from '../../shared/contract/timestamp.ts'
import { readStatistics } from '../../views/api/flow-statistics.ts'
import type { Names } from '../../views/api/names.ts'
import type { EventStatistics } from '../../views/schemas/answers.ts'
import { applicationDocument, eventDocument, NOON } from '../support/documents.ts'
import * as fc from '../support/fast-check.ts'
import { deltasOf } from './log-store-flows.ts'
import { flowsOf, newTeam, type Rig } from './log-store-rig.ts'

const STEPS: Readonly<Record<string, readonly string[]>> = {
  order: ['order.validate', 'order.pay', 'order.ship'],
  refund: ['refund.check', 'refund.pay'],
}
const EVENTS = Object.keys(STEPS)

const named = (identifier: string) => ({ identifier, name: null })
const stepsOf = (event: string) =>
  (STEPS[event] ?? []).map((identifier, index) => {
    return { kind: 'step', identifier, team: '', name: '', event, order: index + 1 } as const
  })
const names: Names = {
  event: named,
  step: named,
  project: (id) => ({ id, name: null }),
  inQuery: (query) => query,
  stepsOf,
  processes: () => EVENTS.map((event) => [event, stepsOf(event)]),
}

/** When the statistics are asked for, and the times that flows wait before some Steps. */
const BEGIN = Date.parse(NOON)
const now = BEGIN + 600_000
const waits = new Map([
  ['order.validate', 300_000],
  ['order.pay', 60_000],
  ['order.ship', 500_000],
])

/** One entry: its flow, its place in one, when it was written and how many days later it arrived, and how often it was stored. */
const sent = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  // Also a Step that the registry does not have, logs of the Event itself, and application logs.
  place: fc.constantFrom(
    ...EVENTS.flatMap((event) => [[event, null], ...(STEPS[event] ?? []).map((step) => [event, step])]),
    ['order', 'order.gone'],
    null,
  ),
  // Few instants, so that some are the same, and some apart by less than a millisecond.
  at: fc.tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom('', '0001', '999999')),
  level: fc.constantFrom(...LEVELS.slice(2)),
  daysLate: fc.nat({ max: 2 }),
  times: fc.integer({ min: 1, max: 2 }),
})
type Sent = typeof sent extends fc.Arbitrary<infer Value> ? Value : never

function documentOf(team: string, { key, place, at: [tens, digits], level, daysLate }: Sent): EntryDocument {
  const timestamp = timestampOf(BEGIN + tens * 10_000).replace('Z', `${digits}Z`)
  const receivedAt = timestampOf(BEGIN + daysLate * 86_400_000 + 3_600_000)
  const fields = { team, correlationKey: key, timestamp, receivedAt, level }
  return place === null
    ? applicationDocument(fields)
    : eventDocument({ ...fields, event: place[0] ?? null, step: place[1] ?? null })
}

export function flowStatisticsContract(rig: Rig): void {
  describe('statistics of flows', () => {
    test('are those of somebody who counts the entries, in whatever order, however often and late they were stored', async () => {
      const property = fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 40 }),
        fc.nat(),
        async (all, seed) => {
          const team = newTeam()
          const documents = all.map((one) => documentOf(team, one))
          const repeated = documents.flatMap((document, index) => Array(all[index]?.times ?? 1).fill(document))
          for (const part of [repeated.filter((_, index) => (index + seed) % 3 > 0), repeated]) {
            await rig.put(...part)
            await rig.mergeFlows(...deltasOf(part))
          }
          const signal = new AbortController().signal
          for (const event of [null, 'order'])
            await rig.settled(async () => {
              const read = await readStatistics(rig.store, flowsOf(team, { event }), names, { now, waits }, signal)
              const counted = EVENTS.filter((one) => event === null || one === event).map((one) =>
                count(documents, one),
              )
              expect(Object.fromEntries(read.items.map((item) => [item.event.identifier, item]))).toEqual(
                Object.fromEntries(
                  counted.filter(({ started }) => started > 0).map((item) => [item.event.identifier, item]),
                ),
              )
              const few = await readStatistics(rig.store, flowsOf(team, { event }), names, { now, waits }, signal, 2)
              expect(few.items.map(countsOf)).toEqual(read.items.map(countsOf))
              expect(few.sampled).toBe(Math.min(2, read.sampled))
              const keys = new Set(documents.filter((one) => event === null || one.event === event).map(keyOf))
              expect(read).toMatchObject({ sampled: keys.size, complete: true, more: false })
            })
        },
      )
      await fc.assert(property, { numRuns: 10 })
    }, 180_000)
  })
}

/** The counts of all flows, however few are sampled; without the Step that the registry does not have, which may be missing then. */
const countsOf = ({ event, started, running, stalled, failed, finished, steps }: EventStatistics) => ({
  ...{ event, started, running, stalled, failed, finished },
  steps: steps
    .filter(({ step }) => step.identifier !== 'order.gone')
    .map(({ step, reached, share }) => ({ step, reached, share })),
})

const keyOf = ({ correlationKey }: EntryDocument): string => correlationKey ?? ''

type Entries = readonly EntryDocument[]

/** The statistics of an Event, counted one thing at a time. */
function count(documents: Entries, event: string) {
  const flows = [...Map.groupBy(documents, keyOf).values()].filter((flow) => flow.some((one) => one.event === event))
  const isIn = (state: string) => flows.filter((flow) => stateOf(flow) === state)
  const registered = STEPS[event] ?? []
  const seen = new Set(
    documents.filter((one) => one.event === event && one.step !== null).map(({ step }) => step ?? ''),
  )
  return {
    event: named(event),
    started: flows.length,
    running: isIn('running').length,
    stalled: isIn('stalled').length,
    failed: isIn('failed').length,
    finished: isIn('finished').length,
    duration: durations(
      isIn('finished').map((flow) => {
        const times = timesOf(flow.filter((one) => one.event === event))
        return between(times[0] ?? '', times.at(-1) ?? '')
      }),
    ),
    steps: [...new Set([...registered, ...seen])].map((step) => {
      const reached = flows.filter((flow) => flow.some((one) => one.event === event && one.step === step))
      const waiting = isIn('stalled').filter((flow) => nextOf(flow, event) === step)
      return {
        step: named(step),
        reached: reached.length,
        share: reached.length / flows.length,
        duration: durations(reached.flatMap((flow) => timeTo(flow, event, step))),
        stalled: waiting.length,
      }
    }),
  }
}

/** The time to a Step from the latest of the first logs that come before its own; of those at one time, in the order of their names. */
function timeTo(flow: Entries, event: string, step: string): readonly number[] {
  const own = flow.filter((one) => one.event === event)
  const firstOf = (place: string | null): string => timesOf(own.filter((one) => one.step === place))[0] ?? ''
  const isBefore = (place: string | null): boolean => {
    const difference = compareTimestamps(firstOf(place), firstOf(step))
    return difference < 0 || (difference === 0 && (place ?? '') < step)
  }
  const before = timesOf(own.filter((one) => one.step !== step && isBefore(one.step)))
  const firsts = before.filter((time) =>
    own.some((one) => firstOf(one.step) === time && one.step !== step && isBefore(one.step)),
  )
  return firsts.length === 0 ? [] : [between(firsts.at(-1) ?? '', firstOf(step))]
}

function stateOf(flow: Entries): string {
  const isError = (one: EntryDocument): boolean => levelRank(one.level) >= levelRank('Error')
  const last = timesOf(flow).at(-1) ?? ''
  const lastError = timesOf(flow.filter(isError)).at(-1)
  const lastProgress = timesOf(flow.filter((one) => one.kind === 'event' && !isError(one))).at(-1)
  if (lastError !== undefined && compareTimestamps(lastError, lastProgress ?? last) >= 0) return 'failed'
  const silent = (wait: number): boolean => compareTimestamps(last, timestampOf(now - wait)) <= 0
  const next = EVENTS.filter((event) => flow.some((one) => one.event === event)).flatMap(
    (event) => nextOf(flow, event) ?? [],
  )
  if (next.length > 0) {
    const known = next.filter((step) => waits.has(step))
    return (known.length > 0 ? known : next).some((step) => silent(waits.get(step) ?? 300_000)) ? 'stalled' : 'running'
  }
  const isClosed = flow.some((one) => one.event !== null) && flow.some((one) => one.step !== null)
  return isClosed || silent(300_000) ? 'finished' : 'running'
}

function nextOf(flow: Entries, event: string): string | undefined {
  const steps = STEPS[event] ?? []
  const seen = flow.map(({ step }) => step)
  return steps[steps.findLastIndex((step) => seen.includes(step)) + 1]
}

const timesOf = (entries: Entries): readonly string[] => entries.map((one) => one.timestamp).toSorted(compareTimestamps)

const between = (from: string, to: string): number => Number((toNanos(to) - toNanos(from)) / 1_000_000n)

function durations(times: readonly number[]) {
  if (times.length === 0) return null
  /** The least of the times that so many of a hundred do not exceed. */
  const percentile = (percent: number) =>
    Math.min(...times.filter((time) => times.filter((one) => one <= time).length * 100 >= percent * times.length))
  return { count: times.length, p50: percentile(50), p95: percentile(95) }
}
