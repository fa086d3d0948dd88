import { describe, expect, test } from 'vitest'
import { createDerivedIds, createIdSource } from '../../../../gateway/ingest/ids.ts'
import * as fc from '../../../support/fast-check.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const V8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16)

describe('ids minted at acceptance', () => {
  test('are UUIDs of version 7 that carry the time', () => {
    const next = createIdSource({ now: () => 1_769_851_800_123 })
    for (let index = 0; index < 100; index += 1) {
      const id = next()
      expect(id).toMatch(V7)
      expect(timeOf(id)).toBe(1_769_851_800_123)
    }
  })

  test('rise as text, whatever the clock does', () => {
    const steps = fc.array(
      fc.record({ by: fc.integer({ min: -5_000, max: 5_000 }), ids: fc.integer({ min: 1, max: 50 }) }),
    )
    fc.assert(
      fc.property(steps, (moves) => {
        let time = 1_769_851_800_000
        const next = createIdSource({ now: () => time })
        let last = ''
        for (const { by, ids } of moves) {
          time += by
          for (let count = 0; count < ids; count += 1) {
            const id = next()
            expect(id > last).toBe(true)
            expect(id).toMatch(V7)
            last = id
          }
        }
      }),
    )
  })

  test('rise beyond the 4,096 that one millisecond can order, and run ahead of the clock by no more than needed', () => {
    const next = createIdSource({ now: () => 1_000 })
    const ids = Array.from({ length: 10_000 }, next)
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(10_000)
    expect(timeOf(ids.at(-1) ?? '')).toBe(1_002)
  })

  test('of two processes at one time differ', () => {
    const clock = { now: () => 1_000 }
    const [one, other] = [createIdSource(clock), createIdSource(clock)]
    const ids = Array.from({ length: 5_000 }, () => [one(), other()]).flat()
    expect(new Set(ids).size).toBe(10_000)
  })

  test('use every random digit, anew in each millisecond', () => {
    let time = 1_000
    const next = createIdSource({ now: () => time++ })
    const ids = Array.from({ length: 2_000 }, next)
    for (const at of [19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35])
      expect(new Set(ids.map((id) => id[at])).size).toBe(at === 19 ? 4 : 16)
    expect(new Set(ids.map((id) => id.slice(19))).size).toBe(2_000)
  })

  test('of one millisecond differ by their counter alone, so that a batch compresses', () => {
    const next = createIdSource({ now: () => 1_000 })
    const ids = Array.from({ length: 4_096 }, next)
    expect(new Set(ids.map((id) => id.slice(15, 18))).size).toBe(4_096)
    expect(new Set(ids.map((id) => id.slice(0, 15) + id.slice(18))).size).toBe(1)
  })
})

describe('ids derived from a request', () => {
  const content = Buffer.from('{"a":1}')

  test('are UUIDs of version 8, the same for the same request', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.uint8Array(), fc.nat(), (parts, bytes, index) => {
        const id = createDerivedIds(parts, bytes)(index)
        expect(id).toMatch(V8)
        expect(createDerivedIds(parts, Buffer.from(bytes))(index)).toBe(id)
      }),
    )
  })

  test('differ when anything differs, the borders between the parts too', () => {
    const ids = [
      createDerivedIds(['a', 'b'], content)(0),
      createDerivedIds(['a', 'b'], content)(1),
      createDerivedIds(['ab', ''], content)(0),
      createDerivedIds(['', 'ab'], content)(0),
      createDerivedIds(['a', 'b'], Buffer.from('{"a":2}'))(0),
      createDerivedIds(['a', 'b', ''], content)(0),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })
})
