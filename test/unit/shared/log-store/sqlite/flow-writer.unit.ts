import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FlowDelta } from '../../../../../shared/contract/documents.ts'
import { LEVELS } from '../../../../../shared/contract/levels.ts'
import { fromNanos } from '../../../../../shared/contract/timestamp.ts'
import type { FlowCursor } from '../../../../../shared/log-store/log-store.ts'
import { mergeSummaries, summaryOf } from '../../../../../shared/log-store/sqlite/flow-writer.ts'
import { openStore } from '../../../../../shared/log-store/sqlite/store.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { eventDocument } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'

/** Names of up to 10,000 characters, so that few are too many; long ones come before short ones, and the other way round. */
const names = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 50 }), fc.boolean())
    .map(([number, isPadded]) => String(number).padEnd(isPadded ? 200 * number : 0, 'x')),
  { maxLength: 10 },
)
const timestamps = fc.bigInt({ min: 0n, max: 9_000_000_000_000_000_000n }).map(fromNanos)
const deltas: fc.Arbitrary<FlowDelta> = fc.record({
  team: fc.constant('t'),
  correlationKey: fc.constant('k'),
  firstAt: timestamps,
  lastAt: timestamps,
  days: fc.constant([]),
  lastReceivedAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z', '2025-12-31T23:59:59.999Z'),
  worstLevel: fc.constantFrom(...LEVELS),
  lastErrorAt: fc.option(timestamps),
  lastProgressAt: fc.option(timestamps),
  environments: names,
  events: names,
  steps: fc.constant(['a\0b', 'c']),
  projects: names,
})
const summaries = deltas.map(summaryOf)

describe('flow summaries', () => {
  test('merging is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(summaries, summaries, summaries, (a, b, c) => {
        expect(mergeSummaries(a, b)).toEqual(mergeSummaries(b, a))
        expect(mergeSummaries(mergeSummaries(a, b), c)).toEqual(mergeSummaries(a, mergeSummaries(b, c)))
        expect(mergeSummaries(a, a)).toEqual(a)
        expect(mergeSummaries(mergeSummaries(a, b), a)).toEqual(mergeSummaries(a, b))
      }),
    )
  })

  test('they hold the first, the last and the worst of what was told', () => {
    fc.assert(
      fc.property(fc.array(summaries, { minLength: 1, maxLength: 5 }), (all) => {
        const merged = all.reduce(mergeSummaries)
        expect(all.every(({ firstAt }) => merged.firstAt <= firstAt)).toBe(true)
        expect(all.every(({ lastAt }) => merged.lastAt >= lastAt)).toBe(true)
        expect(merged.worstLevel).toBe(Math.max(...all.map(({ worstLevel }) => worstLevel)))
        expect(merged.lastReceived).toBe(
          all
            .map(({ lastReceived }) => lastReceived)
            .sort()
            .at(-1),
        )
        expect(merged.environments.slice(0, -1).join('').length).toBeLessThan(16_384)
        expect(merged.steps).toEqual(['a\uFFFDb', 'c'])
      }),
    )
  })
})

describe('reads of flows', () => {
  let folder: string
  let store: ReturnType<typeof openStore>
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-flows-'))
    store = openStore({ file: join(folder, 'logs.db') })
  })
  afterEach(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })

  test('end a page at 20,000 groups, but give a flow with more of them alone', () => {
    const documents = Array.from({ length: 20_003 }, (_, index) =>
      eventDocument({ correlationKey: ['last', 'first'][index] ?? 'large', event: `event ${index}` }),
    )
    store.calls.write(documents)
    store.calls.mergeFlows(deltasOf(documents))
    const keys: (readonly string[])[] = []
    for (let after: FlowCursor | null = null, pages = 0; pages < 3; pages += 1) {
      const page = store.calls.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after })
      keys.push(page.flows.map(({ correlationKey }) => correlationKey))
      after = page.next
      if (after === null) break
    }
    expect(keys).toEqual([['first'], ['large'], ['last']])
  })

  test('count at most 5,000 Events', () => {
    const documents = Array.from({ length: 5_001 }, (_, index) =>
      eventDocument({ correlationKey: `flow ${index}`, event: `event ${index}` }),
    )
    store.calls.mergeFlows(deltasOf(documents))
    const { events } = store.calls.tallyFlows(flowsOf('payments'), {
      lately: documents[0]?.timestamp ?? '',
      ends: [],
      waits: [],
    })
    expect(events.size).toBe(5_000)
  })
})
