import { describe, expect, test } from 'vitest'
import {
  hasLeafWithin,
  leafBytes,
  leafNeedle,
  memberNeedle,
  setBytes,
  setMembers,
} from '../../../../../shared/log-store/sqlite/leaf-bytes.ts'
import { sortKey } from '../../../../../shared/query/sort-key.ts'
import { eventDocument } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'

/** Short texts of few characters, so that they meet; `p` and `s` mark the fields. */
const text = fc.string({ unit: fc.constantFrom('p', 's', '.', 'é'), maxLength: 3 })
const path = text.filter((one) => one !== '')
const leaves = fc.array(fc.tuple(path, text), { maxLength: 5 })

describe('leaves as bytes', () => {
  test('a leaf is found where it is, by its value, the beginning of it, and its path', () => {
    fc.assert(
      fc.property(
        leaves,
        leaves,
        fc.constantFrom('payload', 'scope'),
        path,
        text,
        (payload, scope, field, at, value) => {
          const bytes = Buffer.from(
            leafBytes({ ...eventDocument(), payloadLeaves: payload, scopeLeaves: scope }) ?? new Uint8Array(),
          )
          const own = (field === 'payload' ? payload : scope).filter(([name]) => name === at).map(([, found]) => found)
          expect(bytes.includes(leafNeedle(field, at, value, false))).toBe(own.includes(value))
          expect(bytes.includes(leafNeedle(field, at, value, true))).toBe(own.some((found) => found.startsWith(value)))
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('a leaf is found by the range of its value', () => {
    const numbers = fc.array(fc.tuple(path, fc.constantFrom('', '1', '5', '10', 'x', '1s')), { maxLength: 5 })
    fc.assert(
      fc.property(numbers, numbers, fc.constantFrom('payload', 'scope'), path, (payload, scope, field, at) => {
        const bytes = leafBytes({ ...eventDocument(), payloadLeaves: payload, scopeLeaves: scope }) ?? new Uint8Array()
        const own = (field === 'payload' ? payload : scope).filter(([name]) => name === at)
        const range = { from: sortKey('5') ?? '', to: 'o' }
        expect(hasLeafWithin(bytes, leafNeedle(field, at), range)).toBe(
          own.some(([, value]) => value === '5' || value === '10'),
        )
      }),
      { numRuns: 2_000 },
    )
  })

  test('without leaves there are no bytes', () => {
    expect(leafBytes(eventDocument())).toBeNull()
  })
})

describe('sets as bytes', () => {
  test('they come back, and a member is found in them', () => {
    fc.assert(
      fc.property(fc.uniqueArray(text), text, (members, one) => {
        const bytes = setBytes(members)
        expect(setMembers(bytes)).toEqual(members)
        expect(Buffer.from(bytes).includes(memberNeedle(one))).toBe(members.includes(one))
      }),
    )
  })
})
