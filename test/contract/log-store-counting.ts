import { describe, expect, test } from 'vitest'
import { levelRank } from '../../shared/contract/levels.ts'
import { fromNanos, timestampOf, toNanos } from '../../shared/contract/timestamp.ts'
import type { EntryFilter, Histogram } from '../../shared/log-store/log-store.ts'
import { applicationDocument, entriesOf, eventDocument, NOON, PROJECT, recordOf } from '../support/documents.ts'
import { queries, documents as someDocuments } from '../support/documents-arbitrary.ts'
import * as fc from '../support/fast-check.ts'
import { newTeam, type Rig } from './log-store-rig.ts'

const NOON_MS = Date.parse(NOON)
const MINUTE_MS = 60_000

export function countingContract(rig: Rig): void {
  describe('the histogram', () => {
    test('counts by level in equal spans, empty ones included, over the range of the filter', async () => {
      const team = newTeam()
      const at = (minutes: number, level: 'Error' | 'Debug') =>
        eventDocument({ team, level, timestamp: timestampOf(NOON_MS + minutes * MINUTE_MS) })
      await rig.put(
        at(0, 'Error'),
        at(0.5, 'Debug'),
        at(0.9, 'Debug'),
        at(3, 'Error'),
        at(9.99, 'Error'),
        at(10, 'Error'),
      )
      const range = { from: NOON, to: timestampOf(NOON_MS + 10 * MINUTE_MS) }
      const histogram = await rig.store.histogram(entriesOf(team, range), 10)
      expectSound(histogram, entriesOf(team, range), 10)
      expect(histogram.total).toBe(5)
      expect(histogram.intervalMs).toBe(MINUTE_MS)
      expect(histogram.buckets.map(({ from }) => Date.parse(from))).toEqual(
        Array.from({ length: 10 }, (_, minute) => NOON_MS + minute * MINUTE_MS),
      )
      expect(histogram.buckets[0]).toMatchObject({ total: 3, levels: { Error: 1, Debug: 2 } })
      expect(histogram.buckets[1]).toMatchObject({ total: 0, levels: {} })
      expect(histogram.buckets[9]).toMatchObject({ total: 1, levels: { Error: 1 } })
    })

    test('without a range it spans the matches', async () => {
      const team = newTeam()
      const times = [0, 7, 59].map((minutes) => timestampOf(NOON_MS + minutes * MINUTE_MS))
      await rig.put(...times.map((timestamp) => applicationDocument({ team, timestamp })))
      const histogram = await rig.store.histogram(entriesOf(team), 60)
      expectSound(histogram, entriesOf(team), 60)
      expect(histogram.total).toBe(3)
      expect(Date.parse(histogram.buckets[0]?.from ?? '')).toBeLessThanOrEqual(NOON_MS)
      expect(histogram.buckets.length).toBeGreaterThan(20)
    })

    test('one end of the range is enough', async () => {
      const team = newTeam()
      const times = [0, 1, 2].map((minutes) => timestampOf(NOON_MS + minutes * MINUTE_MS))
      await rig.put(...times.map((timestamp) => eventDocument({ team, timestamp })))
      for (const range of [{ from: times[1]! }, { to: times[2]! }]) {
        const histogram = await rig.store.histogram(entriesOf(team, range), 50)
        expectSound(histogram, entriesOf(team, range), 50)
        expect(histogram.total).toBe(2)
      }
    })

    test('there are never more buckets than asked for, whatever the range', async () => {
      const team = newTeam()
      const times = ['1970-01-01T00:00:00.000Z', NOON, fromNanos(toNanos(NOON) + 1n), '2261-12-31T23:59:59.999999999Z']
      await rig.put(...times.map((timestamp) => eventDocument({ team, timestamp })))
      for (const bucketsMax of [1, 2, 3, 60, 1_000]) {
        const histogram = await rig.store.histogram(entriesOf(team), bucketsMax)
        expectSound(histogram, entriesOf(team), bucketsMax)
        expect(histogram.total).toBe(4)
        const narrow = entriesOf(team, { from: NOON, to: fromNanos(toNanos(NOON) + 2n) })
        expectSound(await rig.store.histogram(narrow, bucketsMax), narrow, bucketsMax)
      }
    })

    test('nothing found is nothing counted', async () => {
      const team = newTeam()
      expect(await rig.store.histogram(entriesOf(team), 10)).toMatchObject({ buckets: [], total: 0 })
      const range = { from: NOON, to: timestampOf(NOON_MS + MINUTE_MS) }
      const histogram = await rig.store.histogram(entriesOf(team, range), 10)
      expectSound(histogram, entriesOf(team, range), 10)
      expect(histogram.total).toBe(0)
      expect(await rig.store.histogram(entriesOf(team, { from: NOON, to: NOON }), 10)).toMatchObject({ total: 0 })
    })
  })

  describe('facets', () => {
    test('each has the values with most matches, most first', async () => {
      const team = newTeam()
      await rig.put(
        eventDocument({ team, level: 'Error', environment: 'Test', step: 'pay' }),
        eventDocument({ team, level: 'Error', step: 'pay' }),
        eventDocument({ team, step: 'ship' }),
        applicationDocument({ team, categoryName: 'Acme.A', level: 'Warning' }),
        applicationDocument({ team, categoryName: 'Acme.B' }),
        applicationDocument({ team, categoryName: 'Acme.B' }),
      )
      const facets = await rig.store.facets(entriesOf(team), 2)
      expect(facets).toEqual({
        level: [
          { value: 'Information', count: 3 },
          { value: 'Error', count: 2 },
        ],
        environment: [
          { value: 'Production', count: 5 },
          { value: 'Test', count: 1 },
        ],
        event: [{ value: 'order-placed', count: 3 }],
        step: [
          { value: 'pay', count: 2 },
          { value: 'ship', count: 1 },
        ],
        project: [{ value: PROJECT, count: 3 }],
        category: [
          { value: 'Acme.B', count: 2 },
          { value: 'Acme.A', count: 1 },
        ],
      })
      const errors = await rig.store.facets(entriesOf(team, { levelMin: 'Error' }), 10)
      expect(errors.level).toEqual([{ value: 'Error', count: 2 }])
      expect(errors.category).toEqual([])
    })

    test('of nothing there are none', async () => {
      const none = { level: [], environment: [], event: [], step: [], project: [], category: [] }
      expect(await rig.store.facets(entriesOf(newTeam()), 10)).toEqual(none)
    })
  })

  test('histogram, facets and pages agree with the count, whatever is searched', async () => {
    const team = newTeam()
    const documents = fc.sample(someDocuments(team), { numRuns: 60, seed: 5 })
    await rig.put(...documents)
    await fc.assert(
      fc.asyncProperty(queries, fc.integer({ min: 1, max: 50 }), async (query, bucketsMax) => {
        const filter = entriesOf(team, { query, levelMin: 'Debug' })
        const count = await rig.store.count(filter)
        const histogram = await rig.store.histogram(filter, bucketsMax)
        expectSound(histogram, filter, bucketsMax)
        expect(histogram.total).toBe(count)
        const { level, environment } = await rig.store.facets(filter, 100)
        for (const facet of [level, environment]) {
          expect(facet.reduce((sum, { count: one }) => sum + one, 0)).toBe(count)
        }
        const levels = (await rig.pages(filter)).map((entry) => levelRank(entry.level))
        expect(levels).toHaveLength(count)
        expect(levels.every((rank) => rank >= 1)).toBe(true)
      }),
      { numRuns: 30 },
    )
    expect(documents.map(recordOf)).toHaveLength(60)
  })
}

/** Expects the properties of every histogram. */
function expectSound({ intervalMs, buckets, total }: Histogram, { from, to }: EntryFilter, bucketsMax: number): void {
  expect(buckets.length).toBeLessThanOrEqual(bucketsMax)
  expect(intervalMs).toBeGreaterThanOrEqual(1)
  const starts = buckets.map((bucket) => Date.parse(bucket.from))
  starts.forEach((start, index) => {
    expect(start).toBe((starts[0] ?? 0) + index * intervalMs)
  })
  for (const bucket of buckets) {
    expect(bucket.from).toBe(timestampOf(Date.parse(bucket.from)))
    const counts = Object.values(bucket.levels)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(bucket.total)
    expect(counts.every((count) => count > 0)).toBe(true)
  }
  expect(buckets.reduce((sum, bucket) => sum + bucket.total, 0)).toBe(total)
  if (buckets.length === 0) return
  const end = (starts.at(-1) ?? 0) + intervalMs
  if (from !== null) expect(starts[0]).toBeLessThanOrEqual(Date.parse(`${from.slice(0, 23)}Z`))
  if (to !== null) expect(end).toBeGreaterThanOrEqual(Date.parse(`${to.slice(0, 23)}Z`))
}
