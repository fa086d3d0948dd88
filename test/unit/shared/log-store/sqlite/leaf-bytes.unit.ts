import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  leafBytes,
  leafNeedle,
  memberNeedle,
  setBytes,
  setMembers,
} from '../../../../../shared/log-store/sqlite/leaf-bytes.ts'
import { eventDocument } from '../../../../support/documents.ts'

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
