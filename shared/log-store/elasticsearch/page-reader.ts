import { type EntryRow, parseRecord } from '../../contract/rows.ts'
import { createCooperative, mapInSteps } from '../../runtime/cooperative.ts'
import { type EntryFilter, type LogStoreReader, PAGE_BYTES_MAX, type PageRequest } from '../log-store.ts'
import { type Connection, ElasticsearchError, lookUp } from './connection.ts'
import type { IndexNames } from './index-names.ts'
import { compileFilter } from './query-dsl.ts'
import { ANSWER_BYTES_MAX, askForFewer, retried } from './retrying.ts'
import { type EntrySource, entrySort, type Hit, ROW, rowOfText, type Searcher, textOf } from './searcher.ts'

/** Maximum hits of one request: this many of the longest rows are some MiB. */
const HITS_MAX = 250

/** Maximum long entries of one request; each can be a megabyte. */
const WHOLES_MAX = 4

type Hits = readonly Hit<EntrySource>[]

/**
 * Reads pages of entries. Pages continue by key: entries never change, and (timestamp, id) is unique, so a page needs no snapshot of the
 * index (a "point in time") to neither skip nor repeat entries that were there. However long the entries are, each answer of the server is
 * bounded: rows are short, and whole long entries are requested a few at a time. `connection` does not retry, as these requests are repeated
 * here.
 */
export function createPageReader(
  connection: Connection,
  searcher: Searcher,
  names: IndexNames,
): LogStoreReader['search'] {
  // A page of few entries can take as long to parse as one of many: each may be a megabyte.
  const cooperative = createCooperative()
  return async (filter, { limit, order, after, form = 'whole' }, signal) => {
    const entries: EntryRow[] = []
    let bytes = 0
    let place = after
    for (;;) {
      const wanted = Math.min(limit + 1 - entries.length, HITS_MAX)
      const { hits, asked } = await readHits(searcher, filter, { limit: wanted, order, after: place }, signal)
      const texts: string[] = []
      let isFull = false
      for await (const text of form === 'row' ? hits.map(textOf) : wholesOf(connection, names, hits, signal)) {
        const count = entries.length + texts.length
        bytes += text.length
        isFull = count === limit || (count > 0 && bytes > PAGE_BYTES_MAX)
        if (isFull) break
        texts.push(text)
      }
      const parse = form === 'row' ? rowOfText : parseRecord
      entries.push(...(await cooperative.run(filter.team, mapInSteps(texts, parse))))
      const last = entries.at(-1)
      if (last !== undefined) place = { timestamp: last.timestamp, id: last.id }
      if (isFull) return { entries, next: place }
      if (hits.length < asked) return { entries, next: null }
    }
  }
}

/** The next hits, and how many were requested. */
async function readHits(
  searcher: Searcher,
  filter: EntryFilter,
  { limit, order, after }: PageRequest,
  signal: AbortSignal | undefined,
): Promise<{ readonly hits: Hits; readonly asked: number }> {
  const read = async (within: EntryFilter, asked: number): Promise<Hits> => {
    const body = {
      query: compileFilter(within),
      sort: entrySort(order),
      size: asked,
      _source: ROW,
      ...(after !== null && { search_after: [after.timestamp, after.id] }),
    }
    const bound = asked === 1 ? {} : { answerBytesMax: ANSWER_BYTES_MAX }
    const answer = await searcher.entries(filter.team, filter.kinds, body, { signal, ...bound })
    return answer.hits?.hits ?? []
  }
  const end = after?.timestamp ?? filter.to
  // Entries that were stored before rows existed may be too long together.
  return askForFewer(limit, async (asked) => {
    const hits =
      order === 'asc' ? read(filter, asked) : searcher.latest(filter, end, asked, (within) => read(within, asked))
    return { hits: await hits, asked }
  })
}

async function* wholesOf(
  connection: Connection,
  names: IndexNames,
  hits: Hits,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const long = hits.filter(({ _source: { row } }) => row !== undefined)
  let read: readonly string[] = []
  let count = 0
  for (const hit of hits) {
    if (hit._source.row === undefined) {
      yield textOf(hit)
      continue
    }
    const at = count % WHOLES_MAX
    if (at === 0) read = await readWholes(connection, names, long.slice(count, count + WHOLES_MAX), signal)
    count += 1
    yield read[at] ?? textOf(hit)
  }
}

/** An entry that a shard cannot give at the moment is asked for again, as a search is; by its name, as a rebuild may have replaced its index. */
const readWholes = (
  connection: Connection,
  names: IndexNames,
  hits: Hits,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> =>
  retried(async () => {
    const lookups = hits.map(({ _index, _id }) => ({ _index: names.nameOf(_index) ?? _index, _id }))
    const query = { _source_includes: 'whole' }
    const docs = await lookUp<{ readonly _source?: EntrySource }>(connection, 'the lookup of entries', lookups, {
      query,
      signal,
    })
    return docs.map((doc) => {
      const whole = doc.found === true ? doc._source?.whole : undefined
      // Its day was removed in the meantime, or lacks its shard.
      if (whole === undefined) throw new ElasticsearchError('an entry cannot be read any more', 503, doc.error ?? {})
      return whole
    })
  }, signal)
