import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createOtherStores } from '../../../consumers/other-stores.ts'
import { DAY_MS } from '../../../shared/contract/timestamp.ts'

/** The messages of the log after each look at the notes of two partitions. */
function logOf(...looks: readonly (readonly string[])[]): readonly unknown[] {
  const told: unknown[] = []
  const logger = pino({}, { write: (line: string) => void told.push(JSON.parse(line)) })
  const clock = { now: () => 0 }
  const stores = createOtherStores({ group: 'g', name: () => 'elasticsearch:a/x', clock, logger, onLook: () => {} })
  for (const [committed, notes] of looks.entries())
    stores.look(
      'logs',
      notes.map((note, partition) => ({
        partition,
        firstOffset: 0,
        endPosition: 9,
        committed,
        ...(note !== '' && { note }),
      })),
    )
  return told
}

test('the log names the store that the positions of the group were committed for, at the start', () => {
  const former = { level: 40, former: 'elasticsearch:b/x', store: 'elasticsearch:a/x', topic: 'logs' }
  expect(logOf(['elasticsearch:b/x', ''])).toMatchObject([former])
})

test.each([
  ['this store has committed one of them', ['elasticsearch:b/x', 'elasticsearch:a/x']],
  ['they have no note, as those of the last release', ['', '']],
  ['an embedded store had another name, as in another container', ['sqlite:old-container:/data/logs.db', '']],
])('the log says nothing at the start where %s', (_, notes) => {
  expect(logOf(notes)).toEqual([])
})

test('the log tells once of a store for which positions are committed meanwhile', () => {
  const other = ['sqlite:other:/data/logs.db', '']
  const divided = {
    level: 50,
    reason: expect.stringContaining('sqlite:other:/data/logs.db, as consumers of both share the group g'),
  }
  expect(logOf(['', ''], other, other)).toMatchObject([divided])
})

test.each([
  ['ten minutes later', 600_001],
  ['after the clock was set back by a day', -DAY_MS],
])('another store that commits nothing more is forgotten %s', (_, passedMs) => {
  let now = 0
  const looks: boolean[] = []
  const clock = { now: () => now }
  const logger = pino({ enabled: false })
  const onLook = (isDivided: boolean): void => void looks.push(isDivided)
  const stores = createOtherStores({ group: 'g', name: () => 'elasticsearch:a/x', clock, logger, onLook })
  const lookAt = (committed: number): void =>
    stores.look('logs', [{ partition: 0, firstOffset: 0, endPosition: 9, committed, note: 'elasticsearch:b/x' }])
  lookAt(0)
  lookAt(1)
  now += passedMs
  lookAt(1)
  expect(looks).toEqual([false, true, false])
  expect(stores.reason()).toBeNull()
})
