import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { readFigures } from '../../../../deploy/capacity/figures.ts'
import { type Load, type Plan, planFor, USUAL_LOAD } from '../../../../deploy/capacity/plan.ts'
import { SETTINGS } from '../../../../shared/runtime/config-schema.ts'
import * as fc from '../../../support/fast-check.ts'

const gateway = (gatewayMs: number, brokerMs: number) => ({ gatewayMs, brokerMs })
const FIGURES = {
  gateway: {
    single: gateway(40, 5),
    batch: gateway(10, 3),
    keyedSingle: gateway(50, 12),
    keyedBatch: gateway(10, 4),
  },
  entries: { consumerMs: 20, storeMs: 40 },
  all: { consumerMs: 40, storeMs: 80 },
}
const plan = (load: Partial<Load> & Pick<Load, 'entriesPerSecond'>): Plan =>
  planFor({ ...USUAL_LOAD, ...load }, FIGURES)

describe('a plan', () => {
  test('multiplies the measured work of an entry with the load, at 60 % use', () => {
    expect(plan({ entriesPerSecond: 12_000, batched: 0, keyed: 0, storeCopies: 0, topicCopies: 1 })).toEqual({
      // 12 x 40 ms are 0.48 cores; three zones want one each at least.
      gateways: 3,
      entryConsumers: 1,
      flowConsumers: 1,
      partitions: 12,
      brokerCores: expect.closeTo((12 * 0.005) / 0.6, 6),
      topicBytes: expect.closeTo((12_000 * 1_500 * 0.2 * 86_400 * 7) / 0.7, -3),
      storeCores: expect.closeTo((12 * 0.08) / 0.6, 6),
      storeBytes: expect.closeTo((12_000 * 86_400 * 441 * 30) / 0.75, -3),
      // 12,000 x 86,400 x 441 bytes are 457 GB, half of them of each kind.
      shardsOfDay: 5,
      flowsShards: 1,
      openShards: 301,
      walls: [],
    })
  })

  test('stays whole without one of its zones', () => {
    const load = { entriesPerSecond: 100_000, batched: 0, keyed: 0 }
    expect(plan({ ...load, zones: 1 }).gateways).toBe(7)
    expect(plan({ ...load, zones: 3 }).gateways).toBe(10)
  })

  test('names the limits that a load crosses', () => {
    const walls = plan({ entriesPerSecond: 1_000_000 }).walls.join('\n')
    expect(walls).toContain(`ELASTICSEARCH_SHARDS is at most ${SETTINGS.ELASTICSEARCH_SHARDS.maximum}`)
    expect(walls).toContain('the Teams have to be divided')
  })

  test('has shards of flows for their bytes and for the work of their writes', () => {
    const load = { entriesPerSecond: 10_000 }
    expect(plan({ ...load, newFlowsPerSecond: 100 }).flowsShards).toBe(2)
    // 10,000 x 30 x 86,400 x 250 bytes are 6.5 TB.
    expect(plan({ ...load, newFlowsPerSecond: 10_000 })).toMatchObject({ flowsShards: 130, walls: [] })
    const bytesOf = (newFlowsPerSecond: number) => plan({ ...load, newFlowsPerSecond, storeCopies: 0 }).storeBytes
    expect(bytesOf(10_000) - bytesOf(0)).toBeCloseTo((10_000 * 86_400 * 30 * 250) / 0.75, -3)
    // 1,000 x 40 ms are 40 cores, 4 for each shard.
    expect(plan({ entriesPerSecond: 1_000_000 }).flowsShards).toBe(10)
    const { walls } = plan({ ...load, newFlowsPerSecond: 100_000 })
    expect(walls).toEqual(['ELASTICSEARCH_FLOWS_SHARDS is at most 1024: shards grow beyond 50 GB'])
  })

  test('never gets smaller with a larger load', () => {
    const rate = fc.integer({ min: 1, max: 2_000_000 })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(rate, rate, share, share, (a, b, batched, keyed) => {
        const sizes = ({ walls, ...rest }: Plan): readonly number[] => [...Object.values(rest), walls.length]
        const less = sizes(plan({ entriesPerSecond: Math.min(a, b), batched, keyed }))
        const more = sizes(plan({ entriesPerSecond: Math.max(a, b), batched, keyed }))
        expect(more.every((size, index) => size >= (less[index] ?? 0))).toBe(true)
      }),
    )
  })
})

test.each([
  [['--entries', '3'], "Unknown option '--entries'"],
  [['3'], "Unexpected argument '3'"],
  [[], '--entries-per-second must be a number above 0.'],
])('npm run capacity -- %j names the problem and shows its options', (words, problem) => {
  const main = join(import.meta.dirname, '../../../../deploy/capacity/main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 2, stderr: '' })
  expect(stdout).toContain(problem)
  expect(stdout).toContain('npm run capacity -- --entries-per-second N [OPTIONS]')
})

test('npm run capacity ends in order if its output is cut off', async () => {
  const main = join(import.meta.dirname, '../../../../deploy/capacity/main.ts')
  const child = spawn(process.execPath, [main, '--entries-per-second', '1000'])
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([textOf(child.stderr), once(child, 'exit')])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

describe('the figures of docs/performance.md', () => {
  test('are all there', () => {
    const { gateway: gateways, entries, all } = readFigures()
    const numbers = [...Object.values(gateways), entries, all].flatMap((figures) => Object.values(figures))
    expect(numbers).toHaveLength(12)
    expect(numbers.every((number) => number > 0)).toBe(true)
  })

  test('are asked for by name where one is missing', () => {
    const row = (cells: string): string => `## Gateway on Kafka\n\n| workload | program | ${cells} |\n`
    expect(() => readFigures(row('entries per CPU-s'))).toThrow(
      'docs/performance.md has no row {"workload":"single","program":"Sluice"} below "Gateway on Kafka"',
    )
    const table = `${row('entries per CPU-s | broker CPU ms per 1,000')}| single | Sluice | 28,567 | not counted |\n`
    expect(() => readFigures(table)).toThrow('no number in the column "broker CPU ms per 1,000"')
  })
})
