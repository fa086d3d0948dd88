import { expect, test } from 'vitest'
import { ElasticsearchError } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createSearcher } from '../../../../../shared/log-store/elasticsearch/searcher.ts'
import { ReadTooLargeError } from '../../../../../shared/log-store/log-store.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const A_MINUTE_BEFORE = '2026-03-01T11:59:00.000Z'
const AN_HOUR_BEFORE = '2026-03-01T11:00:00.000Z'
const LONGER = '2026-03-01T11:58:59.999999999Z'

interface Range {
  readonly from: string | null
  readonly to: string | null
}
const ALL_TIME: Range = { from: null, to: null }

/** Reads the two latest of hits at these times; returns them with the beginnings that were read from. */
async function latest({ from, to }: Range, ...times: readonly string[]) {
  const read: (string | null)[] = []
  const searcher = createSearcher({} as never, {} as never, { now: () => NOW })
  const hits = await searcher.latest({ from }, to, 2, async (filter) => {
    read.push(filter.from)
    return times.filter((at) => filter.from === null || at >= filter.from).slice(0, 2)
  })
  return { hits, read }
}

test('a search with the beginning of too many words is too large, and other failures stay what they are', async () => {
  const refused = (reason: string) => {
    const cause = { type: 'illegal_argument_exception', reason }
    const body = { type: 'search_phase_execution_exception', reason: 'Partial shards failure', root_cause: [cause] }
    const send = () => Promise.reject(new ElasticsearchError('_search answered 400', 400, body))
    const connection = { send, close: async () => undefined }
    return createSearcher(connection, indexNames('sluice'), { now: () => NOW }).entries('a', ['event'], {})
  }
  await expect(refused('Query rewrite failed: too many clauses')).rejects.toThrow(ReadTooLargeError)
  await expect(refused('out of bounds')).rejects.toThrow(ElasticsearchError)
})

test('an answer that is none of a search is a failure, and not one without matches', async () => {
  const answers = (answer: object) => {
    const connection = { send: async <Answer>() => answer as Answer, close: async () => undefined }
    return createSearcher(connection, indexNames('sluice'), { now: () => NOW }).entries('a', ['event'], {})
  }
  await expect(answers({ timed_out: false })).resolves.toEqual({ timed_out: false })
  await expect(answers({})).rejects.toThrow('a search answered something else')
})

test.each<[string, readonly string[], readonly (string | null)[]]>([
  ['the last minute', ['2026-03-01T12:07:00.000Z', A_MINUTE_BEFORE, LONGER], [A_MINUTE_BEFORE]],
  [
    'the last hour',
    ['2026-03-01T11:59:30.000Z', AN_HOUR_BEFORE, '2026-03-01T10:00:00.000Z'],
    [A_MINUTE_BEFORE, AN_HOUR_BEFORE],
  ],
  ['all time', ['2026-03-01T11:59:30.000Z', '2026-03-01T10:59:00.000Z'], [A_MINUTE_BEFORE, AN_HOUR_BEFORE, null]],
])('hits are searched in %s where it has enough', async (_span, times, read) => {
  expect(await latest(ALL_TIME, ...times)).toEqual({ hits: times.slice(0, 2), read })
})

test.each<[string, Range, readonly (string | null)[]]>([
  [
    'ends earlier',
    { from: null, to: '2026-03-01T08:00:00.5Z' },
    ['2026-03-01T07:59:00.500Z', '2026-03-01T07:00:00.500Z', null],
  ],
  ['ends in the future', { from: null, to: '2027-01-01T00:00:00.000Z' }, [A_MINUTE_BEFORE, AN_HOUR_BEFORE, null]],
  [
    'ends in the first minute of 1970',
    { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:30.000Z' },
    ['1970-01-01T00:00:00.000Z'],
  ],
  ['is longer than a minute', { from: LONGER, to: null }, [A_MINUTE_BEFORE, LONGER]],
  ['is not longer than a minute', { from: A_MINUTE_BEFORE, to: null }, [A_MINUTE_BEFORE]],
])('where the range %s', async (_range, range, read) => {
  expect(await latest(range)).toEqual({ hits: [], read })
})
