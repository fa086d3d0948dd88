import { expect, test } from 'vitest'
import { wireOf } from '../../fuzz/draft.ts'
import { type Counts, FEW } from '../../fuzz/honest/order.ts'
import { readPlan, sendPlan } from '../../fuzz/honest/plans.ts'
import { servedSince } from '../../fuzz/hostile.ts'
import type { Material } from '../../fuzz/material.ts'
import type { Plan } from '../../fuzz/plan.ts'

const MATERIAL: Material = {
  eventIds: ['01980000-0000-7000-8000-000000000001'],
  applicationIds: ['01980000-0000-7000-8000-000000000002'],
  flows: ['flow-1'],
  cursors: { desc: [], asc: [], flows: [], tail: [] },
  assets: [],
}
const wires = (plan: Plan): readonly Buffer[] => plan.stages.flatMap(({ scripts }) => scripts.map(({ wire }) => wire))
const NUMBERS = Array.from({ length: 200 }, (_, index) => index)

test('an honest request is the same for the same seed and number', () => {
  for (const make of [sendPlan, readPlan]) {
    expect(wires(make(1, 7, MATERIAL))).toEqual(wires(make(1, 7, MATERIAL)))
    expect(wires(make(1, 7, MATERIAL))).not.toEqual(wires(make(1, 9, MATERIAL)))
  }
})

test('what honest clients send is counted, and safe to repeat', () => {
  const drafts = NUMBERS.flatMap((number) => sendPlan(1, number, MATERIAL).stages[0]?.scripts[0]?.requests ?? [])
  expect(new Set(drafts.map(({ route }) => route)).size).toBe(3)
  for (const draft of drafts) {
    expect(draft.stores?.entries).toBeGreaterThan(0)
    expect(wireOf(draft).toString()).toContain(`Idempotency-Key: ${draft.stores?.mark}`)
  }
  const keys = drafts.map(({ headers }) => headers.find(([name]) => name === 'Idempotency-Key')?.[1])
  expect(new Set(keys).size).toBe(NUMBERS.length)
})

test('honest clients read lists, entries and searches', () => {
  const paths = NUMBERS.map((number) => readPlan(1, number, MATERIAL).stages[0]?.scripts[0]?.requests[0]?.target)
  for (const part of ['event-logs?', 'application-logs?', 'event-logs/', 'application-logs/', 'q='])
    expect(paths.filter((path) => path?.includes(part)).length).toBeGreaterThan(0)
})

test('clients were served when more was answered than could be under way before', () => {
  let counts: Counts = { sends: 5, reads: 5, refused: 0, failed: 0 }
  const served = servedSince({
    clients: FEW,
    counts: () => counts,
    finish: () => Promise.reject(new Error('not asked for')),
    stop: async () => {},
  })
  counts = { ...counts, sends: 5 + FEW.sends + 1, reads: 5 + FEW.reads }
  expect(served()).toBe(false)
  counts = { ...counts, reads: 5 + FEW.reads + 1 }
  expect(served()).toBe(true)
})
