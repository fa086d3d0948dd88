import { describe, expect, test } from 'vitest'
import { ProblemError } from '../../../shared/contract/errors.ts'
import { FLOW_SORTS } from '../../../shared/log-store/log-store.ts'
import {
  decodeCursor,
  decodeFlowCursor,
  decodeTailCursor,
  encodeCursor,
  encodeFlowCursor,
  encodeTailCursor,
} from '../../../views/api/cursor.ts'
import * as fc from '../../support/fast-check.ts'

const NOW = 1_770_000_000_000
const timestamp = '2026-02-01T11:00:00.123456789Z'

const refusalOf = (decode: () => unknown): unknown => {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
}

describe('a cursor', () => {
  test('names the place it was made of, to the last digit', () => {
    expect(decodeCursor('asc', encodeCursor('asc', { timestamp, id: 'x' }))).toEqual({ timestamp, id: 'x' })
  })

  test('is base64url', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...FLOW_SORTS), (correlationKey, sort) => {
        const after = { rank: 62_000, lastAt: timestamp, correlationKey }
        const text = encodeFlowCursor(sort, NOW, after)
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(decodeFlowCursor(sort, text)).toEqual({ now: NOW, after })
      }),
    )
  })

  test('of a tail holds whatever the store gives, line breaks included', () => {
    const text = encodeTailCursor('12\n\nid: 7')
    expect(text).not.toContain('\n')
    expect(decodeTailCursor(text)).toBe('12\n\nid: 7')
  })

  test.each(['asc', 'desc'] as const)('of order %s is refused in the other order', (order) => {
    const other = order === 'asc' ? 'desc' : 'asc'
    expect(refusalOf(() => decodeCursor(other, encodeCursor(order, { timestamp, id: 'x' })))).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'cursor', message: `must be the nextCursor of a page in order ${other}` }],
    })
  })

  test('of parts that are no texts is refused', () => {
    const textOf = (...parts: readonly unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    expect(refusalOf(() => decodeCursor('asc', textOf('asc', 7, 8)))).toMatchObject({ details: [{ path: 'cursor' }] })
    expect(refusalOf(() => decodeTailCursor(textOf('tail', 7)))).toMatchObject({ details: [{ path: 'lastEventId' }] })
  })

  test('of one kind of list is refused by another', () => {
    const entry = encodeCursor('desc', { timestamp, id: 'x' })
    const flow = encodeFlowCursor('latest', NOW, { rank: 0, lastAt: timestamp, correlationKey: 'k' })
    expect(refusalOf(() => decodeFlowCursor('longest', flow))).toMatchObject({
      details: [{ path: 'cursor', message: 'must be the nextCursor of a page of flows sorted by longest' }],
    })
    expect(refusalOf(() => decodeFlowCursor('latest', entry))).toMatchObject({ code: 'invalid_request' })
    expect(refusalOf(() => decodeCursor('desc', flow))).toMatchObject({ code: 'invalid_request' })
    expect(refusalOf(() => decodeTailCursor(flow))).toMatchObject({ details: [{ path: 'lastEventId' }] })
  })

  test.each([
    ['of a moment that is none', 'now', '0'],
    ['of a moment beyond all', '2300-01-01T00:00:00.000Z', '0'],
    ['of a rank below all', timestamp, '-1'],
  ])('%s is refused', (_, now, rank) => {
    const text = Buffer.from(JSON.stringify(['worst', now, rank, timestamp, 'k'])).toString('base64url')
    expect(refusalOf(() => decodeFlowCursor('worst', text))).toMatchObject({ details: [{ path: 'cursor' }] })
  })

  test('that holds a time that is none is refused', () => {
    const text = encodeCursor('desc', { timestamp: '2026-02-30T00:00:00.000Z', id: 'x' })
    expect(refusalOf(() => decodeCursor('desc', text))).toMatchObject({ details: [{ path: 'cursor' }] })
  })

  test('made of garbage is refused, never misread', () => {
    const garbage = fc.oneof(
      fc.string(),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
    )
    fc.assert(
      fc.property(garbage, (text) => {
        expect(refusalOf(() => decodeCursor('asc', text))).toMatchObject({ code: 'invalid_request' })
      }),
    )
  })
})
