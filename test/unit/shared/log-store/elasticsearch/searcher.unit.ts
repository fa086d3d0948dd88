import { expect, test } from 'vitest'
import { type LatestRange, readLatest } from '../../../../../shared/log-store/elasticsearch/searcher.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const A_MINUTE_BEFORE = '2026-03-01T11:59:00.000Z'
const ALL_TIME: LatestRange = { from: null, to: null }

/** Reads the two latest of hits at these times; returns them with the beginnings that were read from. */
async function latest(range: LatestRange, ...times: readonly string[]) {
  const read: (string | null)[] = []
  const hits = await readLatest(range, 2, { now: () => NOW }, async (since) => {
    read.push(since)
    return times.filter((at) => since === null || at >= since).slice(0, 2)
  })
  return { hits, read }
}

test('enough hits in the last minute are not followed by a search of all', async () => {
  const times = ['2026-03-01T12:07:00.000Z', A_MINUTE_BEFORE, '2026-03-01T11:58:00.000Z']
  expect(await latest(ALL_TIME, ...times)).toEqual({ hits: times.slice(0, 2), read: [A_MINUTE_BEFORE] })
})

test('with fewer hits there, all are searched', async () => {
  const times = ['2026-03-01T11:59:30.000Z', '2026-03-01T11:58:00.000Z']
  expect(await latest(ALL_TIME, ...times)).toEqual({ hits: times, read: [A_MINUTE_BEFORE, null] })
})

test.each<[string, LatestRange, readonly (string | null)[]]>([
  ['ends earlier', { from: null, to: '2026-03-01T08:00:00.5Z' }, ['2026-03-01T07:59:00.500Z', null]],
  ['ends in the future', { from: null, to: '2027-01-01T00:00:00.000Z' }, [A_MINUTE_BEFORE, null]],
  [
    'ends in the first minute of 1970',
    { from: null, to: '1970-01-01T00:00:30.000Z' },
    ['1970-01-01T00:00:00.000Z', null],
  ],
  ['is longer than a minute', { from: '2026-03-01T11:58:59.999999999Z', to: null }, [A_MINUTE_BEFORE, null]],
  ['is not longer than a minute', { from: A_MINUTE_BEFORE, to: null }, [null]],
])('where the range %s', async (_range, range, read) => {
  expect(await latest(range)).toEqual({ hits: [], read })
})
