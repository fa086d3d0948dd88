import { expect, test } from 'vitest'
import { createAcceptedLedger, createStoredEntries } from '../../fuzz/ledger.ts'
import { markIn, markOf } from '../../fuzz/marks.ts'

const [ONE, TWO, THREE] = [markOf(1, 0), markOf(2, 0), markOf(3, 0)] as const

function stored(entries: readonly (readonly [id: string, text: string])[]) {
  const all = createStoredEntries()
  for (const [id, text] of entries) all.add(id, markIn(text))
  return all
}

test('what was accepted and is stored once is in order', () => {
  const ledger = createAcceptedLedger()
  ledger.acceptedId('a', ONE)
  ledger.acceptedCount(2, TWO)
  const entries = stored([
    ['a', `${ONE}x0x`],
    ['b', `${TWO}x0x`],
    ['c', `${TWO}x1x`],
    ['d', 'of nobody'],
  ])
  expect(ledger.settle(entries)).toEqual({ accepted: 3, stored: 4, missing: [], duplicates: [] })
})

test('an entry that was answered with an id and is not there is missing', () => {
  const ledger = createAcceptedLedger()
  ledger.acceptedId('a', ONE)
  ledger.acceptedId('b', TWO)
  const { missing } = ledger.settle(stored([['a', `${ONE}x0x`]]))
  expect(missing).toEqual([`b (${TWO})`, `${TWO}: 0 of 1`])
})

test('an entry of a batch that is not there is missing', () => {
  const ledger = createAcceptedLedger()
  ledger.acceptedCount(3, ONE)
  const entries = [
    ['a', `${ONE}x0x`],
    ['b', `${ONE}x1x`],
  ] as const
  expect(ledger.settle(stored(entries)).missing).toEqual([`${ONE}: 2 of 3`])
  // Its mark may have been destroyed by a mutation.
  expect(ledger.settle(stored([...entries, ['c', 'fz1s0c']])).missing).toEqual([])
})

test('one entry without a mark explains one that is lacking, and no more', () => {
  const ledger = createAcceptedLedger()
  ledger.acceptedCount(1, ONE)
  ledger.acceptedCount(1, TWO)
  expect(ledger.settle(stored([['a', 'no mark']])).missing).toEqual([`${TWO}: 0 of 1`])
})

test('an entry that is there twice is a duplicate, by its id and by its mark', () => {
  const ledger = createAcceptedLedger()
  ledger.acceptedId('a', ONE)
  ledger.acceptedCount(1, TWO)
  ledger.acceptedCount(1, THREE)
  ledger.unknown(THREE)
  const entries = stored([
    ['a', `${ONE}x0x`],
    ['a', `${ONE}x0x`],
    ['b', `${TWO}x0x`],
    ['c', `${TWO}x0x`],
    // Another request with this mark was not answered, and may have been stored.
    ['d', `${THREE}x0x`],
    ['e', `${THREE}x1x`],
  ])
  expect(ledger.settle(entries).duplicates).toEqual(['a', `${TWO}: 2 of 1`])
})
