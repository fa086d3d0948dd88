import { expect, test } from 'vitest'
import type { EntryDocument, FlowDelta } from '../../../../../shared/contract/documents.ts'
import { type FlowSummary, foldFlow } from '../../../../../shared/log-store/elasticsearch/flow-summary.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { applicationDocument, eventDocument } from '../../../../support/documents.ts'
import { flowDeltas } from '../../../../support/documents-arbitrary.ts'
import * as fc from '../../../../support/fast-check.ts'

const deltaOf = (document: EntryDocument): FlowDelta => deltasOf([document])[0] as FlowDelta

const fold = (deltas: readonly FlowDelta[]): FlowSummary | undefined =>
  deltas.reduce<FlowSummary | undefined>(foldFlow, undefined)

test('what was folded already changes nothing, and is not written again', () => {
  fc.assert(
    fc.property(fc.array(flowDeltas, { minLength: 1, maxLength: 6 }), (deltas) => {
      const folded = fold(deltas)
      for (const one of deltas) expect(foldFlow(folded, one)).toBe(folded)
    }),
  )
})

test('a summary has the extremes and everything named, sorted', () => {
  const one = deltaOf(
    eventDocument({
      correlationKey: 'Order-1',
      timestamp: '2026-01-31T10:00:00.1234Z',
      receivedAt: '2026-01-31T10:00:01.000Z',
      level: 'Debug',
      environment: 'b',
    }),
  )
  const other: FlowDelta = {
    ...one,
    firstAt: '2026-01-31T10:00:00.123Z',
    lastAt: '2026-01-31T10:00:02.12345Z',
    lastErrorAt: '2026-01-31T10:00:02.12345Z',
    lastProgressAt: null,
    days: ['2026-02-01', '2026-01-30'],
    worstLevel: 'Critical',
    environments: ['a'],
  }
  expect(fold([one, other])).toMatchObject({
    keyFolded: 'order-1',
    firstAt: other.firstAt,
    lastAt: other.lastAt,
    days: ['2026-01-30', '2026-01-31', '2026-02-01'],
    lastDay: '2026-02-01',
    worstLevel: 5,
    lastErrorAt: other.lastErrorAt,
    lastProgressAt: one.lastProgressAt,
    duration: 2_000,
    failed: true,
    environments: ['a', 'b'],
  })
})

test('a flow is found by the first 16,384 characters of the values of a field, in whatever order they came', () => {
  const many = Array.from({ length: 800 }, (_, index) => String(index).padStart(32, '0'))
  const [one] = fc.sample(flowDeltas, 1) as [FlowDelta]
  const halves = [many.slice(0, 400), many.slice(400)].map((environments): FlowDelta => ({ ...one, environments }))
  expect(fold(halves)?.environments).toEqual(many.slice(0, 512))
  expect(fold(halves.toReversed())?.environments).toEqual(many.slice(0, 512))
})

test('a summary of a release before, which kept no times of errors, is failed until an Event or Step logs again', () => {
  const told = deltaOf(applicationDocument({ correlationKey: 'Order-1', level: 'Debug' }))
  const { lastErrorAt: _, lastProgressAt: __, failed: ___, duration: ____, ...before } = fold([told]) as FlowSummary
  const withError = foldFlow({ ...before, worstLevel: 4 }, told)
  expect(withError).toMatchObject({ failed: true, duration: 0 })
  expect(foldFlow(withError, { ...told, lastProgressAt: told.lastAt })).toMatchObject({ failed: false })
  expect(foldFlow(before, told)).toMatchObject({ failed: false })
})
