import { describe, expect, test } from 'vitest'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { type EntryFilter, ReadTooLargeError, type SeriesRequest } from '../../shared/log-store/log-store.ts'
import { SERIES_FUNCTIONS, type SeriesFunction } from '../../shared/log-store/statistics.ts'
import { applicationDocument, entriesOf, eventDocument, NOON } from '../support/documents.ts'
import * as fc from '../support/fast-check.ts'
import { newTeam, type Rig } from './log-store-rig.ts'

const NOON_MS = Date.parse(NOON)
const MINUTES = 10
const MS = { field: 'scope', path: 'ms' } as const
const REQUEST = { fn: 'count', of: null, by: null, seriesMax: 5, bucketsMax: MINUTES } as const
const RANKS: Readonly<Partial<Record<SeriesFunction, number>>> = { p50: 0.5, p95: 0.95, p99: 0.99 }

const at = (minutes: number): string => timestampOf(NOON_MS + minutes * 60_000)
const range = { from: NOON, to: at(MINUTES) }

export function seriesContract(rig: Rig): void {
  const points = async (filter: EntryFilter, request: Partial<SeriesRequest>) => {
    const { series } = await rig.store.series(filter, { ...REQUEST, ...request })
    return series.map((one) => [one.value, one.count, one.points])
  }
  /** Log with these numbers, and a log of its own Team beside each: of another minute, without numbers, of another name. */
  const log = (team: string, minute: number, ms: unknown, fields: Parameters<typeof applicationDocument>[0] = {}) =>
    applicationDocument({ team, timestamp: at(minute + 0.5), scopeData: { ms }, ...fields })

  describe('a number over time', () => {
    test('each function of the numbers of each span', async () => {
      const team = newTeam()
      await rig.put(
        ...[10, 20, 30, 40].map((ms) => log(team, 0, ms)),
        log(team, 3, -2.5),
        log(team, 9, 0),
        log(team, MINUTES, 1_000),
        log(newTeam(), 0, 1_000),
      )
      const filter = entriesOf(team, range)
      const nulls = (count: number): null[] => Array.from({ length: count }, () => null)
      const of = async (fn: SeriesFunction) => points(filter, { fn, of: MS })
      const row = (first: number) => [[null, 6, [first, ...nulls(2), -2.5, ...nulls(5), 0]]]
      expect(await of('count')).toEqual([[null, 6, [4, 0, 0, 1, 0, 0, 0, 0, 0, 1]]])
      expect(await of('avg')).toEqual(row(25))
      expect(await of('max')).toEqual(row(40))
      expect(await of('p50')).toEqual(row(20))
      expect(await of('p95')).toEqual(row(40))
      expect(await of('p99')).toEqual(row(40))
      const { intervalMs, spans, more } = await rig.store.series(filter, { ...REQUEST, of: MS })
      expect({ intervalMs, more }).toEqual({ intervalMs: 60_000, more: false })
      expect(spans).toEqual(Array.from({ length: MINUTES }, (_, minute) => at(minute)))
    })

    test('counts entries in the spans of the histogram, where it is of no numbers', async () => {
      const team = newTeam()
      await rig.put(log(team, 1, 'x'), log(team, 1.2, 5), eventDocument({ team, timestamp: at(7) }))
      for (const fields of [{}, range]) {
        const filter = entriesOf(team, fields)
        const { buckets, intervalMs } = await rig.store.histogram(filter, MINUTES)
        const series = { value: null, count: 3, points: buckets.map(({ total }) => total) }
        const spans = buckets.map(({ from }) => from)
        expect(await rig.store.series(filter, REQUEST)).toEqual({ intervalMs, spans, series: [series], more: false })
      }
    })

    test('numbers are those that searches compare, each once in an entry', async () => {
      const team = newTeam()
      await rig.put(
        ...['x', '', '5ms', true, null, '2026-01-31', { ms: 1 }, '1e200', '12a'].map((ms) => log(team, 0, ms)),
        ...[7, '7', '7.000', '70e-1', [7, 7, '7.0']].map((ms) => log(team, 1, ms)),
        log(team, 2, [1, [2, { a: 3 }]]),
        eventDocument({ team, timestamp: at(3), payload: '{"ms":4,"a":{"ms":5}}' }),
      )
      const filter = entriesOf(team, range)
      expect(await points(filter, { of: MS })).toEqual([[null, 7, [0, 5, 2, 0, 0, 0, 0, 0, 0, 0]]])
      expect((await points(filter, { of: { field: 'payload', path: 'ms' }, fn: 'max' }))[0]?.[1]).toBe(1)
      expect((await points(filter, { of: { field: 'payload', path: 'a.ms' }, fn: 'max' }))[0]?.[1]).toBe(1)
    })

    test('numbers may be whole ones beyond 2^53, such as nanoseconds', async () => {
      const team = newTeam()
      const nanos = 1_770_000_000_000_000_000
      await rig.put(log(team, 0, nanos), log(team, 0, -nanos), log(team, 1, String(nanos)))
      const [, , row] = (await points(entriesOf(team, range), { of: MS, fn: 'max' }))[0] ?? []
      expect((row as number[]).slice(0, 2)).toEqual([nanos, nanos])
    })

    test('of nothing there is nothing', async () => {
      const filter = entriesOf(newTeam(), range)
      const empty = Array.from({ length: MINUTES }, () => null)
      expect(await points(filter, { of: MS, fn: 'p95' })).toEqual([[null, 0, empty]])
      expect(await points(filter, { of: MS, fn: 'p95', by: 'level' })).toEqual([])
      const without = { intervalMs: 1, spans: [], series: [], more: false }
      expect(await rig.store.series(entriesOf(newTeam()), REQUEST)).toEqual(without)
    })

    test('a field makes a series of each value, those of most entries with numbers first', async () => {
      const team = newTeam()
      const by = { field: 'scope', path: 'tenant' } as const
      const of = (tenant: unknown, ms: unknown, level: 'Error' | 'Debug' = 'Debug') =>
        log(team, 0, ms, { scopeData: { tenant, ms }, level })
      await rig.put(
        ...[1, 3].map((ms) => of('a', ms)),
        ...[2, 4, 6].map((ms) => of('b', ms, 'Error')),
        ...['x', 'x', 'x', 'x'].map(() => of('none', null)),
        of(['b', 'c'], 9),
        of(null, 100),
      )
      const filter = entriesOf(team, { from: NOON, to: at(1) })
      const request = { fn: 'max', of: MS, by, bucketsMax: 1, seriesMax: 3 } as const
      const all = [
        ['b', 4, [9]],
        ['a', 2, [3]],
        ['c', 1, [9]],
      ]
      expect(await points(filter, request)).toEqual(all)
      expect((await rig.store.series(filter, { ...REQUEST, ...request })).more).toBe(false)
      const fewer = await rig.store.series(filter, { ...REQUEST, ...request, seriesMax: 2 })
      expect({ more: fewer.more, values: fewer.series.map(({ value }) => value) }).toEqual({
        more: true,
        values: ['b', 'a'],
      })
      expect(await points(filter, { ...request, by: 'level', fn: 'avg' })).toEqual([
        ['Debug', 4, [28.25]],
        ['Error', 3, [4]],
      ])
      expect((await points(filter, { by, bucketsMax: 1 }))[0]).toEqual(['b', 4, [4]])
    })

    test('every function is within 0.5 % of that of the numbers themselves', async () => {
      const team = newTeam()
      const number = fc.oneof(
        fc.double({ min: 1e-9, max: 1e12, noNaN: true }),
        fc.integer({ min: 0, max: 100_000 }),
        fc.double({ min: 900, max: 1_100, noNaN: true }),
      )
      const logs = fc.sample(fc.tuple(fc.integer({ min: 0, max: MINUTES - 1 }), number), { numRuns: 200, seed: 16 })
      await rig.put(...logs.map(([minute, ms]) => log(team, minute, ms)))
      for (const fn of SERIES_FUNCTIONS) {
        const [series] = (await rig.store.series(entriesOf(team, range), { ...REQUEST, fn, of: MS })).series
        for (const [minute, point] of (series?.points ?? []).entries()) {
          const own = logs.filter(([of]) => of === minute).map(([, ms]) => ms)
          const exact = exactly(fn, own)
          expect(Math.abs((point ?? Number.NaN) - exact)).toBeLessThanOrEqual(Math.abs(exact) * 0.005)
        }
        expect(series?.count).toBe(logs.length)
      }
    })

    test('numbers that are too different are refused, and those of another name beside them are not', async () => {
      const team = newTeam()
      const mantissas = Array.from({ length: 900 }, (_, index) => index + 100)
      await rig.put(
        ...Array.from({ length: 12 }, (_, exponent) =>
          log(
            team,
            0,
            mantissas.map((mantissa) => `${mantissa}e${exponent - 6}`),
          ),
        ),
        log(team, 0, 1, { scopeData: { msb: 1 } }),
      )
      const read = rig.store.series(entriesOf(team, range), { ...REQUEST, fn: 'p50', of: MS })
      await expect(read).rejects.toBeInstanceOf(ReadTooLargeError)
      const other = { field: 'scope', path: 'msb' } as const
      expect((await points(entriesOf(team, range), { fn: 'max', of: other }))[0]?.[1]).toBe(1)
    })
  })
}

/** The function of numbers that are not rounded. */
function exactly(fn: SeriesFunction, numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  if (fn === 'count') return sorted.length
  if (fn === 'avg') return sorted.reduce((sum, number) => sum + number, 0) / sorted.length
  if (fn === 'max') return sorted.at(-1) ?? Number.NaN
  return sorted[Math.ceil(sorted.length * (RANKS[fn] ?? 0)) - 1] ?? Number.NaN
}
