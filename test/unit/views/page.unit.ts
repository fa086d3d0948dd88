import { describe, expect, test } from 'vitest'
import { decodeCursor } from '../../../views/api/cursor.ts'
import { createNames } from '../../../views/api/names.ts'
import { pageText } from '../../../views/api/page.ts'
import { at, eventLog } from '../../support/views-fixture.ts'

const names = createNames({ entity: () => undefined } as never, 'a')
const entries = [1, 2, 3, 4].map((second) => eventLog({ timestamp: at(second), payload: 'x'.repeat(1_000) }))
const read = (text: string) => JSON.parse(text)

describe('a page', () => {
  test('ends early where its items would grow too large, and goes on from there', () => {
    const { items, nextCursor } = read(pageText({ entries, next: null }, 'asc', names, {}, 3_000))
    expect(items).toHaveLength(2)
    expect(decodeCursor('asc', nextCursor)).toMatchObject({ id: entries[1]?.id })
  })

  test('has one item at least, however large', () => {
    const { items, nextCursor } = read(pageText({ entries, next: null }, 'asc', names, {}, 10))
    expect(items).toHaveLength(1)
    expect(decodeCursor('asc', nextCursor)).toMatchObject({ id: entries[0]?.id })
  })

  test('that fits is whole and has the cursor of the store', () => {
    expect(read(pageText({ entries, next: null }, 'asc', names, { query: 1 }))).toMatchObject({
      items: entries.map(({ id }) => ({ id })),
      nextCursor: null,
      query: 1,
    })
  })

  test('without entries is empty', () => {
    expect(read(pageText({ entries: [], next: null }, 'asc', names, {}))).toEqual({ items: [], nextCursor: null })
  })
})
